"""Every model of a grid judged, one table a case (variant and covariance of the data).

REQUIRED INPUTS  results/data/prompts, results/train
OUTPUTS          results/evaluate/{grid}/QUANTITY/variant={variant}/covariance={covariance}.csv
                 with QUANTITY one of test_loss, ridge, optimum, flow_risk, limits,
                 training_curves, weights, path_distance, length_generalisation
                 results/evaluate/sgd_minus_flow/attention={attention}/CELL/L={L}/seed={seed}.csv
"""

TEST_PROMPTS = (
    "results/data/prompts/variant={variant}/covariance={covariance}/seed=%d.npz"
    % config["regression"]["test_seed"]
)


rule evaluate_test_loss:
    input:
        prompts=TEST_PROMPTS,
        finite=case_sgd,
        infinite=case_sgd_infinite,
    output:
        table="results/evaluate/{grid}/test_loss/variant={variant}/covariance={covariance}.csv",
    log:
        "logs/evaluate_test_loss/{grid}/variant={variant}/covariance={covariance}.log",
    benchmark:
        "results/benchmarks/evaluate_test_loss/{grid}/variant={variant}/covariance={covariance}.tsv"
    params:
        settings=lambda wildcards: settings(
            *REGRESSION_KEYS, covariance=covariance_of(wildcards)
        ),
        code=code("stages.evaluate_test_loss"),
    shell:
        "python -m largeprompt evaluate_test_loss --settings {params.settings:q} "
        "--set variant={wildcards.variant} covariance={wildcards.covariance} "
        "--in prompts {input.prompts:q} "
        "--in finite {input.finite:q} "
        "--in infinite {input.infinite:q} "
        "--out table {output.table:q} --log {log:q}"


rule evaluate_ridge:
    input:
        prompts=TEST_PROMPTS,
    output:
        table="results/evaluate/{grid}/ridge/variant={variant}/covariance={covariance}.csv",
    log:
        "logs/evaluate_ridge/{grid}/variant={variant}/covariance={covariance}.log",
    benchmark:
        "results/benchmarks/evaluate_ridge/{grid}/variant={variant}/covariance={covariance}.tsv"
    params:
        settings=case_lengths(config["regression"]["max_length"]),
        code=code("stages.evaluate_ridge"),
    shell:
        "python -m largeprompt evaluate_ridge --settings {params.settings:q} "
        "--set variant={wildcards.variant} covariance={wildcards.covariance} "
        "--in prompts {input.prompts:q} "
        "--out table {output.table:q} --log {log:q}"


rule evaluate_optimum:
    output:
        table="results/evaluate/{grid}/optimum/variant={variant}/covariance={covariance}.csv",
    log:
        "logs/evaluate_optimum/{grid}/variant={variant}/covariance={covariance}.log",
    benchmark:
        "results/benchmarks/evaluate_optimum/{grid}/variant={variant}/covariance={covariance}.tsv"
    params:
        settings=case_lengths(),
        code=code("stages.evaluate_optimum"),
    shell:
        "python -m largeprompt evaluate_optimum --settings {params.settings:q} "
        "--set variant={wildcards.variant} covariance={wildcards.covariance} "
        "--out table {output.table:q} --log {log:q}"


rule evaluate_flow_risk:
    input:
        finite=case_flows,
        infinite=case_flows_infinite,
    output:
        table="results/evaluate/{grid}/flow_risk/variant={variant}/covariance={covariance}.csv",
    log:
        "logs/evaluate_flow_risk/{grid}/variant={variant}/covariance={covariance}.log",
    benchmark:
        "results/benchmarks/evaluate_flow_risk/{grid}/variant={variant}/covariance={covariance}.tsv"
    params:
        settings=settings(horizon=HORIZON),
        code=code("stages.evaluate_flow_risk"),
    shell:
        "python -m largeprompt evaluate_flow_risk --settings {params.settings:q} "
        "--in flows {input.finite:q} {input.infinite:q} "
        "--out table {output.table:q} --log {log:q}"


rule evaluate_limits:
    input:
        limits=case_limits,
        optimum="results/evaluate/{grid}/optimum/variant={variant}/covariance={covariance}.csv",
    output:
        table="results/evaluate/{grid}/limits/variant={variant}/covariance={covariance}.csv",
    log:
        "logs/evaluate_limits/{grid}/variant={variant}/covariance={covariance}.log",
    benchmark:
        "results/benchmarks/evaluate_limits/{grid}/variant={variant}/covariance={covariance}.tsv"
    params:
        settings=settings("regression.noise_variance"),
        code=code("stages.evaluate_limits"),
    shell:
        "python -m largeprompt evaluate_limits --settings {params.settings:q} "
        "--in limits {input.limits:q} "
        "--in optimum {input.optimum:q} "
        "--out table {output.table:q} --log {log:q}"


rule evaluate_training_curves:
    input:
        trainings=case_trainings,
    output:
        table="results/evaluate/{grid}/training_curves/variant={variant}/covariance={covariance}.csv",
    log:
        "logs/evaluate_training_curves/{grid}/variant={variant}/covariance={covariance}.log",
    benchmark:
        "results/benchmarks/evaluate_training_curves/{grid}/variant={variant}/covariance={covariance}.tsv"
    params:
        settings=settings(),
        code=code("stages.evaluate_training_curves"),
    shell:
        "python -m largeprompt evaluate_training_curves --settings {params.settings:q} "
        "--in trainings {input.trainings:q} "
        "--out table {output.table:q} --log {log:q}"


rule evaluate_weights:
    input:
        trainings=case_trainings,
    output:
        table="results/evaluate/{grid}/weights/variant={variant}/covariance={covariance}.csv",
    log:
        "logs/evaluate_weights/{grid}/variant={variant}/covariance={covariance}.log",
    benchmark:
        "results/benchmarks/evaluate_weights/{grid}/variant={variant}/covariance={covariance}.tsv"
    params:
        settings=lambda wildcards: settings(
            *REGRESSION_KEYS,
            horizon=HORIZON,
            covariance=covariance_of(wildcards),
        ),
        code=code("stages.evaluate_weights"),
    shell:
        "python -m largeprompt evaluate_weights --settings {params.settings:q} "
        "--set variant={wildcards.variant} covariance={wildcards.covariance} "
        "--in trainings {input.trainings:q} "
        "--out table {output.table:q} --log {log:q}"


rule evaluate_path_distance:
    input:
        trainings=case_finite,
    output:
        table="results/evaluate/{grid}/path_distance/variant={variant}/covariance={covariance}.csv",
    log:
        "logs/evaluate_path_distance/{grid}/variant={variant}/covariance={covariance}.log",
    benchmark:
        "results/benchmarks/evaluate_path_distance/{grid}/variant={variant}/covariance={covariance}.tsv"
    params:
        settings=settings(horizon=HORIZON),
        code=code("stages.evaluate_path_distance"),
    shell:
        "python -m largeprompt evaluate_path_distance --settings {params.settings:q} "
        "--in trainings {input.trainings:q} "
        "--out table {output.table:q} --log {log:q}"


rule evaluate_length_generalisation:
    input:
        trainings=case_finite,
    output:
        table="results/evaluate/{grid}/length_generalisation/variant={variant}/covariance={covariance}.csv",
    log:
        "logs/evaluate_length_generalisation/{grid}/variant={variant}/covariance={covariance}.log",
    benchmark:
        "results/benchmarks/evaluate_length_generalisation/{grid}/variant={variant}/covariance={covariance}.tsv"
    params:
        settings=lambda wildcards: settings(
            *REGRESSION_KEYS,
            "length_generalisation.lengths",
            horizon=HORIZON,
            covariance=covariance_of(wildcards),
        ),
        code=code("stages.evaluate_length_generalisation"),
    shell:
        "python -m largeprompt evaluate_length_generalisation --settings {params.settings:q} "
        "--set variant={wildcards.variant} covariance={wildcards.covariance} "
        "--in trainings {input.trainings:q} "
        "--out table {output.table:q} --log {log:q}"


rule evaluate_sgd_minus_flow:
    input:
        sgd=SGD,
        flow=FLOW,
    output:
        table=f"results/evaluate/sgd_minus_flow/{FINITE}.csv",
    log:
        f"logs/evaluate_sgd_minus_flow/{FINITE}.log",
    benchmark:
        f"results/benchmarks/evaluate_sgd_minus_flow/{FINITE}.tsv"
    params:
        settings=lambda wildcards: settings(
            *REGRESSION_KEYS, covariance=covariance_of(wildcards)
        ),
        code=code("stages.evaluate_sgd_minus_flow"),
    shell:
        "python -m largeprompt evaluate_sgd_minus_flow --settings {params.settings:q} "
        "--in sgd {input.sgd:q} --in flow {input.flow:q} "
        "--out table {output.table:q} --log {log:q}"
