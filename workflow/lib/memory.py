"""What the jobs that hold whole prompts need, so that one that cannot fit is never started."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

_GIB = 2**30
_LIBRARIES = 0.4  # GiB of a job before it holds any number
# Of its prompts that a job holds at once, at most; tests/reliability/test_memory.py measures it.
_COPIES = 4
_CHUNK = 16  # tokens for which the scores of all queries are held, at least


def too_large(s: Mapping[str, Any]) -> Iterator[str]:
    """One line for each key of the settings `s` whose arrays do not fit into `run.memory_gib`."""
    limit = s["run"]["memory_gib"]
    for keys, numbers in _sizes(s):
        need = _LIBRARIES + _COPIES * 8 * numbers / _GIB
        if need > limit:
            section, names = keys.split(".")
            shown = ", ".join(f"{section}.{name} = {s[section][name]}" for name in names.split())
            yield f"{shown}: would take {need:.3g} GiB, run.memory_gib allows {limit:g}"


def _sizes(s: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Keys (`section.name name ...`) and how many numbers of 8 bytes they make a job hold."""
    tokens, regression, sgd, spread = s["tokens"], s["regression"], s["sgd"], s["spread"]
    swap, tilting = s["kernel_swap"], s["tilting"]
    yield (
        "tokens.prompts max_length dimension",
        math.prod(tokens[k] for k in ("prompts", "max_length", "dimension")),
    )
    neighbours = tokens["prompts"] * max(s["operator_limit"]["lengths"]) * tokens["dimension"]
    yield "tokens.prompts dimension", 1.6 * neighbours  # that experiment holds two sets of prompts
    lengths = max(len(s[section]["lengths"]) for section in ("operator_limit", "output_error"))
    yield (
        "tokens.prompts queries dimension",
        tokens["prompts"] * tokens["queries"] * (_CHUNK + lengths * tokens["dimension"]),
    )
    width = regression["dimension"] + 1
    yield (
        "regression.test_prompts max_length dimension",
        regression["test_prompts"] * regression["max_length"] * width,
    )
    if sgd["trainer"] != "fast":  # draws its prompts, in single precision; fast draws none
        yield "sgd.batch_size trainer", sgd["batch_size"] * regression["max_length"] * width / 2
    pairs, longest = 2 * spread["pairs"], max(spread["lengths"])
    yield "spread.pairs lengths dimension", pairs * longest * spread["dimension"]
    kept = _CHUNK + len(spread["lengths"]) * spread["dimension"]
    yield "spread.pairs queries dimension", pairs * spread["queries"] * kept
    held = swap["prompts"] * width + max(swap["rows"])
    yield "kernel_swap.prompts rows lengths", held * max(swap["lengths"])
    yield "kernel_swap.features prompts", max(swap["features"]) * swap["prompts"]
    yield "tilting.tokens dimensions", tilting["tokens"] * max(tilting["dimensions"])
