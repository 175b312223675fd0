"""Order 0: exact copies of the nearest samples, and of SciPy's choice if two are equally near.

Coordinates are computed in double precision and rounded as in SciPy. If a transform is separable,
the host selects the samples axis by axis.
"""

import sys

import numpy as np

from .. import _core
from .._arrays import store
from .._errors import OutOfMemoryError
from ._geometry import MAX_AXES, library_homography, library_matrix

# The types as which the device copies elements, by their sizes in bytes.
_CARRIERS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.float64}

# Number of points whose coordinates the host computes at once; bounds temporary memory.
_BLOCK = 1 << 18


def _without_periods(x, period):
    """x minus its whole periods, rounded towards zero."""
    return x - period * np.trunc(x / period)


def _located_below(x, n, mode):
    """Map coordinates below 0 to [0, n - 1], or to at most half a sample outside of it."""
    if n == 1:
        return np.zeros_like(x)
    if mode == "mirror":
        at = _without_periods(x, 2.0 * n - 2)
        return np.where(at <= 1 - n, at + (2 * n - 2), -at)
    if mode == "reflect":
        at = np.where(x < -2 * n, _without_periods(x, 2.0 * n), x)
        # Just below 0, -at - 1 would round to -1, which stands for a point outside.
        return np.where(at < -n, at + 2 * n, np.where(at > -1e-15, 1e-15, -at) - 1)
    if mode == "wrap":
        return x + (n - 1) * (np.trunc(-x / (n - 1)) + 1)
    return x + n * (np.trunc((-1 - x) / n) + 1)


def _located_above(x, n, mode):
    """Map coordinates above n - 1 in the same way."""
    if n == 1:
        return np.zeros_like(x)
    if mode == "mirror":
        at = _without_periods(x, 2.0 * n - 2)
        return np.where(at >= n, 2 * n - 2 - at, at)
    if mode == "reflect":
        at = _without_periods(x, 2.0 * n)
        return np.where(at >= n, 2 * n - at - 1, at)
    return _without_periods(x, float(n - 1 if mode == "wrap" else n))


def nearest_samples(coordinates, length, mode):
    """Return the index of the nearest sample for each coordinate; -1: the value beyond the edges.

    The axis has `length` samples, and `mode` is the library's name. A NaN gives the first sample in
    the mode 'nearest', as in SciPy, and the value beyond the edges in other modes.
    """
    at = np.array(coordinates, np.float64)
    if mode == "nearest":
        at = np.clip(np.nan_to_num(at, nan=0.0, posinf=length, neginf=-1.0), -1, length)
    elif mode == "grid-constant":
        at = np.clip(np.nan_to_num(at, nan=-1.0, posinf=length, neginf=-1.0), -1, length)
    else:
        at[~np.isfinite(at)] = -1 if mode == "constant" else np.nan
        below, above = at < 0, at > length - 1
        if mode == "constant":
            at[below | above] = np.nan
        else:
            at[below] = _located_below(at[below], length, mode)
            at[above] = _located_above(at[above], length, mode)
    is_located = ~np.isnan(at)
    if mode not in ("nearest", "grid-constant"):
        is_located &= at > -1
    index = np.floor(np.where(is_located, at, -1.0) + 0.5).astype(np.int64)
    if mode == "grid-constant":
        is_located &= (index >= 0) & (index < length)
    elif mode == "nearest":
        index = np.clip(index, 0, length - 1)
    elif mode == "reflect":
        index = np.where(index < 0, -1 - index, index)
        index = np.where(index >= length, 2 * length - 1 - index, index)
    elif mode == "grid-wrap":
        index %= length
    elif length == 1:
        index[:] = 0
    else:
        index = np.abs(index)
        index = np.where(index >= length, 2 * length - 2 - index, index)
    index[~is_located] = -1
    return index


def _converted(values, dtype):
    """Convert values to another type as SciPy does, but integers without the detour of float64."""
    if values.dtype == dtype:
        return values
    if values.dtype.kind in "iu" and dtype.kind in "iu":
        limits, given = np.iinfo(dtype), np.iinfo(values.dtype)
        return np.clip(values, max(limits.min, given.min), min(limits.max, given.max)).astype(dtype)
    if values.dtype.kind == "b" and dtype.kind in "iuf":
        return values.astype(dtype)
    result = np.empty(values.shape, dtype)
    store(values if values.dtype.kind == "f" else values.astype(np.float64), result)
    return result


def _outside(cval, dtype):
    """The value beyond the edges, as an array of one element of the output's type."""
    fill = np.empty(1, dtype)
    with np.errstate(over="ignore"):
        store(np.array([cval], np.float64), fill)
    return fill


def _taken(array, index, axis):
    if len(index) and np.array_equal(index, np.arange(index[0], index[0] + len(index))):
        return array[(slice(None),) * axis + (slice(index[0], index[0] + len(index)),)]
    return np.take(array, index, axis)


def copy_along_axes(source, coordinates, output, spline):
    """Store the samples nearest to a grid of points in `output`, given each axis' coordinates."""
    indices = [nearest_samples(along, length, spline.mode)
               for along, length in zip(coordinates, source.shape)]
    inside = [np.flatnonzero(index >= 0) for index in indices]
    # Coordinates along an axis are monotonic, so the inner ones are contiguous.
    part = tuple(slice(at[0], at[-1] + 1) if len(at) else slice(0, 0) for at in inside)
    if any(len(at) < output.shape[axis] for axis, at in enumerate(inside)):
        output[...] = _outside(spline.cval, output.dtype)
    indices = [index[along] for index, along in zip(indices, part)]
    shrinks_first = np.argsort([len(index) / n for index, n in zip(indices, source.shape)])
    values = source
    for axis in shrinks_first:
        values = _taken(values, indices[axis], axis)
    output[part] = _converted(values, output.dtype)


def is_separable(matrix):
    return np.array_equal(matrix, np.diag(np.diagonal(matrix)))


def copy_affine(source, matrix, offset, output, spline):
    """Store the samples nearest to matrix @ index + offset in `output`, of the source's rank."""
    if is_separable(matrix):
        along = [start + np.arange(n) * scale
                 for start, scale, n in zip(offset, np.diagonal(matrix), output.shape)]
        return copy_along_axes(source, along, output, spline)
    scaled = [axis for axis in range(source.ndim)
             if np.count_nonzero(matrix[axis]) == 1 == np.count_nonzero(matrix[:, axis])
             and matrix[axis, axis] != 0]
    mixed = [axis for axis in range(source.ndim) if axis not in scaled]
    if len(mixed) > MAX_AXES:
        raise NotImplementedError(
            f"a transform that mixes more than {MAX_AXES} axes is not supported by warpalign "
            f"(this one mixes {len(mixed)}: {mixed})")
    if scaled:
        shape = [output.shape[axis] if axis in scaled else n for axis, n in enumerate(source.shape)]
        along = [offset[axis] + np.arange(n) * (matrix[axis, axis] if axis in scaled else 1)
                 if axis in scaled else np.arange(n) for axis, n in enumerate(shape)]
        between = np.empty(shape, output.dtype)
        copy_along_axes(source, along, between, spline)
        source = between
    values = _converted(np.moveaxis(source, mixed, range(source.ndim - len(mixed), source.ndim)),
                        output.dtype)
    lengths = tuple(output.shape[axis] for axis in mixed)
    batch = np.ascontiguousarray(values).reshape((-1,) + values.shape[values.ndim - len(mixed):])
    matrix, offset = matrix[np.ix_(mixed, mixed)], offset[mixed]
    copied = _copied(batch, matrix, offset, None, lengths, spline)
    copied = copied.reshape(values.shape[:values.ndim - len(mixed)] + lengths)
    output[...] = np.moveaxis(copied, range(source.ndim - len(mixed), source.ndim), mixed)


def copy_at_points(source, coordinates, output, spline):
    """Store the samples nearest to coordinates[:, index] in `output`."""
    batch = np.ascontiguousarray(_converted(source, output.dtype))[np.newaxis]
    points = np.ascontiguousarray(coordinates, np.float64).reshape(source.ndim, -1)
    copied = _copied(batch, None, None, points, (points.shape[1],), spline)
    output[...] = copied.reshape(output.shape)


def copy_homography(source, matrix, output, spline):
    """Store the samples nearest to matrix @ (row, column, 1), dehomogenized, in `output`.

    The matrix transforms the first two axes; further axes form a batch.
    """
    values = _converted(np.moveaxis(source, (0, 1), (-2, -1)), output.dtype)
    batch = np.ascontiguousarray(values).reshape((-1,) + source.shape[:2])
    copied = _copied(batch, np.asarray(matrix, np.float64), None, None, output.shape[:2], spline)
    copied = copied.reshape(values.shape[:-2] + output.shape[:2])
    output[...] = np.moveaxis(copied, (-2, -1), (0, 1))


def bits_outside(cval, dtype):
    """The bits of the value beyond the edges as the lowest bytes of an integer."""
    return int.from_bytes(_outside(cval, dtype).tobytes(), sys.byteorder)


def _copied(batch, matrix, offset, points, lengths, spline):
    """Copy the samples of a batch that are nearest to transformed indices, or to points.

    If the offset is None, the matrix is a homography.
    """
    carrier = _CARRIERS.get(batch.dtype.itemsize)
    if spline.device.info.double_precision and carrier is not None:
        result = np.empty((batch.shape[0],) + tuple(lengths), batch.dtype)
        model = (0, True, spline.mode, 0, bits_outside(spline.cval, batch.dtype))
        try:
            if points is not None:
                _core.evaluate_double(
                    spline.device, batch[0].view(carrier), np.ascontiguousarray(points[::-1]),
                    result[0].view(carrier), *model)
            else:
                whole = (library_homography(matrix) if offset is None
                         else library_matrix(matrix, offset))
                _core.transform_double(spline.device, batch.view(carrier), result.view(carrier),
                                       whole, *model)
            return result
        except OutOfMemoryError:
            pass  # the host has the memory
    return _copied_by_host(batch, matrix, offset, points, lengths, spline)


def _copied_by_host(batch, matrix, offset, points, lengths, spline):
    outside = _outside(spline.cval, batch.dtype)
    count = batch.shape[0]
    result = np.empty((count, int(np.prod(lengths))), batch.dtype)
    flat = batch.reshape(count, -1)
    for start in range(0, result.shape[1], _BLOCK):
        stop = min(start + _BLOCK, result.shape[1])
        if points is not None:
            at = points[:, start:stop]
        else:
            along = np.unravel_index(np.arange(start, stop), lengths)
            if offset is None:
                at = list(_transformed(matrix[:, :2], matrix[:, 2], along))
                at = [coordinate / at[2] for coordinate in at[:2]]
            else:
                at = _transformed(matrix, offset, along)
        position, is_inside = np.zeros(stop - start, np.int64), np.ones(stop - start, bool)
        for coordinates, n in zip(at, batch.shape[1:]):
            index = nearest_samples(coordinates, n, spline.mode)
            is_inside &= index >= 0
            position = position * n + index
        position[~is_inside] = 0
        result[:, start:stop] = np.where(is_inside, flat[:, position], outside)
    return result.reshape((count,) + tuple(lengths))


def _transformed(matrix, offset, indices):
    """Yield the rows of matrix @ indices + offset, summed in SciPy's order."""
    for row, start in zip(matrix, offset):
        at = np.full(len(indices[0]), start)
        for scale, along in zip(row, indices):
            at += along * scale
        yield at
