"""Held-out regression prompts, on which every trained model is tested."""

from largeprompt.regression import sample_prompts
from largeprompt.seeding import stream
from largeprompt.stages._job import Job
from largeprompt.stages._regression_task import regression_task
from largeprompt.tables import write_arrays


def run(job: Job) -> None:
    """Write tokens (prompt, max_length, d+1), query (prompt, d+1), target, weights, labels."""
    chosen = job.settings["regression"]
    prompts = sample_prompts(
        stream(int(job.wildcards["seed"]), "test prompts"),
        regression_task(job.settings, job.wildcards["variant"]),
        chosen["test_prompts"],
        chosen["max_length"],
    )
    write_arrays(
        job.outputs["prompts"],
        run=job.run,
        **job.wildcards,
        tokens=prompts.tokens.numpy(),
        query=prompts.query.numpy(),
        target=prompts.target.numpy(),
        weights=prompts.weights.numpy(),
    )
