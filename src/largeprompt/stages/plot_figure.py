"""One figure from its summary table."""

import importlib

from largeprompt.figures.style import rendered, style
from largeprompt.stages._job import Job
from largeprompt.tables import read_table, write_whole


def run(job: Job) -> None:
    """Draw the figure named by the wildcard and write it in each format.

    The figure's module is a param of its own in the workflow: this import is not seen by the hash.
    """
    module = importlib.import_module(f"largeprompt.figures.{job.wildcards['figure']}")
    table = read_table(job.input("table"), module.COLUMNS)
    label = None if job.run == "full" else job.run
    files = {}
    with style():
        for format, path in job.outputs.items():
            figure = module.draw(table)
            files[path] = rendered(figure, format, job.settings["figures"]["dpi"], label)
    # The file that targets name, the first, is written last: where it is, the others are.
    for path, content in reversed(files.items()):
        write_whole(path, content)
