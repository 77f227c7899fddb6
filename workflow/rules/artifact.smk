"""What reviewers and archives get of a run: costs, expected values, its files with their history.

REQUIRED INPUTS  every figure and verdict
OUTPUTS          results/ro-crate; `write_artifact` rewrites marked blocks of ARTIFACT.md and codecheck.yml
"""


rule write_artifact:
    input:
        rules.figures.input,
        table="results/summary/claims.csv",
    log:
        "logs/write_artifact.log",
    localrule: True
    params:
        root=ROOT,
    shell:
        "PYTHONPATH={params.root:q}/workflow:$PYTHONPATH "
        "python -m lib.artifact . {params.root:q} > {log:q} 2>&1"


rule write_crate:
    input:
        rules.figures.input,
        table="results/summary/claims.csv",
        verdicts=expand("results/claims/{claim}.json", claim=CLAIMS),
    output:
        crate=directory("results/ro-crate"),
    log:
        "logs/write_crate.log",
    benchmark:
        "results/benchmarks/write_crate.tsv"
    params:
        root=ROOT,
        settings=canonical(config),
        code=hashing.code_hash(ROOT / "workflow", "lib.crate"),
    shell:
        "PYTHONPATH={params.root:q}/workflow:$PYTHONPATH "
        "python -m lib.crate . {params.root:q} {params.settings:q} {output.crate:q} > {log:q} 2>&1"


rule crate:
    input:
        "results/ro-crate",
