"""Theorem 5.1: where the infinite-prompt flow ends and what finite prompts cost there.

REQUIRED INPUTS  none
OUTPUTS          results/summary/endpoint_flows.csv
                 results/summary/endpoint_excess.csv
                 results/summary/bayes_convergence.csv
"""


rule evaluate_endpoint_flows:
    output:
        table="results/summary/endpoint_flows.csv",
    log:
        "logs/evaluate_endpoint_flows.log",
    benchmark:
        "results/benchmarks/evaluate_endpoint_flows.tsv"
    params:
        settings=settings("endpoints.grids", "endpoints.seed"),
        code=code("stages.evaluate_endpoint_flows"),
    shell:
        "python -m largeprompt evaluate_endpoint_flows --settings {params.settings:q} "
        "--out table {output.table:q} --log {log:q}"


rule evaluate_endpoint_excess:
    output:
        table="results/summary/endpoint_excess.csv",
    log:
        "logs/evaluate_endpoint_excess.log",
    benchmark:
        "results/benchmarks/evaluate_endpoint_excess.tsv"
    params:
        settings=settings(
            "excess.dimensions",
            "excess.noise_variance",
            "excess.longest",
            "excess.points",
            "excess.far",
            "excess.other_laws",
        ),
        code=code("stages.evaluate_endpoint_excess"),
    shell:
        "python -m largeprompt evaluate_endpoint_excess --settings {params.settings:q} "
        "--out table {output.table:q} --log {log:q}"


rule summarise_bayes_convergence:
    input:
        excess="results/summary/endpoint_excess.csv",
        flows="results/summary/endpoint_flows.csv",
    output:
        table="results/summary/bayes_convergence.csv",
    log:
        "logs/summarise_bayes_convergence.log",
    benchmark:
        "results/benchmarks/summarise_bayes_convergence.tsv"
    params:
        settings=settings("endpoints.reached"),
        code=code("stages.summarise_bayes_convergence"),
    shell:
        "python -m largeprompt summarise_bayes_convergence --settings {params.settings:q} "
        "--in excess {input.excess:q} --in flows {input.flows:q} "
        "--out table {output.table:q} --log {log:q}"
