"""What the tests of sections 1 and 2 sum over, and the problem in two dimensions they share."""

import math

import numpy as np

GAMMA = np.array([[1.0, 0.4], [0.4, 0.8]])
U = np.array([[0.6, -0.4], [0.3, 0.7]])
V = np.array([[1.0, 0.3], [-0.5, 0.8], [0.2, -0.9]])
S = np.array([[0.9, -0.3], [-0.3, 0.6]])


def normal_grid(dimension, step, reach):
    """Points (point, dimension) and masses of N(0, I), of a trapezoidal rule."""
    axis = step * np.arange(-round(reach / step), round(reach / step) + 1)
    points = np.stack(np.meshgrid(*[axis] * dimension, indexing="ij"), -1).reshape(-1, dimension)
    density = np.exp(-np.sum(points**2, -1) / 2) / (2 * math.pi) ** (dimension / 2)
    return points, step**dimension * density


def softmax(scores):
    weights = np.exp(scores)
    return weights / weights.sum(-1, keepdims=True)


def root(matrix):
    values, basis = np.linalg.eigh(matrix)
    return basis * np.sqrt(values) @ basis.T
