"""The report: verdicts, figures, data, deviations and run times on one page."""

from pathlib import Path

from largeprompt.report.charts import CHARTS
from largeprompt.report.page import Figure, Report, Table, as_json, render
from largeprompt.report.text import from_markdown, from_rst
from largeprompt.report.times import times_by_rule
from largeprompt.stages._job import Job
from largeprompt.tables import read_json, read_table, write_whole

KEYS = [
    *("id", "paper", "statement", "conditions", "rule", "tolerance", "reason", "control"),
    *("figure", "tables", "target", "verdict", "measured", "allowed", "numbers"),
    *("control_result", "provenance", "run"),
]


def run(job: Job) -> None:
    """Write the page. Figures, their captions and their tables come in one order."""
    sources = [job.inputs[name] for name in ("figures", "captions", "figure_tables")]
    figures = [_figure(job, *paths) for paths in zip(*sources, strict=True)]
    paths = dict.fromkeys([*job.inputs["figure_tables"], *job.inputs["claim_tables"]])
    report = Report(
        run=job.run,
        claims=[read_json(path, KEYS) for path in job.inputs["verdicts"]],
        figures=figures,
        tables={path: _table(path) for path in sorted(paths)},
        deviations=from_markdown(Path(job.input("deviations")).read_text(encoding="utf-8")),
        times=times_by_rule(job.input("benchmarks")),
    )
    write_whole(job.outputs["page"], render(report).encode())


def _figure(job: Job, png: str, caption: str, table: str) -> Figure:
    name = Path(png).stem
    charts = []
    if name in CHARTS:
        columns, draw = CHARTS[name]
        charts = [as_json(chart) for chart in draw(read_table(table, columns))]
    return Figure(
        name=name,
        category=job.settings["categories"][name],
        png=Path(png).read_bytes(),
        caption=from_rst(Path(caption).read_text(encoding="utf-8"), caption),
        table=table,
        charts=charts,
    )


def _table(path: str) -> Table:
    return Table(path, Path(path).read_bytes(), read_table(path, []))
