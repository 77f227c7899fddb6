"""One verdict a claim, by the rule that workflow/claims.yaml fixes for it.

REQUIRED INPUTS  results/summary, workflow/claims.yaml
OUTPUTS          results/claims/{claim}.json, results/summary/claims.csv
"""

from lib.registry import read_registry

CLAIMS = read_registry(ROOT / "workflow/claims.yaml")


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
        code=lambda wildcards: code(
            "stages.decide_claim", f"claims.{CLAIMS[wildcards.claim]['module']}"
        ),
    shell:
        "python -m largeprompt decide_claim --settings {params.settings:q} "
        "--set claim={wildcards.claim} --in tables {input.tables:q} "
        "--out verdict {output.verdict:q} --log {log:q}"


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


rule claims:
    input:
        table="results/summary/claims.csv",
    log:
        "logs/claims.log",
    params:
        root=ROOT,
    shell:
        "PYTHONPATH={params.root:q}/workflow:$PYTHONPATH python -m lib.claims_table {input.table:q} 2> {log:q}"
