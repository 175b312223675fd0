"""Splines in double precision, for the cases in which single precision is not enough.

These are integers beyond the 24 bits of float32; coefficients that are truncated to integers after
each axis; and a `cval` of NaN or infinity beyond the edges, which SciPy filters like other samples.
"""

import math

import numpy as np

from .. import _core
from .._arrays import store
from ._geometry import library_matrix

_MAX_EXACT = 1 << 24  # float32 holds all integers up to this one
# The number of samples that SciPy adds at both ends for modes whose extension it cannot filter.
_MARGIN = 12


def _has_wide_integers(array):
    """Whether float32 would round a sample."""
    if array.dtype.kind not in "iu" or array.dtype.itemsize < 4 or array.size == 0:
        return False
    return int(array.max()) > _MAX_EXACT or int(array.min()) < -_MAX_EXACT


def is_needed(source, spline):
    """Whether to compute in double precision. Raises ValueError if the device cannot."""
    infinite = spline.mode == "grid-constant" and not math.isfinite(spline.cval)
    if not infinite and not _has_wide_integers(source):
        return False
    device = spline.device
    if device.info.double_precision:
        return True
    if infinite:
        raise ValueError(
            f"cval must be finite with mode='grid-constant' on {device.id}, which does not support "
            "double precision")
    raise ValueError(
        f"the input has integers beyond {_MAX_EXACT}, which single precision would round, and "
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


def affine(source, groups, matrix, offset, output, spline):
    """Store source(matrix @ index + offset) in `output`, one group of axes after the other."""
    values = source.astype(np.float64)
    for axes in groups:
        values = _transform_axes(values, axes, matrix, offset, output.shape, spline)
    store(values, output)


def _transform_axes(values, axes, matrix, offset, out_shape, spline):
    values, margin = _with_margin(values, axes, spline)
    last = range(values.ndim - len(axes), values.ndim)
    moved = np.moveaxis(values, axes, last)
    others = moved.shape[:values.ndim - len(axes)]
    batch = np.ascontiguousarray(moved).reshape((-1,) + moved.shape[values.ndim - len(axes):])
    lengths = tuple(out_shape[axis] for axis in axes)
    result = np.empty((batch.shape[0],) + lengths)
    _core.transform_double(
        spline.device, batch, result, library_matrix(matrix[np.ix_(axes, axes)], offset[axes]),
        spline.order, spline.prefilter, spline.mode, margin, _bits(spline.cval))
    return np.moveaxis(result.reshape(others + lengths), last, axes)


def at_points(source, coordinates, output, spline):
    """Store source(coordinates[:, index]) in `output`."""
    samples, margin = _with_margin(source.astype(np.float64), range(source.ndim), spline)
    points = np.ascontiguousarray(coordinates[::-1], np.float64).reshape(source.ndim, -1)
    result = np.empty(points.shape[1])
    _core.evaluate_double(
        spline.device, np.ascontiguousarray(samples), points, result, spline.order,
        spline.prefilter, spline.mode, margin, _bits(spline.cval))
    store(result.reshape(output.shape), output)


def coefficients(source, axis, output, order, mode, device):
    """Store the coefficients along one axis in `output`, which has the source's shape."""
    lines = np.ascontiguousarray(np.moveaxis(source, axis, -1), np.float64)
    filtered = np.empty((lines.size // lines.shape[-1], lines.shape[-1]))
    _core.prefilter_double(device, lines.reshape(filtered.shape), filtered, order, mode)
    store(np.moveaxis(filtered.reshape(lines.shape), -1, axis), output, rounded=False)
