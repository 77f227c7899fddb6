"""The report: one page with every verdict, figure and table behind it.

REQUIRED INPUTS  results/claims, figures, results/summary, workflow/report, DEVIATIONS.md
OUTPUTS          results/report/index.html
"""

FIGURE_TABLES = [getattr(rules, f"plot_{figure}").input.table for figure in FIGURES]


rule report:
    input:
        verdicts=rules.summarise_claims.input.verdicts,
        figures=expand("figures/{figure}.png", figure=FIGURES),
        captions=in_repository("workflow/report/{figure}.rst", figure=FIGURES),
        figure_tables=FIGURE_TABLES,
        claim_tables=sorted(
            {table for claim in CLAIMS.values() for table in claim["tables"]}
        ),
        deviations=in_repository("DEVIATIONS.md"),
        assets=in_repository(
            "src/largeprompt/report/{asset}",
            asset=["page.html.j2", "style.css", "charts.js"],
        ),
    output:
        page="results/report/index.html",
    log:
        "logs/report.log",
    params:
        settings=settings(categories=FIGURES),
        code=code("stages.write_report"),
        benchmarks=lambda _, output: str(Path(output.page).parents[1] / "benchmarks"),
    shell:
        "python -m largeprompt write_report --settings {params.settings:q} "
        "--in verdicts {input.verdicts:q} --in figures {input.figures:q} "
        "--in captions {input.captions:q} --in figure_tables {input.figure_tables:q} "
        "--in claim_tables {input.claim_tables:q} --in deviations {input.deviations:q} "
        "--in benchmarks {params.benchmarks:q} --out page {output.page:q} --log {log:q}"
