"""Evaluates splines of large arrays piece by piece, each of which fits into the device's memory.

A piece of the output reads the part of the input that encloses its points and their footprints, and
the samples around them that the prefilter needs.
"""

import math

import numpy as np

from .. import _core

# The number of samples at which the prefilter's impulse response falls from 2^-25, where
# tile_for_points() ends, below 2^-55, for each order: the largest pole to this power is 2^-30.
_FURTHER = (0, 0, 12, 16, 21, 25)
_BYTES = 8  # of a number in double precision


def fits(device, samples, outputs, axes=0):
    """Whether an input and an output of these sizes, and points of `axes` coordinates, fit.

    The library holds the input, its coefficients, and on GPUs the results between the axes.
    """
    return _BYTES * (4 * samples + (1 + axes) * outputs) <= _core.max_device_memory(device)


def _part(shape, low, high, reach, spline):
    """The part of the input that the points from `low` to `high` read, as a Tile."""
    from .._tiles import tile_for_points

    reach = np.asarray(reach) + (_FURTHER[spline.order] if spline.prefilter else 0)
    return tile_for_points(shape, spline.order, spline.prefilter, spline.mode, low - reach,
                           high + reach)


def _regions(region, part_of, fits_into_memory):
    """Yield regions that fit, and the parts of the input that they read."""
    part = part_of(region)
    lengths = [piece.stop - piece.start for piece in region]
    samples = math.prod(piece.stop - piece.start for piece in part.input)
    if fits_into_memory(samples, math.prod(lengths)) or max(lengths) == 1:
        yield region, part
        return
    axis = int(np.argmax(lengths))
    middle = region[axis].start + lengths[axis] // 2
    for half in (slice(region[axis].start, middle), slice(middle, region[axis].stop)):
        yield from _regions(region[:axis] + (half,) + region[axis + 1:], part_of, fits_into_memory)


def _in_pieces(spline, result, part_of, fits_into_memory, evaluate):
    """Fill the result with evaluate(region, part of the input, spline of the part)."""
    from dataclasses import replace

    whole = tuple(slice(0, n) for n in result.shape)
    for region, part in _regions(whole, part_of, fits_into_memory):
        if part.outside:
            result[region] = spline.cval
        else:
            result[region] = evaluate(region, part, replace(spline, mode=part.mode))
    return result


def _homogeneous(matrix, offset):
    n = len(matrix)
    whole = np.eye(n + 1)
    whole[:n, :n], whole[:n, n] = matrix, offset
    return whole


def _reach_of(step, n):
    """How far a footprint reaches along any axis if the largest step is `step` samples."""
    sigma = max(0.0, (step - 1) / 2)
    return math.sqrt(n) * (4 * sigma + 1)


def transformed(array, matrix, shape, spline, dtype, evaluate):
    """Return array(matrix @ output), computed piece by piece, for a homogeneous matrix that may be
    projective. Calls evaluate(part of the array, matrix, shape, spline) for each piece."""
    n = array.ndim
    result = np.empty(shape, dtype)

    def part_of(region):
        corners = np.array(np.meshgrid(*[[piece.start, piece.stop - 1] for piece in region],
                                       indexing="ij")).reshape(n, -1)
        mapped = matrix @ np.concatenate([corners, np.ones((1, corners.shape[1]))])
        divisors = mapped[n]
        if divisors.min() <= 0 <= divisors.max():
            return _part(array.shape, np.full(n, -np.inf), np.full(n, np.inf), 0, spline)
        points = mapped[:n] / divisors
        reach = 0.0
        if spline.antialias:
            # The Jacobian's numerators are linear in the output's coordinates.
            rows = matrix[:n, :n, np.newaxis] * divisors - (
                matrix[n, :n][:, np.newaxis] * mapped[:n, np.newaxis])
            largest = np.abs(rows).max(axis=-1) / np.abs(divisors).min() ** 2
            reach = _reach_of(np.linalg.norm(largest), n)
        return _part(array.shape, points.min(axis=1), points.max(axis=1), reach, spline)

    def on_piece(region, part, part_spline):
        to_part = np.vstack([part.matrix, np.eye(n + 1)[n]])
        start = _homogeneous(np.eye(n), [piece.start for piece in region])
        lengths = tuple(piece.stop - piece.start for piece in region)
        return evaluate(part.take(array), to_part @ matrix @ start, lengths, part_spline)

    return _in_pieces(spline, result, part_of,
                      lambda samples, outputs: fits(spline.device, samples, outputs), on_piece)


def at_points(array, points, spline, evaluate):
    """Return array(points), computed piece by piece, for points in double precision of shape
    (rank, ...). Calls evaluate(part of the array, points, spline) for each piece."""
    n = array.ndim
    border = 1 if spline.antialias else 0  # footprints need the neighbours of each point
    limits = points.shape[1:]

    def grown(region):
        return tuple(slice(max(piece.start - border, 0), min(piece.stop + border, limit))
                     for piece, limit in zip(region, limits))

    def part_of(region):
        inner = points[(slice(None),) + grown(region)]
        rows = inner.reshape(n, -1)
        reach = 0.0
        if spline.antialias:
            with np.errstate(invalid="ignore"):
                steps = [np.nanmax(np.abs(np.diff(inner, axis=axis + 1)), initial=0)
                         for axis in range(len(limits))]
            reach = _reach_of(math.sqrt(n) * math.hypot(*steps), n)
        missing = np.isnan(rows).any(axis=0)
        if missing.any():
            rows = np.zeros((n, 1)) if missing.all() else rows[:, ~missing]
        return _part(array.shape, rows.min(axis=1), rows.max(axis=1), reach, spline)

    def on_piece(region, part, part_spline):
        around = grown(region)
        moved = np.stack([part.matrix[axis, axis] * along + part.matrix[axis, n]
                          for axis, along in enumerate(points[(slice(None),) + around])])
        values = evaluate(part.take(array), moved, part_spline)
        return values[tuple(slice(piece.start - outer.start, piece.stop - outer.start)
                            for piece, outer in zip(region, around))]

    return _in_pieces(spline, np.empty(limits), part_of,
                      lambda samples, outputs: fits(spline.device, samples, outputs, n), on_piece)
