"""Numbers behind the claims: errors of the operators, the bound, losses of trained models.

REQUIRED INPUTS  results/data/tokens, results/data/prompts, results/train
OUTPUTS          results/evaluate/operator_limit/law={law}/covariance={covariance}/seed={seed}.csv
                 results/evaluate/output_error/law={law}/covariance={covariance}/seed={seed}.npz
                 results/evaluate/bound/errors.csv, results/evaluate/bound/envelope.csv
                 results/evaluate/exact_error.csv
                 results/evaluate/test_loss/variant={variant}/covariance={covariance}.csv
                 results/evaluate/ridge/variant={variant}/covariance={covariance}.csv
                 results/evaluate/optimum/variant={variant}/covariance={covariance}.csv
"""

TEST_PROMPTS = (
    "results/data/prompts/variant={variant}/covariance={covariance}/seed=%d.npz"
    % config["regression"]["test_seed"]
)


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


rule evaluate_test_loss:
    input:
        prompts=TEST_PROMPTS,
        finite=lambda wildcards: trained(
            f"results/train/finite/{FINITE}.npz",
            variant=wildcards.variant,
            covariance=wildcards.covariance,
        ),
        infinite=lambda wildcards: trained(
            f"results/train/infinite/method={{method}}/{INFINITE}.npz",
            method=["sgd", "flow"],
            start=config["infinite"]["starts"],
            variant=wildcards.variant,
            covariance=wildcards.covariance,
        ),
    output:
        table="results/evaluate/test_loss/variant={variant}/covariance={covariance}.csv",
    log:
        "logs/evaluate_test_loss/variant={variant}/covariance={covariance}.log",
    benchmark:
        "results/benchmarks/evaluate_test_loss/variant={variant}/covariance={covariance}.tsv"
    params:
        settings=lambda wildcards: settings(
            *REGRESSION_KEYS, covariance=covariance_of(wildcards)
        ),
        code=code("stages.evaluate_test_loss"),
    shell:
        "python -m largeprompt evaluate_test_loss --settings {params.settings:q} "
        "--set variant={wildcards.variant} covariance={wildcards.covariance} "
        "--in prompts {input.prompts:q} "
        "--in finite {input.finite:q} --in infinite {input.infinite:q} "
        "--out table {output.table:q} --log {log:q}"


rule evaluate_ridge:
    input:
        prompts=TEST_PROMPTS,
    output:
        table="results/evaluate/ridge/variant={variant}/covariance={covariance}.csv",
    log:
        "logs/evaluate_ridge/variant={variant}/covariance={covariance}.log",
    benchmark:
        "results/benchmarks/evaluate_ridge/variant={variant}/covariance={covariance}.tsv"
    params:
        settings=lambda wildcards: settings(
            *REGRESSION_KEYS, "sgd.lengths", covariance=covariance_of(wildcards)
        ),
        code=code("stages.evaluate_ridge"),
    shell:
        "python -m largeprompt evaluate_ridge --settings {params.settings:q} "
        "--set variant={wildcards.variant} covariance={wildcards.covariance} "
        "--in prompts {input.prompts:q} "
        "--out table {output.table:q} --log {log:q}"


rule evaluate_optimum:
    output:
        table="results/evaluate/optimum/variant={variant}/covariance={covariance}.csv",
    log:
        "logs/evaluate_optimum/variant={variant}/covariance={covariance}.log",
    benchmark:
        "results/benchmarks/evaluate_optimum/variant={variant}/covariance={covariance}.tsv"
    params:
        settings=lambda wildcards: settings(
            *REGRESSION_KEYS, "flow.lengths", covariance=covariance_of(wildcards)
        ),
        code=code("stages.evaluate_optimum"),
    shell:
        "python -m largeprompt evaluate_optimum --settings {params.settings:q} "
        "--set variant={wildcards.variant} covariance={wildcards.covariance} "
        "--out table {output.table:q} --log {log:q}"
