"""Cheaper attention in place of softmax attention, with its weights: what the risk gains.

REQUIRED INPUTS  none
OUTPUTS          results/summary/kernel_swap.csv
"""


rule summarise_kernel_swap:
    output:
        table="results/summary/kernel_swap.csv",
    log:
        "logs/summarise_kernel_swap.log",
    benchmark:
        "results/benchmarks/summarise_kernel_swap.tsv"
    params:
        settings=settings(
            *REGRESSION_KEYS,
            "kernel_swap.lengths",
            "kernel_swap.features",
            "kernel_swap.rows",
            "kernel_swap.batches",
            "kernel_swap.prompts",
            "kernel_swap.floor_features",
            "kernel_swap.floor_draws",
            "kernel_swap.seed",
            covariance=config["covariances"][config["kernel_swap"]["covariance"]],
        ),
        code=code("stages.summarise_kernel_swap"),
    shell:
        "python -m largeprompt summarise_kernel_swap --settings {params.settings:q} "
        "--out table {output.table:q} --log {log:q}"
