"""Numbers behind the claims on token prompts: errors of the operators, the bound.

REQUIRED INPUTS  results/data/tokens
OUTPUTS          results/evaluate/operator_limit/law={law}/covariance={covariance}/seed={seed}.csv
                 results/evaluate/output_error/law={law}/covariance={covariance}/seed={seed}.npz
                 results/evaluate/bound/errors.csv, results/evaluate/bound/envelope.csv
                 results/evaluate/exact_error.csv
"""


rule evaluate_operator_limit:
    input:
        tokens="results/data/tokens/law={law}/covariance={covariance}/seed={seed}.npz",
    output:
        table="results/evaluate/operator_limit/law={law}/covariance={covariance}/seed={seed}.csv",
    log:
        "logs/evaluate_operator_limit/law={law}/covariance={covariance}/seed={seed}.log",
    benchmark:
        "results/benchmarks/evaluate_operator_limit/law={law}/covariance={covariance}/seed={seed}.tsv"
    params:
        settings=lambda wildcards: settings(
            "operator_limit.score_scale",
            "operator_limit.lengths",
            covariance=covariance_of(wildcards),
        ),
        code=code("stages.evaluate_operator_limit"),
    shell:
        "python -m largeprompt evaluate_operator_limit --settings {params.settings:q} "
        "--set law={wildcards.law} --in tokens {input.tokens:q} --out table {output.table:q} "
        "--log {log:q}"


rule evaluate_output_error:
    input:
        tokens="results/data/tokens/law={law}/covariance={covariance}/seed={seed}.npz",
    output:
        errors="results/evaluate/output_error/law={law}/covariance={covariance}/seed={seed}.npz",
    log:
        "logs/evaluate_output_error/law={law}/covariance={covariance}/seed={seed}.log",
    benchmark:
        "results/benchmarks/evaluate_output_error/law={law}/covariance={covariance}/seed={seed}.tsv"
    params:
        settings=lambda wildcards: settings(
            "output_error.score_scale",
            "output_error.sigmas",
            "output_error.lengths",
            covariance=covariance_of(wildcards),
        ),
        code=code("stages.evaluate_output_error"),
    shell:
        "python -m largeprompt evaluate_output_error --settings {params.settings:q} "
        "--set law={wildcards.law} covariance={wildcards.covariance} seed={wildcards.seed} "
        "--in tokens {input.tokens:q} --out errors {output.errors:q} --log {log:q}"


rule evaluate_bound:
    input:
        errors=evaluated("output_error", "npz"),
    output:
        errors="results/evaluate/bound/errors.csv",
        envelope="results/evaluate/bound/envelope.csv",
    log:
        "logs/evaluate_bound.log",
    benchmark:
        "results/benchmarks/evaluate_bound.tsv"
    params:
        settings=settings("output_error.fit_from", "output_error.c2_grid"),
        code=code("stages.evaluate_bound"),
    shell:
        "python -m largeprompt evaluate_bound --settings {params.settings:q} "
        "--in errors {input.errors:q} --out errors {output.errors:q} "
        "--out envelope {output.envelope:q} --log {log:q}"


rule evaluate_exact_error:
    output:
        table="results/evaluate/exact_error.csv",
    log:
        "logs/evaluate_exact_error.log",
    benchmark:
        "results/benchmarks/evaluate_exact_error.tsv"
    params:
        settings=settings(
            "tokens.dimension",
            "output_error.score_scale",
            "output_error.sigmas",
            "exact_error.longest",
            "exact_error.points",
            covariance=config["covariances"][config["output_error"]["covariance"]],
        ),
        code=code("stages.evaluate_exact_error"),
    shell:
        "python -m largeprompt evaluate_exact_error --settings {params.settings:q} "
        "--out table {output.table:q} --log {log:q}"
