"""Lemma 2.1 and Assumption 3.3 by independent routes; laws outside the assumptions.

REQUIRED INPUTS  results/summary/operator_limit.csv (for the controls)
OUTPUTS          results/summary/tilting_identity.csv, results/summary/gaussian_image.csv
                 results/summary/tilted_moments.csv
                 results/summary/spread.csv
                 results/summary/controls.csv
"""


rule evaluate_tilting:
    output:
        identity="results/summary/tilting_identity.csv",
        image="results/summary/gaussian_image.csv",
    log:
        "logs/evaluate_tilting.log",
    benchmark:
        "results/benchmarks/evaluate_tilting.tsv"
    params:
        settings=settings(*(f"tilting.{key}" for key in config["tilting"])),
        code=code("stages.evaluate_tilting"),
    shell:
        "python -m largeprompt evaluate_tilting --settings {params.settings:q} "
        "--out identity {output.identity:q} --out image {output.image:q} --log {log:q}"


rule evaluate_tilted_moments:
    output:
        table="results/summary/tilted_moments.csv",
    log:
        "logs/evaluate_tilted_moments.log",
    benchmark:
        "results/benchmarks/evaluate_tilted_moments.tsv"
    params:
        settings=settings(
            *(f"tilted_moments.{key}" for key in config["tilted_moments"])
        ),
        code=code("stages.evaluate_tilted_moments"),
    shell:
        "python -m largeprompt evaluate_tilted_moments --settings {params.settings:q} "
        "--out table {output.table:q} --log {log:q}"


rule evaluate_spread:
    output:
        table="results/summary/spread.csv",
    log:
        "logs/evaluate_spread.log",
    benchmark:
        "results/benchmarks/evaluate_spread.tsv"
    params:
        settings=settings(*(f"spread.{key}" for key in config["spread"])),
        code=code("stages.evaluate_spread"),
    shell:
        "python -m largeprompt evaluate_spread --settings {params.settings:q} "
        "--out table {output.table:q} --log {log:q}"


rule summarise_controls:
    input:
        limits="results/summary/operator_limit.csv",
        spread="results/summary/spread.csv",
    output:
        table="results/summary/controls.csv",
    log:
        "logs/summarise_controls.log",
    benchmark:
        "results/benchmarks/summarise_controls.tsv"
    params:
        settings=settings(),
        code=code("stages.summarise_controls"),
    shell:
        "python -m largeprompt summarise_controls --settings {params.settings:q} "
        "--in limits {input.limits:q} --in spread {input.spread:q} "
        "--out table {output.table:q} --log {log:q}"
