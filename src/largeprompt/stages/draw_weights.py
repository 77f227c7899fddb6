"""Initial weights, one set for every attention and prompt length of a seed (paired runs)."""

from largeprompt.heads import random_weights, theorem_weights
from largeprompt.seeding import stream
from largeprompt.stages._job import Job
from largeprompt.tables import write_arrays


def run(job: Job) -> None:
    """Write Q, K, V, O (random) or U, v (Theorem 5.1, the same for every seed), and labels."""
    dimension = job.settings["regression"]["dimension"]
    if job.wildcards["start"] == "theorem":
        weights = theorem_weights(job.settings["theorem_start"]["alpha"], dimension)
    else:
        weights = random_weights(stream(int(job.wildcards["seed"]), "weights"), dimension)
    write_arrays(job.outputs["weights"], run=job.run, **job.wildcards, **weights)
