"""Lemma D.1, Theorem 4.3: training at finite prompts beside training at the infinite one.

REQUIRED INPUTS  none
OUTPUTS          results/summary/trajectory.csv
                 results/summary/transfer.csv
"""


rule summarise_trajectory:
    output:
        table="results/summary/trajectory.csv",
    log:
        "logs/summarise_trajectory.log",
    benchmark:
        "results/benchmarks/summarise_trajectory.tsv"
    params:
        settings=settings(
            "stability.dimension",
            "stability.noise_variance",
            "stability.alpha",
            "stability.seed",
            "stability.lengths",
            "stability.horizon",
            "stability.times",
            "stability.ball_points",
            covariance=config["covariances"][config["stability"]["covariance"]],
        ),
        code=code("stages.summarise_trajectory"),
    shell:
        "python -m largeprompt summarise_trajectory --settings {params.settings:q} "
        "--out table {output.table:q} --log {log:q}"


rule summarise_transfer:
    output:
        table="results/summary/transfer.csv",
    log:
        "logs/summarise_transfer.log",
    benchmark:
        "results/benchmarks/summarise_transfer.tsv"
    params:
        settings=settings(
            "transfer.cases",
            "transfer.lengths",
            "transfer.eps",
            "transfer.seed",
            covariances={
                case["covariance"]: config["covariances"][case["covariance"]]
                for case in config["transfer"]["cases"]
            },
        ),
        code=code("stages.summarise_transfer"),
    shell:
        "python -m largeprompt summarise_transfer --settings {params.settings:q} "
        "--out table {output.table:q} --log {log:q}"
