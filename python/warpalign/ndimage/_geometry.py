"""Transforms in array axes, as the library takes them."""

import numpy as np

MAX_AXES = 3  # that the library evaluates at once


def library_matrix(matrix, offset):
    """The 4 x 4 matrix on (x, y, z, 1) of a transform in array axes, row by row."""
    rows, last = matrix.tolist(), offset.tolist()
    n = len(last)
    whole = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    for i in range(n):
        start = 4 * (n - 1 - i)
        whole[start:start + n] = rows[i][::-1]
        whole[start + 3] = last[i]
    return whole


def library_homography(matrix):
    """The 4 x 4 matrix on (x, y, z, 1), row by row, of a 3 x 3 matrix on (row, column, 1)."""
    whole = np.zeros((4, 4))
    whole[2, 2] = 1
    whole[np.ix_([0, 1, 3], [0, 1, 3])] = matrix[np.ix_([1, 0, 2], [1, 0, 2])]
    return whole.ravel().tolist()


def axes_left_alone(matrix, offset, in_shape, out_shape):
    """The axes along which nothing is moved or mixed."""

    def is_alone(axis):
        row, column = matrix[axis], matrix[:, axis]
        return row[axis] == 1 and np.count_nonzero(row) == 1 == np.count_nonzero(column)

    return [
        axis
        for axis, start in enumerate(offset.tolist())
        if start == 0 and in_shape[axis] == out_shape[axis] and is_alone(axis)
    ]
