"""Splines in double precision, if the caller requires it or single precision is not enough.

Footprints that differ from point to point, those of homographies and of explicit points, are
computed in double precision only. Single precision is not enough for integers beyond the 24 bits of float32; for coefficients that are
truncated to integers after each axis; and for a `cval` of NaN or infinity beyond the edges, which
SciPy filters like other samples.
"""

import math

import numpy as np

from .. import _core
from .._arrays import store
from . import _pieces
from ._geometry import library_homography, library_matrix

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


def check_footprints(device):
    """Raise ValueError if the device cannot compute the footprints of homographies and of points."""
    if not device.info.double_precision:
        raise ValueError(
            f"antialias computes homographies and fields in double precision, which {device.id} "
            "does not support; choose another device, or an affine transform")


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


def bits_of(value):
    """The bits of a double, as an integer."""
    return int(np.float64(value).view(np.uint64))


def _steps_over_edge(along, start, scale, length):
    """Whether rounding moves a point of ``start + index * scale`` across an edge of the input."""
    rounded = start + np.arange(len(along)) * scale
    return not (np.array_equal(rounded < 0, along < 0)
                and np.array_equal(rounded > length - 1, along > length - 1))


def within_edges(along, matrix, offset, shape, axes):
    """Move the points of a separable transform that rounding moved across an edge of the input back,
    by the scale. `along` holds each axis' coordinates, rounded as in SciPy.

    Mostly it is the last point of zoom, which is rounded up. Returns the matrix, and whether there
    are other points.
    """
    matrix, has_others = matrix.copy(), False
    for axis in axes:
        if not len(along[axis]):
            continue
        points = along[axis], offset[axis]
        if _steps_over_edge(*points, matrix[axis, axis], shape[axis]):
            matrix[axis, axis] = np.nextafter(matrix[axis, axis], 0)
            has_others |= _steps_over_edge(*points, matrix[axis, axis], shape[axis])
    return matrix, has_others


def affine(source, groups, matrix, offset, along, out_shape, spline):
    """Return source(matrix @ index + offset), computed one group of axes after the other.

    `along`, if given, holds the coordinates of a separable transform for each axis, rounded as in
    SciPy.
    """
    values = source.astype(np.float64)
    for axes in groups:
        at_points = False
        if along is not None and spline.mode in ("constant", "wrap"):  # they jump at the edges
            matrix, at_points = within_edges(along, matrix, offset, source.shape, axes)
        points = None
        if at_points:
            points = np.stack(np.meshgrid(*[along[axis] for axis in axes], indexing="ij"))
        values = _transform_axes(values, axes, matrix, offset, points, out_shape, spline)
    return values


def _transform_axes(values, axes, matrix, offset, points, out_shape, spline):
    last = range(values.ndim - len(axes), values.ndim)
    moved = np.moveaxis(values, axes, last)
    others = moved.shape[:values.ndim - len(axes)]
    batch = np.ascontiguousarray(moved).reshape((-1,) + moved.shape[values.ndim - len(axes):])
    lengths = tuple(out_shape[axis] for axis in axes)
    if points is not None:
        result = np.stack([_at_points(array, points, spline) for array in batch])
    else:
        whole = np.eye(len(axes) + 1)
        whole[:-1, :-1], whole[:-1, -1] = matrix[np.ix_(axes, axes)], offset[axes]
        result = _transformed(batch, whole, lengths, spline)
    return np.moveaxis(result.reshape(others + lengths), last, axes)


def _model(spline, margin):
    return (spline.order, spline.prefilter, spline.mode, margin, bits_of(spline.cval),
            spline.antialias)


def _transformed(batch, matrix, shape, spline):
    """Return a batch of arrays at matrix @ output, for a homogeneous matrix, which may be projective
    for arrays of two axes. Computes arrays one by one, or in pieces, that do not fit into the
    device's memory."""
    outputs = math.prod(shape)
    if not _pieces.fits(spline.device, batch.size, len(batch) * outputs):
        if len(batch) > 1:
            return np.concatenate([_transformed(batch[i:i + 1], matrix, shape, spline)
                                   for i in range(len(batch))])
        if not _pieces.fits(spline.device, batch.size, outputs):
            return _pieces.transformed(
                batch[0], matrix, shape, spline, np.float64,
                lambda part, *given: _transform_whole(part[np.newaxis], *given)[0])[np.newaxis]
    return _transform_whole(batch, matrix, shape, spline)


def _transform_whole(batch, matrix, shape, spline):
    batch, margin = _with_margin(batch, range(1, batch.ndim), spline)
    result = np.empty((len(batch),) + tuple(shape))
    n = len(shape)
    is_affine = np.array_equal(matrix[n], np.eye(n + 1)[n])
    _core.transform_double(
        spline.device, np.ascontiguousarray(batch), result,
        library_matrix(matrix[:n, :n], matrix[:n, n]) if is_affine else library_homography(matrix),
        *_model(spline, margin))
    return result


def homography(planes, matrix, shape, spline):
    """Return planes at matrix @ (row, column, 1), dehomogenized, as planes of `shape`. With
    ``spline.antialias``, the means over each output's footprint."""
    return _transformed(planes.astype(np.float64), np.asarray(matrix, np.float64), tuple(shape),
                        spline)


def _cropped(source, points, spline):
    """The part of the samples that the points read, and the points in that part.

    All samples are kept if a filter reads them, or if a point is beyond the edges.
    """
    if (spline.prefilter and spline.order > 1) or spline.antialias or (
            spline.mode in ("wrap", "grid-wrap")):
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
    """Store source(coordinates[:, index]) in `output`, or with ``spline.antialias`` the mean over
    each output's footprint."""
    points = np.asarray(coordinates, np.float64).reshape(source.ndim, -1)
    source, points = _cropped(source, points, spline)
    points = points.reshape((source.ndim,) + output.shape)
    store(_at_points(source.astype(np.float64), points, spline), output)


def _at_points(array, points, spline):
    """Return array(points), for points of shape (rank, ...)."""
    outputs = math.prod(points.shape[1:])
    if not _pieces.fits(spline.device, array.size, outputs, array.ndim):
        return _pieces.at_points(array, points, spline, _at_points_of_whole)
    return _at_points_of_whole(array, points, spline)


def _at_points_of_whole(array, points, spline):
    array, margin = _with_margin(array, range(array.ndim), spline)
    result = np.empty(points.shape[1:])
    rows = np.ascontiguousarray(points[::-1]).reshape(array.ndim, -1)
    _core.evaluate_double(spline.device, np.ascontiguousarray(array), rows,
                          result if spline.antialias else result.reshape(-1),
                          *_model(spline, margin))
    return result


def coefficients(batch, order, mode, device):
    """The coefficients of a batch of arrays with one to three axes."""
    filtered = np.empty(batch.shape)
    _core.prefilter_double(device, np.ascontiguousarray(batch, np.float64), filtered, order, mode)
    return filtered
