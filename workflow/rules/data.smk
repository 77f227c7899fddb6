"""Random inputs, each written once: the longest prompts, of which shorter ones are prefixes.

REQUIRED INPUTS  none
OUTPUTS          results/data/tokens/law={law}/covariance={covariance}/seed={seed}.npz
                 results/data/prompts/variant={variant}/covariance={covariance}/seed={seed}.npz
                 results/data/weights/start={start}/seed={seed}.npz
"""


rule generate_tokens:
    output:
        tokens="results/data/tokens/law={law}/covariance={covariance}/seed={seed}.npz",
    log:
        "logs/generate_tokens/law={law}/covariance={covariance}/seed={seed}.log",
    benchmark:
        "results/benchmarks/generate_tokens/law={law}/covariance={covariance}/seed={seed}.tsv"
    params:
        settings=lambda wildcards: settings(
            "tokens.dimension",
            "tokens.prompts",
            "tokens.max_length",
            "tokens.queries",
            covariance=covariance_of(wildcards),
        ),
        code=code("stages.generate_tokens"),
    shell:
        "python -m largeprompt generate_tokens --settings {params.settings:q} "
        "--set law={wildcards.law} covariance={wildcards.covariance} seed={wildcards.seed} "
        "--out tokens {output.tokens:q} --log {log:q}"


rule generate_prompts:
    output:
        prompts="results/data/prompts/variant={variant}/covariance={covariance}/seed={seed}.npz",
    log:
        "logs/generate_prompts/variant={variant}/covariance={covariance}/seed={seed}.log",
    benchmark:
        "results/benchmarks/generate_prompts/variant={variant}/covariance={covariance}/seed={seed}.tsv"
    params:
        settings=lambda wildcards: settings(
            "regression.dimension",
            "regression.noise_variance",
            "regression.task_variance",
            "regression.max_length",
            "regression.test_prompts",
            covariance=covariance_of(wildcards),
        ),
        code=code("stages.generate_prompts"),
    shell:
        "python -m largeprompt generate_prompts --settings {params.settings:q} "
        "--set variant={wildcards.variant} covariance={wildcards.covariance} seed={wildcards.seed} "
        "--out prompts {output.prompts:q} --log {log:q}"


rule draw_weights:
    output:
        weights="results/data/weights/start={start}/seed={seed}.npz",
    log:
        "logs/draw_weights/start={start}/seed={seed}.log",
    benchmark:
        "results/benchmarks/draw_weights/start={start}/seed={seed}.tsv"
    params:
        settings=lambda wildcards: settings(
            "regression.dimension",
            *(["theorem_start.alpha"] if wildcards.start == "theorem" else []),
        ),
        code=code("stages.draw_weights"),
    shell:
        "python -m largeprompt draw_weights --settings {params.settings:q} "
        "--set start={wildcards.start} seed={wildcards.seed} "
        "--out weights {output.weights:q} --log {log:q}"
