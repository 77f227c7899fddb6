import numpy as np
import pytest

from largeprompt.covariances import checked_covariance, covariance_matrix, square_root
from largeprompt.errors import InputError


def test_isotropic_is_the_identity():
    np.testing.assert_array_equal(covariance_matrix("isotropic", 3), np.diag([1.0, 1.0, 1.0]))


@pytest.mark.parametrize("rho", [0.5, -0.7, 0.0])
def test_autoregressive_decays_with_the_distance_of_the_indices(rho):
    Sigma = covariance_matrix("autoregressive", 4, rho=rho)
    for i in range(4):
        for j in range(4):
            assert Sigma[i, j] == pytest.approx(rho ** abs(i - j))
    assert np.linalg.eigvalsh(Sigma).min() > 0


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"kind": "toeplitz", "dimension": 3}, "'toeplitz'"),
        ({"kind": "isotropic", "dimension": 0}, "dimension = 0"),
        ({"kind": "isotropic", "dimension": 3, "rho": 0.5}, "rho = 0.5"),
        ({"kind": "autoregressive", "dimension": 3}, "rho = None"),
        ({"kind": "autoregressive", "dimension": 3, "rho": 1.0}, "rho = 1.0"),
        ({"kind": "autoregressive", "dimension": 3, "rho": -1.0}, "rho = -1.0"),
        ({"kind": "autoregressive", "dimension": 3, "rho": float("nan")}, "rho = nan"),
    ],
)
def test_unusable_arguments_are_refused_by_name(arguments, named):
    with pytest.raises(InputError, match=named):
        covariance_matrix(**arguments)


@pytest.mark.parametrize(
    ("matrix", "why"),
    [
        (np.ones((2, 3)), "square"),
        ([[1.0, 0.2], [0.3, 1.0]], "symmetric"),
        ([[1.0, 2.0], [2.0, 1.0]], "eigenvalue"),
        ([[1.0, np.nan], [np.nan, 1.0]], "finite"),
    ],
)
def test_matrices_that_are_no_covariance_are_refused(matrix, why):
    with pytest.raises(InputError, match=f"Gamma .*{why}"):
        checked_covariance("Gamma", matrix)


@pytest.mark.parametrize("rank", [1, 2, 4])
def test_square_root_squares_to_the_matrix_of_any_rank(rank):
    factor = np.random.default_rng(5).standard_normal((4, rank))
    Gamma = checked_covariance("Gamma", factor @ factor.T)
    root = square_root(Gamma)
    np.testing.assert_allclose(root @ root, Gamma, atol=1e-12)
    np.testing.assert_allclose(root, root.T, atol=1e-12)
