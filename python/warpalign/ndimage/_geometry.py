"""Conversion of transforms in array axes to the library's matrices."""

import numpy as np

MAX_AXES = 3  # the most axes that the library transforms at once


def library_matrix(matrix, offset):
    """Convert a transform in array axes to a 4 x 4 matrix for (x, y, z, 1), row by row."""
    rows, last = matrix.tolist(), offset.tolist()
    n = len(last)
    whole = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    for i in range(n):
        start = 4 * (n - 1 - i)
        whole[start:start + n] = rows[i][::-1]
        whole[start + 3] = last[i]
    return whole


def library_homography(matrix):
    """Convert a 3 x 3 matrix for (row, column, 1) to a 4 x 4 one for (x, y, z, 1), row by row."""
    whole = np.zeros((4, 4))
    whole[2, 2] = 1
    whole[np.ix_([0, 1, 3], [0, 1, 3])] = matrix[np.ix_([1, 0, 2], [1, 0, 2])]
    return whole.ravel().tolist()


def unchanged_axes(matrix, offset, in_shape, out_shape):
    """The axes that a transform neither moves nor mixes with others."""

    def is_identity(axis):
        row, column = matrix[axis], matrix[:, axis]
        return row[axis] == 1 and np.count_nonzero(row) == 1 == np.count_nonzero(column)

    return [
        axis
        for axis, start in enumerate(offset.tolist())
        if start == 0 and in_shape[axis] == out_shape[axis] and is_identity(axis)
    ]
