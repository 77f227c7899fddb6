"""Props 3.1 and 3.4 without simulation: constants, exponents, gradients.

REQUIRED INPUTS  results/evaluate/exact_error.csv (for the gradients)
OUTPUTS          results/summary/bound_constants.csv
                 results/summary/rate_exponent.csv
                 results/summary/gradient_error.csv
"""


rule summarise_bound_constants:
    output:
        table="results/summary/bound_constants.csv",
    log:
        "logs/summarise_bound_constants.log",
    benchmark:
        "results/benchmarks/summarise_bound_constants.tsv"
    params:
        settings=settings(
            *(f"bound_constants.{key}" for key in config["bound_constants"])
        ),
        code=code("stages.summarise_bound_constants"),
    shell:
        "python -m largeprompt summarise_bound_constants --settings {params.settings:q} "
        "--out table {output.table:q} --log {log:q}"


rule summarise_rate_exponent:
    output:
        table="results/summary/rate_exponent.csv",
    log:
        "logs/summarise_rate_exponent.log",
    benchmark:
        "results/benchmarks/summarise_rate_exponent.tsv"
    params:
        settings=settings(*(f"rate_exponent.{key}" for key in config["rate_exponent"])),
        code=code("stages.summarise_rate_exponent"),
    shell:
        "python -m largeprompt summarise_rate_exponent --settings {params.settings:q} "
        "--out table {output.table:q} --log {log:q}"


rule summarise_gradient_error:
    input:
        exact="results/evaluate/exact_error.csv",
    output:
        table="results/summary/gradient_error.csv",
    log:
        "logs/summarise_gradient_error.log",
    benchmark:
        "results/benchmarks/summarise_gradient_error.tsv"
    params:
        settings=settings("output_error.c2", "output_error.calibrate_to"),
        code=code("stages.summarise_gradient_error"),
    shell:
        "python -m largeprompt summarise_gradient_error --settings {params.settings:q} "
        "--in exact {input.exact:q} --out table {output.table:q} --log {log:q}"
