"""Token laws: how they sample, and their log moment generating function with two derivatives.

The infinite-prompt operator needs nothing else: under the law `mu` the weights `exp(<z', a>)`
turn the mean into the gradient of `log E exp(<X, a>)` and the covariance into its Hessian.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import torch
from scipy.special import zeta
from torch import Tensor

from largeprompt.errors import InputError

# Relative asymmetry and negative eigenvalues up to this size are taken for rounding.
_ROUNDING = 1e-10


def _finite(name: str, value: Any, axes: int) -> Tensor:
    """Float64 copy of `value`; InputError unless it is finite and has `axes` axes."""
    kind = f"an array of numbers with {axes} axes" if axes else "a number"
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name}: is {value!r}, must be {kind}") from None
    if array.ndim != axes or array.size == 0:
        raise InputError(f"{name}: has shape {array.shape}, must be {kind}")
    if not np.isfinite(array).all():
        raise InputError(f"{name}: holds nan or infinity, every entry must be finite")
    return torch.from_numpy(array)


def _covariance(name: str, value: Any, dim: int) -> Tensor:
    """Symmetric positive semi-definite (dim, dim) matrix; InputError otherwise."""
    matrix = _finite(name, value, 2)
    if matrix.shape != (dim, dim):
        raise InputError(f"{name}: has shape {tuple(matrix.shape)}, must be {(dim, dim)}")
    size = matrix.abs().max()
    if (matrix - matrix.mT).abs().max() > _ROUNDING * size:
        raise InputError(f"{name}: is not symmetric, a covariance must be")
    symmetric = (matrix + matrix.mT) / 2
    lowest = float(torch.linalg.eigvalsh(symmetric)[0])
    if lowest < -_ROUNDING * size:
        raise InputError(f"{name}: has eigenvalue {lowest:.3g}, must be positive semi-definite")
    return symmetric


def _natural(name: str, value: Any) -> int:
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
        raise InputError(f"{name}: is {value!r}, must be a whole number of at least 1")
    return int(value)


def _square_root(matrix: Tensor) -> Tensor:
    """Symmetric square root: unlike a Cholesky factor, unique also where `matrix` is singular."""
    values, vectors = torch.linalg.eigh(matrix)
    # The root of an eigenvalue that is rounding alone would be 1e8 times larger than rounding.
    noise = values[-1] * len(values) * torch.finfo(values.dtype).eps
    roots = torch.where(values > noise, values, 0.0).sqrt()
    return (vectors * roots) @ vectors.mT


def _image_covariance(matrix: Tensor, covariance: Tensor) -> Tensor:
    """`matrix covariance matrix^T`, positive semi-definite also where the product cancels."""
    factor = matrix @ _square_root(covariance)
    return factor @ factor.mT


def _top_eigenvalue(matrix: Tensor) -> float:
    return max(float(torch.linalg.eigvalsh(matrix).max()), 0.0)


class TokenLaw(ABC):
    """Law of one token X in R^dim.

    A new law gives `dim`, `sub_gaussian` and the four abstract methods. `sub_gaussian` is the
    smallest proven sigma with `log E exp(<X - E X, a>) <= sigma^2 |a|^2 / 2` for all a.
    """

    dim: int
    sub_gaussian: float

    @abstractmethod
    def sample(self, rng: np.random.Generator, *shape: int) -> Tensor:
        """Independent tokens, float64 (*shape, dim)."""

    @abstractmethod
    def log_mgf(self, a: Tensor) -> Tensor:
        """`log E exp(<X, a>)`: (..., dim) -> (...)."""

    @abstractmethod
    def tilted_mean(self, a: Tensor) -> Tensor:
        """Gradient of `log_mgf`, the mean under weights `exp(<x, a>)`: (..., dim)."""

    @abstractmethod
    def tilted_covariance(self, a: Tensor) -> Tensor:
        """Hessian of `log_mgf`, the covariance under weights `exp(<x, a>)`: (..., dim, dim)."""

    @cached_property
    def mean(self) -> Tensor:
        """(dim,)"""
        return self.tilted_mean(torch.zeros(self.dim))

    @cached_property
    def covariance(self) -> Tensor:
        """(dim, dim)"""
        return self.tilted_covariance(torch.zeros(self.dim))

    def linear_image(self, matrix: Any) -> "TokenLaw":
        """Law of `matrix @ X` for a (rows, dim) matrix."""
        return LinearImage(self, matrix)

    def _tilt(self, a: Tensor) -> Tensor:
        """`a` in float64; InputError unless its last axis has `dim` entries."""
        if a.ndim == 0 or a.shape[-1] != self.dim:
            raise InputError(f"a: has shape {tuple(a.shape)}, last axis must be {self.dim}")
        return a.to(torch.float64)

    def _image_matrix(self, matrix: Any) -> Tensor:
        checked = _finite("matrix", matrix, 2)
        if checked.shape[1] != self.dim:
            raise InputError(f"matrix: has {checked.shape[1]} columns, must have {self.dim}")
        return checked


@dataclass(frozen=True, eq=False)
class LinearImage(TokenLaw):
    """Law of `matrix @ X`.

    `sub_gaussian`: `|matrix^T a| <= |matrix| |a|`, and this is optimal if X has independent
    coordinates of equal variance and its parameter is its standard deviation (Rademacher, cube).
    """

    law: TokenLaw
    matrix: Tensor

    def __post_init__(self) -> None:
        object.__setattr__(self, "matrix", self.law._image_matrix(self.matrix))

    @property
    def dim(self) -> int:
        return self.matrix.shape[0]

    @cached_property
    def sub_gaussian(self) -> float:
        return self.law.sub_gaussian * float(torch.linalg.matrix_norm(self.matrix, ord=2))

    def sample(self, rng: np.random.Generator, *shape: int) -> Tensor:
        return self.law.sample(rng, *shape) @ self.matrix.mT

    def log_mgf(self, a: Tensor) -> Tensor:
        return self.law.log_mgf(self._tilt(a) @ self.matrix)

    def tilted_mean(self, a: Tensor) -> Tensor:
        return self.law.tilted_mean(self._tilt(a) @ self.matrix) @ self.matrix.mT

    def tilted_covariance(self, a: Tensor) -> Tensor:
        inner = self.law.tilted_covariance(self._tilt(a) @ self.matrix)
        return self.matrix @ inner @ self.matrix.mT

    def linear_image(self, matrix: Any) -> TokenLaw:
        return LinearImage(self.law, self._image_matrix(matrix) @ self.matrix)


@dataclass(frozen=True, eq=False)
class Gaussian(TokenLaw):
    """N(mean, covariance), the covariance possibly singular.

    `sub_gaussian`: the centred log mgf is `a^T covariance a / 2`, so the root of the largest
    eigenvalue is exact.
    """

    # field(): without it the inherited property would be taken for a default value.
    mean: Tensor = field()
    covariance: Tensor = field()

    def __post_init__(self) -> None:
        object.__setattr__(self, "mean", _finite("mean", self.mean, 1))
        checked = _covariance("covariance", self.covariance, self.dim)
        object.__setattr__(self, "covariance", checked)

    @property
    def dim(self) -> int:
        return self.mean.shape[0]

    @cached_property
    def sub_gaussian(self) -> float:
        return math.sqrt(_top_eigenvalue(self.covariance))

    @cached_property
    def _root(self) -> Tensor:
        return _square_root(self.covariance)

    def sample(self, rng: np.random.Generator, *shape: int) -> Tensor:
        normal = torch.from_numpy(rng.standard_normal((*shape, self.dim)))
        return self.mean + normal @ self._root

    def log_mgf(self, a: Tensor) -> Tensor:
        a = self._tilt(a)
        return a @ self.mean + (a @ self.covariance * a).sum(-1) / 2

    def tilted_mean(self, a: Tensor) -> Tensor:
        return self.mean + self._tilt(a) @ self.covariance

    def tilted_covariance(self, a: Tensor) -> Tensor:
        return self.covariance.expand(*self._tilt(a).shape, self.dim)

    def linear_image(self, matrix: Any) -> TokenLaw:
        matrix = self._image_matrix(matrix)
        return Gaussian(matrix @ self.mean, _image_covariance(matrix, self.covariance))


@dataclass(frozen=True, eq=False)
class ProductRademacher(TokenLaw):
    """Independent fair signs.

    `sub_gaussian`: `cosh x <= exp(x^2 / 2)` term by term; no smaller value than the standard
    deviation 1 is possible.
    """

    dim: int
    sub_gaussian = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "dim", _natural("dim", self.dim))

    def sample(self, rng: np.random.Generator, *shape: int) -> Tensor:
        bits = rng.integers(0, 2, (*shape, self.dim), dtype=np.int8)
        return torch.from_numpy(2.0 * bits - 1.0)

    def log_mgf(self, a: Tensor) -> Tensor:
        return _log_cosh(self._tilt(a)).sum(-1)

    def tilted_mean(self, a: Tensor) -> Tensor:
        return torch.tanh(self._tilt(a))

    def tilted_covariance(self, a: Tensor) -> Tensor:
        a = self._tilt(a)
        # 1 - tanh^2 as a product: the difference has no correct digit beyond |a| = 18.
        return torch.diag_embed(4 * torch.sigmoid(2 * a) * torch.sigmoid(-2 * a))


@dataclass(frozen=True, eq=False)
class UniformCube(TokenLaw):
    """Uniform on [-half_width, half_width]^dim.

    `sub_gaussian`: `sinh x / x <= exp(x^2 / 6)` term by term (6^n n! <= (2n + 1)!), so the
    standard deviation half_width / sqrt(3) is exact.
    """

    dim: int
    half_width: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "dim", _natural("dim", self.dim))
        width = float(_finite("half_width", self.half_width, 0))
        if width <= 0:
            raise InputError(f"half_width: is {width}, must be positive")
        object.__setattr__(self, "half_width", width)

    @property
    def sub_gaussian(self) -> float:
        return self.half_width / math.sqrt(3)

    def sample(self, rng: np.random.Generator, *shape: int) -> Tensor:
        return torch.from_numpy(rng.uniform(-self.half_width, self.half_width, (*shape, self.dim)))

    def log_mgf(self, a: Tensor) -> Tensor:
        return _log_sinhc(self.half_width * self._tilt(a)).sum(-1)

    def tilted_mean(self, a: Tensor) -> Tensor:
        return self.half_width * _langevin(self.half_width * self._tilt(a))

    def tilted_covariance(self, a: Tensor) -> Tensor:
        slope = _langevin_slope(self.half_width * self._tilt(a))
        return torch.diag_embed(self.half_width**2 * slope)


@dataclass(frozen=True, eq=False)
class GaussianMixture(TokenLaw):
    """`sum_k weights_k N(means_k, covariances_k)`; shapes (k,), (k, d), (k, d, d).

    `sub_gaussian`, an upper bound: given the component, X is Gaussian; the component means along
    a lie in an interval of length `max_ij <m_i - m_j, a>`, to which Hoeffding's lemma applies.
    It is exact for two equally likely components of one covariance.
    """

    weights: Tensor
    means: Tensor
    covariances: Tensor

    def __post_init__(self) -> None:
        weights = _finite("weights", self.weights, 1)
        means = _finite("means", self.means, 2)
        covariances = _finite("covariances", self.covariances, 3)
        if not len(weights) == len(means) == len(covariances):
            counts = (len(weights), len(means), len(covariances))
            raise InputError(f"weights, means, covariances: have {counts} components, must agree")
        total = float(weights.sum())
        if weights.min() <= 0 or abs(total - 1) > _ROUNDING:
            raise InputError(f"weights: sum to {total}, must be positive and sum to 1")
        checked = [
            _covariance(f"covariances[{k}]", matrix, means.shape[1])
            for k, matrix in enumerate(covariances)
        ]
        object.__setattr__(self, "weights", weights / total)
        object.__setattr__(self, "means", means)
        object.__setattr__(self, "covariances", torch.stack(checked))

    @property
    def dim(self) -> int:
        return self.means.shape[1]

    @cached_property
    def sub_gaussian(self) -> float:
        gaps = self.means[:, None] - self.means  # (k, k, d)
        between = gaps[..., :, None] * gaps[..., None, :] / 4  # (k, k, d, d)
        return math.sqrt(_top_eigenvalue(self.covariances[:, None, None] + between))

    def sample(self, rng: np.random.Generator, *shape: int) -> Tensor:
        edges = np.cumsum(self.weights.numpy())[:-1]
        component = np.searchsorted(edges, rng.random(shape), side="right")  # shape
        tokens = torch.from_numpy(rng.standard_normal((*shape, self.dim)))
        for k, (mean, covariance) in enumerate(zip(self.means, self.covariances, strict=True)):
            chosen = torch.from_numpy(np.asarray(component == k))
            tokens[chosen] = mean + tokens[chosen] @ _square_root(covariance)
        return tokens

    def log_mgf(self, a: Tensor) -> Tensor:
        return torch.logsumexp(self._log_masses(self._tilt(a)), -1)

    def tilted_mean(self, a: Tensor) -> Tensor:
        shares, means = self._components(self._tilt(a))
        return (shares[..., None] * means).sum(-2)

    def tilted_covariance(self, a: Tensor) -> Tensor:
        shares, means = self._components(self._tilt(a))
        gaps = means - (shares[..., None] * means).sum(-2, keepdim=True)  # (..., k, d)
        spread = self.covariances + gaps[..., :, None] * gaps[..., None, :]
        return (shares[..., None, None] * spread).sum(-3)

    def linear_image(self, matrix: Any) -> TokenLaw:
        matrix = self._image_matrix(matrix)
        covariances = torch.stack([_image_covariance(matrix, c) for c in self.covariances])
        return GaussianMixture(self.weights, self.means @ matrix.mT, covariances)

    def _log_masses(self, a: Tensor) -> Tensor:
        """Log of each component's part of the mgf: (..., k)."""
        quadratic = torch.einsum("...i,kij,...j->...k", a, self.covariances, a)
        return self.weights.log() + a @ self.means.mT + quadratic / 2

    def _components(self, a: Tensor) -> tuple[Tensor, Tensor]:
        """Under the tilt by `a`: shares (..., k) and means (..., k, d) of the components."""
        shares = torch.softmax(self._log_masses(a), -1)
        return shares, self.means + torch.einsum("kij,...j->...ki", self.covariances, a)


def _log_cosh(x: Tensor) -> Tensor:
    near, far = _split(x, 1.0)
    series = torch.log1p(2 * torch.sinh(near / 2) ** 2)
    return torch.where(x.abs() < 1, series, far + torch.log1p(torch.exp(-2 * far)) - math.log(2))


# log(sinh x / x) = sum_k log(1 + x^2 / (k pi)^2): coefficient of x^(2n), radius pi. Below |x| = 1/2
# twelve terms reach rounding, above it the closed forms lose at most two digits.
_SWITCH = 0.5
_SINHC = [(-1) ** (n + 1) * float(zeta(2 * n)) / (n * math.pi ** (2 * n)) for n in range(1, 13)]


def _log_sinhc(x: Tensor) -> Tensor:
    """log(sinh x / x)."""
    near, far = _split(x, _SWITCH)
    series = near**2 * _polynomial(_SINHC, near**2)
    closed = far + torch.log1p(-torch.exp(-2 * far)) - torch.log(2 * far)
    return torch.where(x.abs() < _SWITCH, series, closed)


def _langevin(x: Tensor) -> Tensor:
    """coth x - 1/x, the derivative of log(sinh x / x)."""
    near, far = _split(x, _SWITCH)
    series = near * _polynomial([2 * n * c for n, c in enumerate(_SINHC, 1)], near**2)
    decay = torch.exp(-2 * far)
    closed = torch.sign(x) * ((1 + decay) / (1 - decay) - 1 / far)
    return torch.where(x.abs() < _SWITCH, series, closed)


def _langevin_slope(x: Tensor) -> Tensor:
    """1/x^2 - 1/sinh^2 x, the second derivative of log(sinh x / x)."""
    near, far = _split(x, _SWITCH)
    coefficients = [2 * n * (2 * n - 1) * c for n, c in enumerate(_SINHC, 1)]
    decay = torch.exp(-2 * far)
    closed = 1 / far**2 - 4 * decay / (1 - decay) ** 2
    return torch.where(x.abs() < _SWITCH, _polynomial(coefficients, near**2), closed)


def _split(x: Tensor, switch: float) -> tuple[Tensor, Tensor]:
    """`x` below the switch and `|x|` above it, harmless elsewhere: an unused branch of
    `torch.where` still reaches the gradient if it overflows."""
    small = x.abs() < switch
    return torch.where(small, x, 0.0), torch.where(small, switch, x.abs())


def _polynomial(coefficients: list[float], x: Tensor) -> Tensor:
    """`sum_n coefficients[n] x^n` by Horner's rule."""
    total = torch.zeros_like(x)
    for coefficient in reversed(coefficients):
        total = total * x + coefficient
    return total
