"""Random streams depend on their names alone."""

import numpy as np

from largeprompt.seeding import stream


def test_stream_is_the_same_whatever_was_drawn_before():
    first = stream(327, "sgd", "prompts", 10).standard_normal(4)
    stream(327, "other").standard_normal(1000)
    np.random.default_rng(0).standard_normal(10)
    assert np.array_equal(first, stream(327, "sgd", "prompts", 10).standard_normal(4))


def test_streams_of_other_names_or_seeds_differ():
    keys = [(327, "a"), (328, "a"), (327, "b"), (327, "a", "b"), (327, "ab"), (327, "a", 1)]
    draws = {stream(*key).integers(2**63) for key in keys}
    assert len(draws) == len(keys)


def test_streams_of_other_names_are_uncorrelated():
    """|correlation| < 5 / sqrt(n): passed by chance with probability 1 - 6e-7."""
    n = 40_000
    x, y = stream(327, "tokens", 1).standard_normal(n), stream(327, "tokens", 2).standard_normal(n)
    assert abs(np.mean(x * y)) < 5 / np.sqrt(n)
