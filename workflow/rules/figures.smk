"""One rule a figure, each from the summary table of its name.

REQUIRED INPUTS  results/summary/{figure}.csv, results/summary/{grid}/{figure}.csv
OUTPUTS          figures/{figure}.pdf, figures/{figure}.png; figures/{grid}/{figure}.pdf and .png
                 for the larger grids of Section 6
"""

FIGURES = {
    "overview": "The paper",
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
    "limits": "Section 6",
    "weights": "Section 6",
    "length_generalisation": "Section 6",
    "stated_vs_coded": "Section 6",
    "trained_lengths": "Section 6",
    "prompt_length_map": "Popular claims",
    "kernel_swap": "Popular claims",
    "neighbours": "Related papers",
}
# Those that show the models of a grid.
GRID_FIGURES = [
    "training_curves",
    "loss_vs_length",
    "limits",
    "weights",
    "length_generalisation",
    "stated_vs_coded",
]


for plot, figure, source, folder, category in drawn():

    rule:
        name:
            plot
        input:
            table=f"results/summary/{source}{figure}.csv",
        output:
            pdf=report(
                f"figures/{folder}{figure}.pdf",
                caption=f"../report/{figure}.rst",
                category=category,
                labels={"figure": figure},
            ),
            png=f"figures/{folder}{figure}.png",
        log:
            f"logs/{plot}.log",
        benchmark:
            f"results/benchmarks/{plot}.tsv"
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
