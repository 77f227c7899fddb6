"""The run beside the committed reference run of the same label, number by number.

REQUIRED INPUTS  results/summary, workflow/verify.yaml, reference
OUTPUTS          results/summary/headline.csv, results/{target}.json for each target of verify.yaml
"""

from lib.verification_list import read_verification

# The full run's reference lies in reference/, that of a run labelled smoke in reference/smoke.
LABEL = config["run"]["label"]
REFERENCE = ROOT / "reference" / ("" if LABEL == "full" else LABEL)
VERIFICATION = read_verification(ROOT / "workflow/verify.yaml")
COMPARISONS = {
    target: [
        {**one, "reference": str(REFERENCE / one["reference"])} for one in comparisons
    ]
    for target, comparisons in VERIFICATION["targets"].items()
}


rule summarise_headline:
    input:
        verdicts=expand("results/claims/{claim}.json", claim=CLAIMS),
    output:
        table="results/summary/headline.csv",
    log:
        "logs/summarise_headline.log",
    benchmark:
        "results/benchmarks/summarise_headline.tsv"
    params:
        settings=settings(),
        code=code("stages.summarise_headline"),
    shell:
        "python -m largeprompt summarise_headline --settings {params.settings:q} "
        "--in verdicts {input.verdicts:q} --out table {output.table:q} --log {log:q}"


for target, comparisons in COMPARISONS.items():

    rule:
        name:
            f"compare_{target}"
        input:
            tables=[one["table"] for one in comparisons],
            references=[
                one["reference"]
                for one in comparisons
                if Path(one["reference"]).exists()  # the stage says which are missing
            ],
        output:
            report=f"results/{target}.json",
        log:
            f"logs/compare_{target}.log",
        benchmark:
            f"results/benchmarks/compare_{target}.tsv"
        params:
            settings=settings(
                comparisons=comparisons, tolerances=VERIFICATION["tolerances"]
            ),
            code=code("stages.compare_reference"),
        shell:
            "python -m largeprompt compare_reference --settings {params.settings:q} "
            "--in tables {input.tables:q} --out report {output.report:q} --log {log:q}"

    rule:
        name:
            target
        input:
            report=f"results/{target}.json",
        log:
            f"logs/{target}.log",
        localrule: True
        shell:
            "python -m largeprompt print_verification --in report {input.report:q} --log {log:q}"

    rule:
        name:
            f"write_{target.replace('verify', 'reference')}"
        input:
            tables=[one["table"] for one in comparisons],
            verdicts=verdicts_of(target),
        log:
            f"logs/write_{target.replace('verify', 'reference')}.log",
        localrule: True
        params:
            settings=settings(comparisons=comparisons),
            provenance=REFERENCE / f"{target.replace('verify', 'provenance')}.json",
        shell:
            "python -m largeprompt write_reference --settings {params.settings:q} "
            "--in tables {input.tables:q} --in verdicts {input.verdicts:q} "
            "--out provenance {params.provenance:q} --log {log:q}"
