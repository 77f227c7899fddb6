"""Compiled sums of the softmax risk over functions looked up in piecewise polynomials.

A table holds coefficients (DEGREE + 1, FUNCTIONS, cell), lowest power first, in t that runs from
-1 to 1 across a cell; cells are `1 / cells_per_unit` wide and start at zero. The functions are H,
Q_0 and Q_2 of rho (docs/derivations.md, equation 3.7).
"""

import numpy as np

from largeprompt.kernels import compiled

# Known to the compiler, which unrolls the loops over them: half the time.
DEGREE, FUNCTIONS = 5, 3


@compiled
def derivatives(rho, coefficients, cells_per_unit):
    """(3, FUNCTIONS, point): values, slopes and curvatures at `rho` (point,), within the table."""
    result = np.empty((3, FUNCTIONS, rho.size))
    for i in range(rho.size):
        cell, t = _place(rho[i], coefficients, cells_per_unit)
        for k in range(FUNCTIONS):
            value, slope, curvature = coefficients[DEGREE, k, cell], 0.0, 0.0
            for n in range(DEGREE - 1, -1, -1):
                curvature = curvature * t + slope
                slope = slope * t + value
                value = value * t + coefficients[n, k, cell]
            result[0, k, i] = value
            result[1, k, i] = slope * 2 * cells_per_unit
            result[2, k, i] = curvature * 2 * (2 * cells_per_unit) ** 2
    return result


@compiled
def gradient_moments(rho, m, n, y, powers, coefficients, cells_per_unit):
    """The moments of u, per task, that the gradient of H m^2 + Q_0 n + 2 Q_2 m y is made of.

    Sums over queries of half the slope in m times u, Q_2 m u, Q_0, and the slope in rho times the
    distinct entries of u u^T. `rho`, `m`, `y` are (task, query), `n` is (task, 1); `powers` holds
    the weighted entries of 1, u and u u^T, each (entry, query).
    """
    tasks, queries = rho.shape
    one, u, squares = powers
    row = np.empty((4, queries))  # one array: of four, the compiler would doubt that they differ
    by_mean, by_target = np.empty((tasks, len(u))), np.empty((tasks, len(u)))
    variance, by_rho = np.empty((tasks, 1)), np.empty((tasks, len(squares)))
    for i in range(tasks):
        for j in range(queries):
            cell, t = _place(rho[i, j], coefficients, cells_per_unit)
            H, slope_H = _value_and_slope(0, cell, t, coefficients)
            Q_0, slope_0 = _value_and_slope(1, cell, t, coefficients)
            Q_2, slope_2 = _value_and_slope(2, cell, t, coefficients)
            mean, target = m[i, j], y[i, j]
            row[0, j], row[1, j], row[2, j] = H * mean + Q_2 * target, Q_2 * mean, Q_0
            slope = (slope_H * mean + 2 * slope_2 * target) * mean + slope_0 * n[i, 0]
            row[3, j] = slope * 2 * cells_per_unit
        _sums(row[0], u, by_mean[i])
        _sums(row[1], u, by_target[i])
        _sums(row[2], one, variance[i])
        _sums(row[3], squares, by_rho[i])
    return by_mean, by_target, variance, by_rho


@compiled
def _sums(factors, entries, result):
    """Write entries (entry, query) @ factors (query,) to `result`."""
    for k in range(len(entries)):
        total = 0.0
        for j in range(factors.size):
            total += factors[j] * entries[k, j]
        result[k] = total


@compiled
def _place(rho, coefficients, cells_per_unit):
    """The cell of a point and its t there."""
    position = rho * cells_per_unit
    cell = min(int(position), coefficients.shape[2] - 1)
    return cell, 2 * (position - cell) - 1


@compiled
def _value_and_slope(function, cell, t, coefficients):
    """At one point, the slope in t."""
    value, slope = coefficients[DEGREE, function, cell], 0.0
    for n in range(DEGREE - 1, -1, -1):
        slope = slope * t + value
        value = value * t + coefficients[n, function, cell]
    return value, slope
