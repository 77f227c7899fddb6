"""One verdict a claim, by the rule that workflow/claims.yaml fixes for it.

REQUIRED INPUTS  results/summary, workflow/claims.yaml
OUTPUTS          results/claims/{claim}.json, results/summary/claims.csv
                 results/claims/{grid}/{claim}.json, results/summary/{grid}/claims.csv for the
                 claims that are judged on the models of a grid
"""

import re

from lib.registry import on_grid, read_registry

REGISTRY = read_registry(ROOT / "workflow/claims.yaml")
CLAIMS = {name: on_grid(entry, "default") for name, entry in REGISTRY.items()}
GRID_CLAIMS = [
    name for name, entry in REGISTRY.items() if on_grid(entry, "paper") != CLAIMS[name]
]


# A claim that is not in the registry is a target that no rule makes.
wildcard_constraints:
    claim="|".join(map(re.escape, CLAIMS)),


rule decide_claim:
    input:
        tables=lambda wildcards: CLAIMS[wildcards.claim]["tables"],
    output:
        verdict="results/claims/{claim}.json",
    log:
        "logs/decide_claim/{claim}.log",
    benchmark:
        "results/benchmarks/decide_claim/{claim}.tsv"
    params:
        settings=lambda wildcards: settings(claim=CLAIMS[wildcards.claim]),
        code=rule_code,
    shell:
        "python -m largeprompt decide_claim --settings {params.settings:q} "
        "--set claim={wildcards.claim} --in tables {input.tables:q} "
        "--out verdict {output.verdict:q} --log {log:q}"


use rule decide_claim as decide_claim_on_grid with:
    input:
        tables=lambda wildcards: claim_on_grid(wildcards)["tables"],
    output:
        verdict="results/claims/{grid}/{claim}.json",
    log:
        "logs/decide_claim/{grid}/{claim}.log",
    benchmark:
        "results/benchmarks/decide_claim/{grid}/{claim}.tsv"
    params:
        settings=lambda wildcards: settings(claim=claim_on_grid(wildcards)),
        code=rule_code,


rule summarise_claims:
    input:
        verdicts=expand("results/claims/{claim}.json", claim=CLAIMS),
    output:
        table="results/summary/claims.csv",
    log:
        "logs/summarise_claims.log",
    benchmark:
        "results/benchmarks/summarise_claims.tsv"
    params:
        settings=settings(),
        code=code("stages.summarise_claims"),
    shell:
        "python -m largeprompt summarise_claims --settings {params.settings:q} "
        "--in verdicts {input.verdicts:q} --out table {output.table:q} --log {log:q}"


use rule summarise_claims as summarise_claims_on_grid with:
    input:
        verdicts=expand("results/claims/{{grid}}/{claim}.json", claim=GRID_CLAIMS),
    output:
        table="results/summary/{grid}/claims.csv",
    log:
        "logs/summarise_claims/{grid}.log",
    benchmark:
        "results/benchmarks/summarise_claims/{grid}.tsv"


rule claims:
    input:
        table="results/summary/claims.csv",
    log:
        "logs/claims.log",
    localrule: True
    params:
        root=ROOT,
    shell:
        "PYTHONPATH={params.root:q}/workflow:$PYTHONPATH python -m lib.claims_table {input.table:q} 2> {log:q}"
