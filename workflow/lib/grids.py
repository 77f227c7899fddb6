"""The models that a grid of config.yaml names: products of lists, in order, each model once."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import Any, NamedTuple


class Model(NamedTuple):
    """One training at a finite prompt length, for each kind of attention; fields are wildcards."""

    variant: str
    covariance: str
    start: str
    L: int
    seed: int


def models(entries: Iterable[Mapping[str, Any]]) -> list[Model]:
    """The models of all entries, sorted; a model that two entries name counts once."""
    return sorted({model for entry in entries for model in _product(entry)})


def _product(entry: Mapping[str, Any]) -> Iterator[Model]:
    keys = ("variants", "covariances", "starts", "lengths", "seeds")
    return (Model(*values) for values in product(*(entry[key] for key in keys)))


def of_case(chosen: Iterable[Model], variant: str, covariance: str) -> list[Model]:
    """The models on the data of one variant and covariance."""
    return [m for m in chosen if (m.variant, m.covariance) == (variant, covariance)]


def finite_paths(pattern: str, chosen: Iterable[Model]) -> list[str]:
    """`pattern` for softmax and linear attention of each model."""
    kinds = ("softmax", "linear")
    return [pattern.format(attention=kind, **m._asdict()) for kind in kinds for m in chosen]


def infinite_paths(pattern: str, chosen: Iterable[Model]) -> list[str]:
    """`pattern` for the infinite prompt of each model, once for all its lengths."""
    return list(dict.fromkeys(pattern.format(**m._asdict()) for m in chosen))
