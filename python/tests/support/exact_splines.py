"""Interpolating splines in extended precision, by solving for coefficients with a matrix.

This shares no code or method with the library, whose prefilter is recursive.
"""

import numpy as np

EXTENDED = np.longdouble


def b_spline(order, x):
    """The centred B-spline at an array of points, by the recursion of Cox and de Boor."""
    x = np.asarray(x, EXTENDED) + EXTENDED(order + 1) / 2  # knots at 0, 1, ..., order + 1
    pieces = [((x >= k) & (x < k + 1)).astype(EXTENDED) for k in range(order + 1)]
    for degree in range(1, order + 1):
        pieces = [((x - k) * pieces[k] + (k + degree + 1 - x) * pieces[k + 1]) / degree
                  for k in range(order + 1 - degree)]
    return pieces[0]


def _sample(index, length, mode):
    """The sample that extends an axis at an index beyond its ends."""
    if mode == "grid-wrap":
        return index % length
    if mode == "reflect":
        index %= 2 * length
        return min(index, 2 * length - 1 - index)
    index %= max(1, 2 * length - 2)  # mirror
    return min(index, 2 * length - 2 - index)


def matrix_of(points, length, order, mode):
    """The matrix that maps the coefficients of an axis to the values at points."""
    matrix = np.zeros((len(points), length), EXTENDED)
    for row, point in zip(matrix, points):
        for index in range(int(point) - order - 2, int(point) + order + 3):
            row[_sample(index, length, mode)] += b_spline(order, EXTENDED(point) - index)
    return matrix


def coefficients(lines, order, mode):
    """The coefficients along the first axis, refined until the error is that of the type."""
    matrix = matrix_of(range(len(lines)), len(lines), order, mode)
    inverse = np.linalg.inv(matrix.astype(np.float64))
    result = np.zeros(lines.shape, EXTENDED)
    for _ in range(4):
        rest = lines - np.tensordot(matrix, result, 1)
        result += np.tensordot(inverse, rest.astype(np.float64), 1)
    return result


def on_grid(array, coordinates, order, mode):
    """The spline's values on a grid of points, given the coordinates along each axis."""
    values = array.astype(EXTENDED)
    for axis, points in enumerate(coordinates):
        lines = np.moveaxis(values, axis, 0)
        lines = np.tensordot(matrix_of(points, len(lines), order, mode),
                             coefficients(lines, order, mode), 1)
        values = np.moveaxis(lines, 0, axis)
    return values
