"""Popular claims about prompt length: exact deviations, tokens needed, tokens that bounds ask for.

REQUIRED INPUTS  results/evaluate/exact_error.csv
OUTPUTS          results/summary/prompt_length_map.csv
                 results/summary/prompt_length_constants.csv
                 results/summary/bound_tokens.csv
"""


rule summarise_prompt_length_map:
    output:
        table="results/summary/prompt_length_map.csv",
    log:
        "logs/summarise_prompt_length_map.log",
    benchmark:
        "results/benchmarks/summarise_prompt_length_map.tsv"
    params:
        settings=settings(
            *REGRESSION_KEYS,
            "prompt_length.tilts",
            "prompt_length.longest",
            "prompt_length.points",
            "prompt_length.tolerances",
            "prompt_length.dimensions",
            "prompt_length.score_variances",
            "prompt_length.few_hundred",
        ),
        code=code("stages.summarise_prompt_length_map"),
    shell:
        "python -m largeprompt summarise_prompt_length_map --settings {params.settings:q} "
        "--out table {output.table:q} --log {log:q}"


rule summarise_prompt_length_constants:
    output:
        table="results/summary/prompt_length_constants.csv",
    log:
        "logs/summarise_prompt_length_constants.log",
    benchmark:
        "results/benchmarks/summarise_prompt_length_constants.tsv"
    params:
        settings=settings(
            "prompt_length.constant_dimensions",
            "prompt_length.constant_tilt",
            "prompt_length.rank",
        ),
        code=code("stages.summarise_prompt_length_constants"),
    shell:
        "python -m largeprompt summarise_prompt_length_constants --settings {params.settings:q} "
        "--out table {output.table:q} --log {log:q}"


rule summarise_bound_tokens:
    input:
        exact="results/evaluate/exact_error.csv",
    output:
        table="results/summary/bound_tokens.csv",
    log:
        "logs/summarise_bound_tokens.log",
    benchmark:
        "results/benchmarks/summarise_bound_tokens.tsv"
    params:
        settings=settings(
            "tokens.dimension",
            "output_error.score_scale",
            "output_error.sigmas",
            "output_error.calibrate_to",
            "prompt_length.tolerances",
            covariance=config["covariances"][config["output_error"]["covariance"]],
        ),
        code=code("stages.summarise_bound_tokens"),
    shell:
        "python -m largeprompt summarise_bound_tokens --settings {params.settings:q} "
        "--in exact {input.exact:q} --out table {output.table:q} --log {log:q}"
