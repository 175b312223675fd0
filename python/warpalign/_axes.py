"""Homogeneous matrices in array axes, (row, column, 1), and in (x, y, 1)."""

import numpy as np


def swap_axes(matrix):
    """Convert a homogeneous matrix between (x, y, 1) and (row, column, 1), or (x, y, z, 1) and
    (plane, row, column, 1)."""
    matrix = np.asarray(matrix)
    order = [*range(len(matrix) - 2, -1, -1), len(matrix) - 1]
    return matrix[np.ix_(order, order)]


def embedded(matrix, ndim):
    """Extend a transform of the first axes to `ndim` axes, of which the others stay."""
    first = len(matrix) - 1
    whole = np.eye(ndim + 1)
    whole[:first, :first] = matrix[:-1, :-1]
    whole[:first, -1] = matrix[:-1, -1]
    return whole
