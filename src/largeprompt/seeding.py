"""Named random streams: what a stream yields depends on its seed and its names, on nothing else."""

import hashlib

import numpy as np


def stream(seed: int, *names: str | int) -> np.random.Generator:
    """Random generator of the stream `names` under `seed`.

    Streams with different names are independent, so neither the order of jobs nor the number of
    threads can change a result. `stream(327, "sgd", "prompts")` is the same on every machine.
    """
    digest = hashlib.sha256("\0".join(map(str, names)).encode()).digest()
    words = np.frombuffer(digest, dtype="<u4")
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, *map(int, words)])))
