"""Sums of exponential weights: grids, drawn tokens, random problems, statistics of an image."""

import numpy as np
import pytest
from scipy.integrate import quad

from largeprompt.errors import InputError
from largeprompt.gaussian_image import image_statistics
from largeprompt.random_operators import random_problem
from largeprompt.seeding import stream
from largeprompt.tilting import cube_points, gaussian_points, sampled_tilted_mean, sign_points


def test_grid_gives_the_tilted_mean_that_adaptive_quadrature_gives():
    mean, variance, a = 0.7, 1.9, 0.8

    def integral(power: int) -> float:
        density = lambda x: x**power * np.exp(a * x - (x - mean) ** 2 / (2 * variance))  # noqa: E731
        return quad(density, -30, 30, points=[mean, mean + a * variance], epsabs=0, limit=200)[0]

    points = gaussian_points(np.array([mean]), np.array([[variance]]), 2.0)
    found = points.tilted_mean(np.array([a]))
    assert found == pytest.approx(integral(1) / integral(0), rel=1e-10)


def test_grid_of_a_singular_law_stays_on_its_support():
    Gamma = np.outer([1.0, 2.0], [1.0, 2.0])
    points = gaussian_points(np.zeros(2), Gamma, 1.0)
    np.testing.assert_allclose(points.points @ [2.0, -1.0], 0, atol=1e-12)


def test_grid_refuses_more_than_three_dimensions():
    with pytest.raises(InputError, match="dimension = 4"):
        gaussian_points(np.zeros(4), np.eye(4), 1.0)


def test_signs_and_cube_bend_like_tanh_and_langevin():
    a = np.array([[0.3, -1.2], [0.0, 2.0]])
    np.testing.assert_allclose(sign_points(2).tilted_mean(a), np.tanh(a), atol=1e-14)
    c, one = np.sqrt(3), np.array([[0.9]])
    langevin = c / np.tanh(c * 0.9) - 1 / 0.9
    np.testing.assert_allclose(cube_points(1).tilted_mean(one), [[langevin]], rtol=1e-12)


def test_image_of_points_moves_the_law():
    matrix, shift = np.array([[1.0, 2.0]]), np.array([0.5])
    moved = sign_points(2).image(matrix, shift)
    np.testing.assert_allclose(sorted(moved.points[:, 0]), [-2.5, -0.5, 1.5, 3.5])


def test_sampling_error_has_the_stated_size():
    """400 repetitions: the mean of the squared z score is 1 within 5 of its standard errors."""
    mean, Gamma, a = np.array([0.5, 0.0]), np.array([[1.0, 0.3], [0.3, 0.5]]), np.array([0.6, 0.4])
    exact = gaussian_points(mean, Gamma, 2.0).tilted_mean(a)
    scores = []
    for i in range(400):
        value, covariance = sampled_tilted_mean(stream(1, "tilting", i), mean, Gamma, a, 2000)
        scores.append((value - exact) / np.sqrt(np.diag(covariance)))
    assert np.mean(np.square(scores)) == pytest.approx(1, abs=5 * np.sqrt(2 / 400))


@pytest.mark.parametrize(("dimension", "rank"), [(1, 1), (5, 2), (8, 8)])
def test_random_problem_has_the_rank_and_scale_asked_for(dimension, rank):
    problem = random_problem(stream(2, "problem", dimension), dimension, rank, 0.7)
    assert np.linalg.matrix_rank(problem.Gamma) == rank
    assert problem.tilt @ problem.Gamma @ problem.tilt == pytest.approx(0.49)
    assert problem.V.shape[1] == dimension
    assert problem.affine.shape == problem.uncentred.shape == (len(problem.V),)


def test_image_statistics_accept_a_gaussian_and_reject_wrong_laws():
    """Nine z scores: 4.5 is passed by chance with probability 1e-4."""
    rng, covariance = stream(3, "image"), np.array([[2.0, 0.5], [0.5, 1.0]])
    mean = np.array([1.0, -1.0])
    sample = mean + rng.standard_normal((3000, 2)) @ np.linalg.cholesky(covariance).T
    assert image_statistics(sample, mean, covariance, 4)["z_score"].abs().max() < 4.5
    shifted = image_statistics(sample + 0.3, mean, covariance, 4).groupby("quantity")["z_score"]
    assert shifted.max()["mean"] > 8
    bent = image_statistics(np.tanh(sample), mean, covariance, 4).groupby("quantity")["z_score"]
    assert bent.max()["normality"] > 8
    stretched = image_statistics(sample, mean, 1.5 * covariance, 4).groupby("quantity")["z_score"]
    assert stretched.min()["covariance"] < -8
