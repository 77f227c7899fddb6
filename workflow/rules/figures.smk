"""One rule a figure, each from the summary table of its name.

REQUIRED INPUTS  results/summary/{figure}.csv
OUTPUTS          figures/{figure}.pdf, figures/{figure}.png
"""

FIGURES = {
    "trajectory": "Lemma D.1",
    "transfer": "Theorem 4.3",
    "bayes_convergence": "Theorem 5.1",
    "operator_limit": "Lemma 2.1",
    "output_error": "Proposition 3.1",
    "controls": "Controls",
    "rate_exponent": "Proposition 3.1",
    "bound_constants": "Proposition 3.1",
    "gradient_error": "Proposition 3.4",
    "effective_operator": "Section 3",
    "training_curves": "Section 6",
    "loss_vs_length": "Section 6",
    "prompt_length_map": "Popular claims",
    "kernel_swap": "Popular claims",
    "neighbours": "Related papers",
}

for figure, statement in FIGURES.items():

    rule:
        name:
            f"plot_{figure}"
        input:
            table=f"results/summary/{figure}.csv",
        output:
            pdf=report(
                f"figures/{figure}.pdf",
                caption=f"../report/{figure}.rst",
                category=statement,
                labels={"figure": figure},
            ),
            png=f"figures/{figure}.png",
        log:
            f"logs/plot_{figure}.log",
        benchmark:
            f"results/benchmarks/plot_{figure}.tsv"
        params:
            settings=settings("figures.dpi"),
            code=code("stages.plot_figure", f"figures.{figure}"),
            figure=figure,
        shell:
            "python -m largeprompt plot_figure --settings {params.settings:q} "
            "--set figure={params.figure} --in table {input.table:q} "
            "--out pdf {output.pdf:q} --out png {output.png:q} --log {log:q}"


rule figures:
    input:
        expand("figures/{figure}.{format}", figure=FIGURES, format=["pdf", "png"]),
