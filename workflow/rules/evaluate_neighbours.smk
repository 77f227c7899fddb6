"""Results of related papers, as cross-checks of the same code.

REQUIRED INPUTS  none
OUTPUTS          results/summary/neighbours.csv
                 results/evaluate/operator_neighbours.csv
                 results/evaluate/closed_form.csv
                 results/evaluate/scale_exponents.csv
"""


rule evaluate_operator_neighbours:
    output:
        table="results/evaluate/operator_neighbours.csv",
    log:
        "logs/evaluate_operator_neighbours.log",
    benchmark:
        "results/benchmarks/evaluate_operator_neighbours.tsv"
    params:
        settings=settings(
            "tokens.dimension",
            "tokens.prompts",
            "tokens.queries",
            "operator_limit.lengths",
            "operator_limit.score_scale",
            "neighbours.correlations",
            "neighbours.mixture_mean",
            "neighbours.seed",
            covariance=config["covariances"][config["operator_limit"]["covariance"]],
        ),
        code=code("stages.evaluate_operator_neighbours"),
    shell:
        "python -m largeprompt evaluate_operator_neighbours --settings {params.settings:q} "
        "--out table {output.table:q} --log {log:q}"


rule evaluate_closed_form:
    output:
        table="results/evaluate/closed_form.csv",
    log:
        "logs/evaluate_closed_form.log",
    benchmark:
        "results/benchmarks/evaluate_closed_form.tsv"
    params:
        settings=settings(
            *REGRESSION_KEYS,
            "neighbours.flow_lengths",
            "neighbours.alphas",
            covariances=config["covariances"],
        ),
        code=code("stages.evaluate_closed_form"),
    shell:
        "python -m largeprompt evaluate_closed_form --settings {params.settings:q} "
        "--out table {output.table:q} --log {log:q}"


rule evaluate_scale_exponents:
    output:
        table="results/evaluate/scale_exponents.csv",
    log:
        "logs/evaluate_scale_exponents.log",
    benchmark:
        "results/benchmarks/evaluate_scale_exponents.tsv"
    params:
        settings=settings(
            "neighbours.embedding_dimension",
            "neighbours.token_variance",
            "neighbours.scales",
            "neighbours.reachable",
        ),
        code=code("stages.evaluate_scale_exponents"),
    shell:
        "python -m largeprompt evaluate_scale_exponents --settings {params.settings:q} "
        "--out table {output.table:q} --log {log:q}"


rule summarise_neighbours:
    input:
        operators="results/evaluate/operator_neighbours.csv",
        exponents="results/evaluate/scale_exponents.csv",
    output:
        table="results/summary/neighbours.csv",
    log:
        "logs/summarise_neighbours.log",
    benchmark:
        "results/benchmarks/summarise_neighbours.tsv"
    params:
        settings=settings(),
        code=code("stages.summarise_neighbours"),
    shell:
        "python -m largeprompt summarise_neighbours --settings {params.settings:q} "
        "--in operators {input.operators:q} --in exponents {input.exponents:q} "
        "--out table {output.table:q} --log {log:q}"
