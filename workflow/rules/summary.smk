"""Tidy tables: each figure and each claim reads these and nothing else.

REQUIRED INPUTS  results/evaluate
OUTPUTS          results/summary/{figure}.csv for each figure
"""


rule summarise_operator_limit:
    input:
        tables=evaluated("operator_limit", "csv"),
    output:
        table="results/summary/operator_limit.csv",
    log:
        "logs/summarise_operator_limit.log",
    benchmark:
        "results/benchmarks/summarise_operator_limit.tsv"
    params:
        settings=settings(),
        code=code("stages.summarise_operator_limit"),
    shell:
        "python -m largeprompt summarise_operator_limit --settings {params.settings:q} "
        "--in tables {input.tables:q} --out table {output.table:q} --log {log:q}"


rule summarise_output_error:
    input:
        errors="results/evaluate/bound/errors.csv",
        exact="results/evaluate/exact_error.csv",
    output:
        table="results/summary/output_error.csv",
    log:
        "logs/summarise_output_error.log",
    benchmark:
        "results/benchmarks/summarise_output_error.tsv"
    params:
        settings=settings("output_error.c2", "output_error.calibrate_to"),
        code=code("stages.summarise_output_error"),
    shell:
        "python -m largeprompt summarise_output_error --settings {params.settings:q} "
        "--in errors {input.errors:q} --in exact {input.exact:q} --out table {output.table:q} --log {log:q}"


rule summarise_effective_operator:
    output:
        table="results/summary/effective_operator.csv",
    log:
        "logs/summarise_effective_operator.log",
    benchmark:
        "results/benchmarks/summarise_effective_operator.tsv"
    params:
        settings=settings(
            "effective_operator.lengths",
            "effective_operator.largest_scale",
            "effective_operator.points",
        ),
        code=code("stages.summarise_effective_operator"),
    shell:
        "python -m largeprompt summarise_effective_operator --settings {params.settings:q} "
        "--out table {output.table:q} --log {log:q}"
