"""Training by SGD and by exact gradient flow, at finite prompt length and for the infinite prompt.

REQUIRED INPUTS  results/data/weights/start={start}/seed={seed}.npz
OUTPUTS          results/train/finite/attention={attention}/CELL/L={L}/seed={seed}.npz
                 results/train/flow/attention={attention}/CELL/L={L}/seed={seed}.npz
                 results/train/infinite/method=sgd/CELL/seed={seed}.npz
                 results/train/infinite/method=flow/CELL/seed={seed}.npz
                 results/train/limit/attention={attention}/CELL/L={L}/seed={seed}.csv
                 results/train/limit/infinite/CELL/seed={seed}.csv: where the flows end
                 with CELL = variant={variant}/covariance={covariance}/start={start}
Flows of softmax and linear attention, which take seconds, share a job.
An interrupted SGD leaves OUTPUT.checkpoint, from which the next call goes on.
"""


rule train_finite:
    input:
        weights="results/data/weights/start={start}/seed={seed}.npz",
    output:
        training=SGD,
    log:
        f"logs/train_finite/{FINITE}.log",
    benchmark:
        f"results/benchmarks/train_finite/{FINITE}.tsv"
    resources:
        gpu=int(config["sgd"]["trainer"] == "literal-gpu"),
    params:
        settings=lambda wildcards: settings(
            *SGD_KEYS, covariance=covariance_of(wildcards)
        ),
        code=code("stages.train_finite"),
    shell:
        "python -m largeprompt train_finite --settings {params.settings:q} "
        "--set attention={wildcards.attention} variant={wildcards.variant} "
        "covariance={wildcards.covariance} start={wildcards.start} L={wildcards.L} "
        "seed={wildcards.seed} --code {params.code} "
        "--in weights {input.weights:q} --out training {output.training:q} "
        "--out checkpoint {output.training:q}.checkpoint --log {log:q}"


rule train_infinite:
    input:
        weights="results/data/weights/start={start}/seed={seed}.npz",
    output:
        training=SGD_INFINITE,
    log:
        f"logs/train_infinite/{INFINITE}.log",
    benchmark:
        f"results/benchmarks/train_infinite/{INFINITE}.tsv"
    resources:
        gpu=int(config["sgd"]["trainer"] == "literal-gpu"),
    params:
        settings=lambda wildcards: settings(
            *SGD_KEYS, covariance=covariance_of(wildcards)
        ),
        code=code("stages.train_infinite"),
    shell:
        "python -m largeprompt train_infinite --settings {params.settings:q} "
        "--set variant={wildcards.variant} covariance={wildcards.covariance} "
        "start={wildcards.start} seed={wildcards.seed} --code {params.code} "
        "--in weights {input.weights:q} --out training {output.training:q} "
        "--out checkpoint {output.training:q}.checkpoint --log {log:q}"


rule flow_finite:
    input:
        weights="results/data/weights/start={start}/seed={seed}.npz",
    output:
        softmax=FLOW.replace("{attention}", "softmax"),
        linear=FLOW.replace("{attention}", "linear"),
        softmax_limit=LIMIT.replace("{attention}", "softmax"),
        linear_limit=LIMIT.replace("{attention}", "linear"),
    log:
        f"logs/flow_finite/{PAIR}.log",
    benchmark:
        f"results/benchmarks/flow_finite/{PAIR}.tsv"
    params:
        settings=lambda wildcards: settings(
            *REGRESSION_KEYS,
            "flow.limit_time",
            horizon=HORIZON,
            covariance=covariance_of(wildcards),
        ),
        code=code("stages.flow_finite"),
    shell:
        "python -m largeprompt flow_finite --settings {params.settings:q} "
        "--set variant={wildcards.variant} covariance={wildcards.covariance} "
        "start={wildcards.start} L={wildcards.L} seed={wildcards.seed} "
        "--in weights {input.weights:q} "
        "--out softmax {output.softmax:q} --out linear {output.linear:q} "
        "--out softmax_limit {output.softmax_limit:q} "
        "--out linear_limit {output.linear_limit:q} --log {log:q}"


rule flow_infinite:
    input:
        weights="results/data/weights/start={start}/seed={seed}.npz",
    output:
        training=FLOW_INFINITE,
        limit=LIMIT_INFINITE,
    log:
        f"logs/flow_infinite/{INFINITE}.log",
    benchmark:
        f"results/benchmarks/flow_infinite/{INFINITE}.tsv"
    params:
        settings=lambda wildcards: settings(
            *REGRESSION_KEYS,
            "flow.limit_time",
            horizon=HORIZON,
            covariance=covariance_of(wildcards),
        ),
        code=code("stages.flow_infinite"),
    shell:
        "python -m largeprompt flow_infinite --settings {params.settings:q} "
        "--set variant={wildcards.variant} covariance={wildcards.covariance} "
        "start={wildcards.start} seed={wildcards.seed} "
        "--in weights {input.weights:q} "
        "--out training {output.training:q} --out limit {output.limit:q} --log {log:q}"
