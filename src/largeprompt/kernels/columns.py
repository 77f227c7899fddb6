"""Small matrices times many columns, compiled: inner loops run over the columns."""

from largeprompt.kernels import compiled


@compiled
def multiply(matrix, columns, out):
    """out = matrix @ columns; the long axis is columns' last."""
    for i in range(out.shape[0]):
        for b in range(out.shape[1]):
            out[i, b] = 0
        for j in range(columns.shape[0]):
            for b in range(out.shape[1]):
                out[i, b] += matrix[i, j] * columns[j, b]


@compiled
def inner(left, right, out):
    """out[b] = sum over rows of left[:, b] right[:, b]."""
    for b in range(out.size):
        out[b] = 0
    for i in range(left.shape[0]):
        for b in range(out.size):
            out[b] += left[i, b] * right[i, b]


@compiled
def outer(pooled, inputs, out):
    """out (D, D) = pooled @ inputs^T, its last column zero: a query has no label."""
    for i in range(out.shape[0]):
        for j in range(inputs.shape[0]):
            total = 0.0
            for b in range(inputs.shape[1]):
                total += pooled[i, b] * inputs[j, b]
            out[i, j] = total
        out[i, -1] = 0


@compiled
def copy(source, out):
    """out = source, in the precision of out."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = source[i, j]


@compiled
def descend(weight, rate, slope):
    """weight -= rate slope, rounded to the precision of weight."""
    for i in range(weight.shape[0]):
        for j in range(weight.shape[1]):
            weight[i, j] -= rate * slope[i, j]
