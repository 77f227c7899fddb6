"""Section 6: tables, figures and claims of each grid; `snakemake paper`, `snakemake paper_all`.

REQUIRED INPUTS  results/evaluate/{grid}, results/evaluate/sgd_minus_flow
OUTPUTS          results/summary/{grid}/{table}.csv for the tables of TABLES, stated_vs_coded
                 results/summary/trained_lengths.csv
                 results/summary/overview.csv
"""

# What the cases of each table are made of.
TABLES = {
    "training_curves": ["training_curves"],
    "loss_vs_length": ["test_loss", "flow_risk", "ridge", "optimum"],
    "limits": ["limits"],
    "weights": ["weights"],
    "path_distance": ["path_distance"],
    "length_generalisation": ["length_generalisation"],
}


rule summarise_cases:
    input:
        tables=grid_tables,
    output:
        table="results/summary/{grid}/{table}.csv",
    log:
        "logs/summarise_cases/{grid}/{table}.log",
    benchmark:
        "results/benchmarks/summarise_cases/{grid}/{table}.tsv"
    wildcard_constraints:
        table="|".join([*TABLES, "sgd_on_flow"]),
    params:
        settings=settings(),
        code=code("stages.summarise_cases"),
    shell:
        "python -m largeprompt summarise_cases --settings {params.settings:q} "
        "--in tables {input.tables:q} --out table {output.table:q} --log {log:q}"


rule summarise_stated_vs_coded:
    input:
        losses="results/summary/{grid}/loss_vs_length.csv",
    output:
        table="results/summary/{grid}/stated_vs_coded.csv",
    log:
        "logs/summarise_stated_vs_coded/{grid}.log",
    benchmark:
        "results/benchmarks/summarise_stated_vs_coded/{grid}.tsv"
    params:
        settings=settings("regression.noise_variance"),
        code=code("stages.summarise_stated_vs_coded"),
    shell:
        "python -m largeprompt summarise_stated_vs_coded --settings {params.settings:q} "
        "--in losses {input.losses:q} --out table {output.table:q} --log {log:q}"


rule summarise_trained_lengths:
    output:
        table="results/summary/trained_lengths.csv",
    log:
        "logs/summarise_trained_lengths.log",
    benchmark:
        "results/benchmarks/summarise_trained_lengths.tsv"
    params:
        settings=settings(
            "regression.noise_variance",
            "trained_lengths.dimensions",
            "trained_lengths.tolerances",
            "trained_lengths.longest",
            covariances={
                name: config["covariances"][name]
                for name in config["trained_lengths"]["covariances"]
            },
        ),
        code=code("stages.summarise_trained_lengths"),
    shell:
        "python -m largeprompt summarise_trained_lengths --settings {params.settings:q} "
        "--out table {output.table:q} --log {log:q}"


rule summarise_overview:
    input:
        limit="results/summary/operator_limit.csv",
        error="results/summary/output_error.csv",
        path="results/summary/trajectory.csv",
        loss="results/summary/default/loss_vs_length.csv",
    output:
        table="results/summary/overview.csv",
    log:
        "logs/summarise_overview.log",
    benchmark:
        "results/benchmarks/summarise_overview.tsv"
    params:
        settings=settings(),
        code=code("stages.summarise_overview"),
    shell:
        "python -m largeprompt summarise_overview --settings {params.settings:q} "
        "--in limit {input.limit:q} --in error {input.error:q} --in path {input.path:q} "
        "--in loss {input.loss:q} --out table {output.table:q} --log {log:q}"


rule paper:
    input:
        grid_target("paper"),


rule paper_all:
    input:
        grid_target("paper_all"),
