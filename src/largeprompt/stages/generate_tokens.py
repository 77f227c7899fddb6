"""Plain token prompts of one law and covariance, each with its own queries."""

from largeprompt.seeding import stream
from largeprompt.stages._job import Job
from largeprompt.stages._token_law import token_law
from largeprompt.tables import write_arrays


def run(job: Job) -> None:
    """Write tokens (prompt, max_length, d), queries (prompt, query, d), z ~ N(0, I), and labels.

    The queries are the same for every law of a seed (common random numbers).
    """
    chosen, seed, name = job.settings["tokens"], int(job.wildcards["seed"]), job.wildcards["law"]
    law = token_law(name, chosen["dimension"], job.settings["covariance"])
    tokens = law.sample(stream(seed, "tokens", name), chosen["prompts"], chosen["max_length"])
    shape = (chosen["prompts"], chosen["queries"], chosen["dimension"])
    queries = stream(seed, "queries").standard_normal(shape)
    labels = {"run": job.run, **job.wildcards}
    write_arrays(job.outputs["tokens"], **labels, tokens=tokens.numpy(), queries=queries)
