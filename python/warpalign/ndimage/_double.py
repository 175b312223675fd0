"""Splines in double precision, if the caller requires it or single precision is not enough.

Single precision is not enough for integers beyond the 24 bits of float32; for coefficients that are
truncated to integers after each axis; and for a `cval` of NaN or infinity beyond the edges, which
SciPy filters like other samples.
"""

import math

import numpy as np

from .. import _core
from .._arrays import store
from ._geometry import library_matrix

MAX_EXACT = 1 << 24  # float32 holds all integers up to this one
# The number of samples that SciPy adds at both ends for modes whose extension it cannot filter.
_MARGIN = 12


def has_wide_integers(array):
    """Whether float32 would round a sample."""
    if array.dtype.kind not in "iu" or array.dtype.itemsize < 4 or array.size == 0:
        return False
    return int(array.max()) > MAX_EXACT or int(array.min()) < -MAX_EXACT


def check_device(device):
    """Raise ValueError if the device has no double precision, which the caller requires."""
    if not device.info.double_precision:
        raise ValueError(
            f"{device.id} does not support double precision; choose another device, or "
            "precision='single'")


def is_needed(source, spline):
    """Whether to compute in double precision. Raises ValueError if the device cannot."""
    if spline.precision == "double":
        check_device(spline.device)
        return True
    infinite = spline.mode == "grid-constant" and not math.isfinite(spline.cval)
    if not infinite and not has_wide_integers(source):
        return False
    device = spline.device
    if device.info.double_precision:
        return True
    if infinite:
        raise ValueError(
            f"cval must be finite with mode='grid-constant' on {device.id}, which does not support "
            "double precision")
    raise ValueError(
        f"the input has integers beyond {MAX_EXACT}, which single precision would round, and "
        f"{device.id} does not support double precision; convert the input to float32 to accept "
        "the rounding, or use order=0")


def _with_margin(samples, axes, spline):
    """The samples with the margin that SciPy filters, and its width at both ends of `axes`."""
    if not spline.prefilter or spline.order < 2 or spline.mode not in ("nearest", "grid-constant"):
        return samples, 0
    widths = [(_MARGIN, _MARGIN) if axis in axes else (0, 0) for axis in range(samples.ndim)]
    if spline.mode == "nearest":
        return np.pad(samples, widths, mode="edge"), _MARGIN
    return np.pad(samples, widths, constant_values=spline.cval), _MARGIN


def _bits(value):
    return int(np.float64(value).view(np.uint64))


def _steps_over_edge(along, start, scale, length):
    """Whether rounding moves a point of ``start + index * scale`` across an edge of the input."""
    rounded = start + np.arange(len(along)) * scale
    return not (np.array_equal(rounded < 0, along < 0)
                and np.array_equal(rounded > length - 1, along > length - 1))


def affine(source, groups, matrix, offset, along, out_shape, spline):
    """Return source(matrix @ index + offset), computed one group of axes after the other.

    `along`, if given, holds the coordinates of a separable transform for each axis, rounded as in
    SciPy.
    """
    values = source.astype(np.float64)
    matrix = matrix.copy()
    for axes in groups:
        at_points = False
        if along is not None and spline.mode in ("constant", "wrap"):  # they jump at the edges
            for axis in axes:
                axis_of = along[axis], offset[axis], matrix[axis, axis], source.shape[axis]
                if len(along[axis]) and _steps_over_edge(*axis_of):
                    # Mostly zoom, whose last point is rounded up. A smaller scale moves it back.
                    matrix[axis, axis] = np.nextafter(matrix[axis, axis], 0)
                    axis_of = along[axis], offset[axis], matrix[axis, axis], source.shape[axis]
                    at_points = at_points or _steps_over_edge(*axis_of)
        points = None
        if at_points:
            points = np.stack(np.meshgrid(*[along[axis] for axis in axes], indexing="ij"))
        values = _transform_axes(values, axes, matrix, offset, points, out_shape, spline)
    return values


def _transform_axes(values, axes, matrix, offset, points, out_shape, spline):
    values, margin = _with_margin(values, axes, spline)
    last = range(values.ndim - len(axes), values.ndim)
    moved = np.moveaxis(values, axes, last)
    others = moved.shape[:values.ndim - len(axes)]
    batch = np.ascontiguousarray(moved).reshape((-1,) + moved.shape[values.ndim - len(axes):])
    lengths = tuple(out_shape[axis] for axis in axes)
    result = np.empty((batch.shape[0],) + lengths)
    model = (spline.order, spline.prefilter, spline.mode, margin, _bits(spline.cval))
    if points is None:
        _core.transform_double(
            spline.device, batch, result, library_matrix(matrix[np.ix_(axes, axes)], offset[axes]),
            *model)
    else:
        rows = np.ascontiguousarray(points[::-1]).reshape(len(axes), -1)
        for array, array_result in zip(batch, result):
            _core.evaluate_double(spline.device, array, rows, array_result.reshape(-1), *model)
    return np.moveaxis(result.reshape(others + lengths), last, axes)


def _cropped(source, points, spline):
    """The part of the samples that the points read, and the points in that part.

    All samples are kept if a filter reads them, or if a point is beyond the edges.
    """
    if (spline.prefilter and spline.order > 1) or spline.mode in ("wrap", "grid-wrap"):
        return source, points
    lowest, highest = points.min(axis=1), points.max(axis=1)
    last = np.array(source.shape) - 1
    if not ((lowest >= 0) & (highest <= last)).all():
        return source, points
    first = np.maximum(np.floor(lowest).astype(np.int64) - spline.order, 0)
    last = np.minimum(np.floor(highest).astype(np.int64) + 1 + spline.order, last)
    part = source[tuple(slice(a, b + 1) for a, b in zip(first, last))]
    return part, points - first[:, np.newaxis]  # exact: no coordinate is below `first`


def at_points(source, coordinates, output, spline):
    """Store source(coordinates[:, index]) in `output`."""
    points = np.asarray(coordinates, np.float64).reshape(source.ndim, -1)
    source, points = _cropped(source, points, spline)
    samples, margin = _with_margin(source.astype(np.float64), range(source.ndim), spline)
    result = np.empty(points.shape[1])
    _core.evaluate_double(
        spline.device, np.ascontiguousarray(samples), np.ascontiguousarray(points[::-1]), result,
        spline.order, spline.prefilter, spline.mode, margin, _bits(spline.cval))
    store(result.reshape(output.shape), output)


def coefficients(batch, order, mode, device):
    """The coefficients of a batch of arrays with one to three axes."""
    filtered = np.empty(batch.shape)
    _core.prefilter_double(device, np.ascontiguousarray(batch, np.float64), filtered, order, mode)
    return filtered
