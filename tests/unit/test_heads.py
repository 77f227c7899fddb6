"""Parametrisations of a head and their vectors."""

import numpy as np
import pytest

from largeprompt.errors import InputError
from largeprompt.heads import (
    FACTORISED,
    from_vectors,
    products,
    random_weights,
    theorem_weights,
    to_vector,
)
from largeprompt.seeding import stream


def test_products_of_factors_are_those_of_the_paper():
    weights = random_weights(stream(1, "weights"), 5)
    U, v = products(weights)
    assert np.allclose(U, weights["K"].T @ weights["Q"] / np.sqrt(6))
    assert np.allclose(v, weights["O"][0] @ weights["V"])


def test_products_keep_the_axis_of_saved_steps():
    saved = {name: np.stack([w, 2 * w]) for name, w in random_weights(stream(1), 3).items()}
    U, v = products(saved)
    assert U.shape == (2, 4, 4)
    assert np.allclose(U[1], 4 * U[0])
    assert np.allclose(v[1], 4 * v[0])


def test_random_start_is_uniform_with_the_scale_of_the_embedding():
    """Mean and variance of 4 x 10^4 entries within 5 standard errors (chance below 1e-6)."""
    entries = random_weights(stream(2), 99)["Q"].ravel() * 10  # uniform(-1, 1)
    n = entries.size
    assert abs(entries).max() <= 1
    assert abs(entries.mean()) < 5 / np.sqrt(3 * n)
    assert abs((entries**2).mean() - 1 / 3) < 5 * np.sqrt(4 / 45 / n)


def test_theorem_start_is_balanced_with_one_block_and_one_entry():
    weights = theorem_weights(0.4, 5)
    assert np.linalg.norm(weights["U"]) == pytest.approx(0.4)
    assert np.count_nonzero(weights["U"][5]) == np.count_nonzero(weights["U"][:, 5]) == 0
    assert weights["v"].tolist() == [0, 0, 0, 0, 0, 0.4]


def test_vectors_and_weights_are_inverse():
    weights = random_weights(stream(3), 4)
    vector = to_vector(weights)
    back = from_vectors(np.stack([vector, -vector]), weights)
    assert tuple(back) == FACTORISED
    assert all(np.array_equal(back[name][0], weights[name]) for name in back)
    assert all(np.array_equal(back[name][1], -weights[name]) for name in back)


def test_unknown_names_and_bad_alpha_are_refused():
    with pytest.raises(InputError, match="must be Q, K, V, O or U, v"):
        products({"W": np.eye(2)})
    with pytest.raises(InputError, match="alpha = 0"):
        theorem_weights(0, 3)
