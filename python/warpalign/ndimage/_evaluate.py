"""Evaluates splines of real arrays of any rank with the library, which handles up to three axes.

Axes that a transform leaves unchanged form a batch, which one launch processes. A diagonal
transform is separable: if it changes more than three axes, they are processed in groups.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from .. import _core
from .._arrays import can_hold_result, for_upload, store
from .._core import Device
from .._device_array import DeviceArray
from . import _double, _nearest, _on_device, _pieces
from ._geometry import MAX_AXES, library_homography, library_matrix, unchanged_axes

# A placeholder for a cval that float32 cannot hold. It is replaced in the result, in which no other
# value is that large.
_PLACEHOLDER = float(np.float32(-3.0517578e38))


@dataclass(frozen=True)
class Spline:
    """The parameters of a spline, and the device that evaluates it."""

    device: Device
    order: int
    mode: str  # the library's name of the mode
    cval: float
    prefilter: bool
    precision: str = "single"
    of_mask: bool = False  # the samples are a mask, which is smoothed only along changed axes
    antialias: bool = False  # whether results are means over each output's footprint

    @property
    def interpolates(self):
        """Whether axes that a transform leaves unchanged keep their samples."""
        return self.prefilter or self.order <= 1 or self.of_mask

    def model(self, cval):
        """The library's description of the spline, with `cval` beyond the edges."""
        return _core.SplineModel(self.order, self.prefilter, self.mode, cval)

    def needs_placeholder(self):
        """Whether the library cannot output `cval` exactly."""
        if self.mode == "grid-constant":
            if not math.isfinite(self.cval):
                raise ValueError("cval must be finite with mode='grid-constant'")
            return False
        with np.errstate(over="ignore"):
            return not math.isfinite(self.cval) or float(np.float32(self.cval)) != self.cval


def _transform_batch(batch, results, matrix, offset, spline, cval):
    if not spline.antialias:
        _core.transform_images(spline.device, batch, results, batch.ndim - 1,
                               library_matrix(matrix, offset), spline.model(cval))
        return
    fitting = _pieces.fits(spline.device, batch.size, results.size)
    if fitting:
        return _means_of_whole(batch, results, matrix, offset, spline, cval)
    whole = np.eye(batch.ndim)
    whole[:-1, :-1], whole[:-1, -1] = matrix, offset

    def of_part(part, part_matrix, shape, part_spline):
        result = np.empty((1,) + shape, results.dtype)
        _means_of_whole(np.ascontiguousarray(part)[np.newaxis], result, part_matrix[:-1, :-1],
                        part_matrix[:-1, -1], part_spline, cval)
        return result[0]

    for array, result in zip(batch, results):
        result[...] = _pieces.transformed(array, whole, result.shape, replace(spline, cval=cval),
                                          results.dtype, of_part)


def _means_of_whole(batch, results, matrix, offset, spline, cval):
    _core.resample_antialiased(spline.device, batch, results, batch.ndim - 1,
                               library_matrix(matrix, offset), spline.model(cval))


def batched(array, axes):
    """The array with `axes` (ascending) last and all other axes merged into one before them."""
    n = len(axes)
    if n == array.ndim:
        return array[np.newaxis]
    moved = np.moveaxis(array, axes, range(array.ndim - n, array.ndim))
    return moved.reshape((-1,) + moved.shape[array.ndim - n:])


def _transform_axes(source, axes, matrix, offset, out_shape, spline, cval, target=None):
    """Transform along `axes` (ascending) by their rows of the matrix and the offset; other axes
    stay. Returns an array of float32, or `target`."""
    if len(axes) < source.ndim:
        matrix, offset = matrix[np.ix_(axes, axes)], offset[axes]
    batch = for_upload(batched(source, axes))
    trailing = axes == list(range(source.ndim - len(axes), source.ndim))
    lengths = tuple(out_shape[axis] for axis in axes)
    if target is not None and trailing:
        results = target.reshape((-1,) + lengths)
        _transform_batch(batch, results, matrix, offset, spline, cval)
        return target
    results = np.empty((batch.shape[0],) + lengths, np.float32)
    _transform_batch(batch, results, matrix, offset, spline, cval)
    others = tuple(source.shape[axis] for axis in range(source.ndim) if axis not in axes)
    moved = results.reshape(others + lengths)
    return np.moveaxis(moved, range(source.ndim - len(axes), source.ndim), axes)


def _groups_of_axes(matrix, offset, in_shape, out_shape, spline, plane):
    """Groups of at most three axes, which are transformed one group after the other."""
    ndim = len(in_shape)
    unchanged = []
    if spline.interpolates:
        unchanged = unchanged_axes(matrix, offset, in_shape, out_shape)
    elif plane is not None:
        unchanged = [axis for axis in range(ndim) if axis not in plane]
    changed = [axis for axis in range(ndim) if axis not in unchanged]
    if len(changed) <= MAX_AXES:
        return [changed] if changed else []
    if np.array_equal(matrix, np.diag(np.diagonal(matrix))):
        return [changed[i:i + MAX_AXES] for i in range(0, len(changed), MAX_AXES)]
    raise NotImplementedError(
        f"a transform that mixes more than {MAX_AXES} axes is not supported by warpalign "
        f"(this one mixes {len(changed)}: {changed})"
    )


def _fill_outside(values, matrix, offset, in_shape, cval):
    """Set the results of a diagonal transform that are read outside the input to `cval`."""
    for axis, length in enumerate(values.shape):
        read_at = np.arange(length) * matrix[axis, axis] + offset[axis]
        outside = (read_at < 0) | (read_at > in_shape[axis] - 1)
        values[(slice(None),) * axis + (outside,)] = cval


def _store_with_cval(values, output, cval):
    """Store results in which the placeholder represents cval."""
    outside = values == np.float32(_PLACEHOLDER)
    store(values, output)
    with np.errstate(over="ignore"):
        fill = np.empty(1, output.dtype)
        store(np.array([cval]), fill)
    output[outside] = fill[0]


def evaluate_affine(source, matrix, offset, output, spline, *, along=None, plane=None):
    """Store source(matrix @ index + offset) in `output`, which has the source's rank.

    `along`, if given, holds the coordinates of a separable transform for each axis, rounded as in
    SciPy. `plane`, if given, names the only two axes to evaluate along.
    """
    if isinstance(source, DeviceArray):
        return _on_device.affine(source, matrix, offset, output, spline, along, plane)
    if output.size == 0:
        return
    if source.size == 0 or not (np.isfinite(matrix).all() and np.isfinite(offset).all()):
        store(np.full(output.shape, spline.cval), output)
        return
    if spline.mode not in ("constant", "grid-constant"):  # cval is never used
        spline = replace(spline, cval=0.0)
    if spline.order == 0:
        if along is not None:
            return _nearest.copy_along_axes(source, along, output, spline)
        return _nearest.copy_affine(source, matrix, offset, output, spline)
    groups = _groups_of_axes(matrix, offset, source.shape, output.shape, spline, plane)
    if groups and _double.is_needed(source, spline):
        values = _double.affine(source, groups, matrix, offset, along, output.shape, spline)
        if len(groups) > 1 and spline.mode == "constant":
            _fill_outside(values, matrix, offset, source.shape, spline.cval)
        return store(values, output)
    placeholder = spline.needs_placeholder()
    if len(groups) <= 1:
        _evaluate_at_once(source, groups, matrix, offset, output, spline, placeholder)
        return
    values, shape = source, list(source.shape)
    cval = 0.0 if placeholder else spline.cval
    for axes in groups:
        for axis in axes:
            shape[axis] = output.shape[axis]
        values = _transform_axes(values, axes, matrix, offset, shape, spline, cval)
    if placeholder:
        values = values.astype(np.float64)
    if spline.mode == "constant":  # the later axes have filtered the cval of the earlier ones
        _fill_outside(values, matrix, offset, source.shape, spline.cval)
    store(values, output)


def _evaluate_at_once(source, groups, matrix, offset, output, spline, placeholder):
    if not groups:
        if np.can_cast(source.dtype, output.dtype):
            output[...] = source
        else:
            store(source, output)
        return
    axes = groups[0]
    target = None
    if not placeholder and can_hold_result(output, source):
        target = output
    values = _transform_axes(
        source, axes, matrix, offset, output.shape, spline,
        _PLACEHOLDER if placeholder else spline.cval, target)
    if values is target:
        return
    if placeholder:
        _store_with_cval(values, output, spline.cval)
    else:
        store(values, output)


def evaluate_homography(source, matrix, output, spline):
    """Store source at matrix @ (row, column, 1), divided by its last component, in `output`."""
    if output.size == 0 or source.size == 0:
        store(np.full(output.shape, spline.cval), output)
        return
    if spline.mode not in ("constant", "grid-constant"):  # cval is never used
        spline = replace(spline, cval=0.0)
    if spline.order == 0:
        return _nearest.copy_homography(source, matrix, output, spline)
    if spline.antialias:
        _double.check_footprints(spline.device)
    if spline.antialias or _double.is_needed(source, spline):
        values = _double.homography(batched(source, [0, 1]), matrix, output.shape[:2], spline)
        values = values.reshape(source.shape[2:] + output.shape[:2])
        return store(np.moveaxis(values, (-2, -1), (0, 1)), output)
    placeholder = spline.needs_placeholder()
    planes = for_upload(batched(source, [0, 1]))
    results = np.empty((planes.shape[0],) + output.shape[:2], np.float32)
    _core.transform_images(
        spline.device, planes, results, 2, library_homography(matrix),
        spline.model(_PLACEHOLDER if placeholder else spline.cval),
    )
    values = np.moveaxis(results.reshape(source.shape[2:] + output.shape[:2]), (-2, -1), (0, 1))
    if placeholder:
        _store_with_cval(values, output, spline.cval)
    else:
        store(values, output)


def _nan_points(coordinates, mode):
    """A mask of the points that contain a NaN, if their value is NaN in this mode, and not cval."""
    if mode not in ("nearest", "grid-constant") or not np.isnan(coordinates.min()):
        return None
    return np.isnan(coordinates).any(axis=0)


def evaluate_points(source, coordinates, output, spline):
    """Store source(coordinates[:, index]) in `output`."""
    if isinstance(source, DeviceArray):
        return _on_device.at_points(source, coordinates, output, spline)
    if source.ndim > MAX_AXES:
        raise NotImplementedError(
            f"warpalign evaluates arrays at points in up to {MAX_AXES} dimensions, "
            f"but the input has {source.ndim}"
        )
    if output.size == 0:
        return
    if source.size == 0:
        store(np.full(output.shape, spline.cval), output)
        return
    if spline.order == 0:
        return _nearest.copy_at_points(source, coordinates, output, spline)
    if spline.antialias:
        _double.check_footprints(spline.device)
    if spline.antialias or _double.is_needed(source, spline):
        return _double.at_points(source, coordinates, output, spline)
    placeholder = spline.needs_placeholder()
    if coordinates.dtype != np.float32:
        coordinates = coordinates.astype(np.float64, copy=False)
    coordinates = np.ascontiguousarray(coordinates)
    nan_points = _nan_points(coordinates, spline.mode)
    direct = (not placeholder and nan_points is None
              and can_hold_result(output, source, coordinates))
    values = output if direct else np.empty(output.shape, np.float32)
    _core.evaluate_at(
        spline.device, for_upload(source), coordinates, values,
        spline.model(_PLACEHOLDER if placeholder else spline.cval))
    if nan_points is not None:
        values[nan_points] = np.nan
    if placeholder:
        _store_with_cval(values, output, spline.cval)
    elif not direct:
        store(values, output)


def prefilter(source, axes, output, order, mode, device, precision="single"):
    """Store the coefficients along `axes` in `output`, which has the source's shape."""
    if isinstance(source, DeviceArray):
        return _on_device.coefficients(source, axes, output, order, mode, precision)
    if precision == "double":
        _double.check_device(device)
    axes = sorted(axes)
    if output.size == 0:
        return
    values = source
    for i in range(0, len(axes), MAX_AXES):
        values = _prefilter_axes(values, axes[i:i + MAX_AXES], order, mode, device, precision)
    store(values, output, rounded=False)


def _prefilter_axes(source, axes, order, mode, device, precision):
    batch = batched(source, axes)
    if precision == "double":
        coefficients = _double.coefficients(batch, order, mode, device)
    else:
        batch = for_upload(batch)
        coefficients = np.empty(batch.shape, np.float32)
        _core.prefilter_arrays(
            device, batch, coefficients, len(axes), _core.SplineModel(order, True, mode))
    others = tuple(source.shape[axis] for axis in range(source.ndim) if axis not in axes)
    moved = coefficients.reshape(others + coefficients.shape[1:])
    return np.moveaxis(moved, range(source.ndim - len(axes), source.ndim), axes)
