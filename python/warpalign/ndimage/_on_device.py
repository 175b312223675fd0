"""Evaluates splines between arrays on a device, by one launch each, without copies.

The device transforms the last one to three axes. The axes before them form a batch, which a
transform must not change.
"""

import functools

import numpy as np

from .. import _core
from .._device_array import DeviceArray
from .._files._open import is_file, opened
from .._foreign import OwnKind, kind_of
from . import _double
from ._complex import by_parts, evaluated_by_parts, has_parts
from ._geometry import MAX_AXES, library_homography, library_matrix, unchanged_axes
from ._nearest import bits_outside


def for_arrays_of_any_library(function):
    """Make a function of NumPy arrays and DeviceArrays accept arrays of other libraries, and return
    arrays of the same library."""

    @functools.wraps(function)
    def call(input, *arguments, device=None, **keywords):
        if is_file(input):
            input = np.asarray(opened(input))
        kind = kind_of(input)
        if kind is None:
            return function(input, *arguments, device=device, **keywords)
        with kind.as_input(input, device) as array:
            on = array.device if isinstance(array, DeviceArray) else device
            result = function(array, *arguments, device=on, **keywords)
            if isinstance(result, tuple):
                return tuple(kind.as_output(part) for part in result)
            return kind.as_output(result)

    return call


def as_array(array):
    """Convert an array to a NumPy array, unless it is a DeviceArray."""
    return array if isinstance(array, DeviceArray) else np.asarray(array)


def _model_cval(spline):
    return spline.cval if spline.mode in ("constant", "grid-constant") else 0.0


def _model(spline):
    return spline.model(_model_cval(spline))


def _copies(source, output, spline):
    """Whether samples are copied exactly. Samples of another type are converted through float32."""
    return (spline.order == 0 and source.dtype == output.dtype
            and source.device.info.double_precision)


def _num_changed_axes(matrix, offset, source, output, spline, plane):
    """The number of last axes that include all axes which the transform changes."""
    unchanged = set()
    if spline.interpolates:
        unchanged = set(unchanged_axes(matrix, offset, source.shape, output.shape))
    elif plane is not None:
        unchanged = set(range(source.ndim)) - set(plane)
    changed = source.ndim
    while changed > 0 and source.ndim - changed in unchanged:
        changed -= 1
    if changed > MAX_AXES:
        first = source.ndim - changed
        raise NotImplementedError(
            f"on a device, warpalign transforms at most the last {MAX_AXES} axes, but this "
            f"transform changes axis {first} of {source.ndim}; move the unchanged axes to the "
            "front")
    return changed


def _in_double(source, spline, has_local_footprints=False):
    """Whether to compute in double precision. Raises an exception if that is not supported.

    `has_local_footprints`: whether the footprints of antialias differ from point to point.
    """
    is_local = spline.antialias and has_local_footprints
    if not is_local and (spline.precision != "double" or spline.order == 0):
        return False
    if is_local:
        _double.check_footprints(source.device)
    else:
        _double.check_device(source.device)
    return True


def _double_model(spline):
    """The arguments that describe a spline to the library's functions in double precision."""
    return (spline.order, spline.prefilter, spline.mode, _double.bits_of(_model_cval(spline)),
            spline.antialias)


def _copy_model(spline, output):
    return (0, True, spline.mode, bits_outside(_model_cval(spline), output.dtype), False)


def affine(source, matrix, offset, output, spline, along=None, plane=None):
    """Store source(matrix @ index + offset) in `output`, which has the source's rank."""
    in_double = _in_double(source, spline)
    if output.size == 0:
        return
    if source.size == 0:
        raise ValueError("the input is empty, but the output is not")
    if not (np.isfinite(matrix).all() and np.isfinite(offset).all()):
        raise ValueError("the matrix and the offset must be finite")
    n = _num_changed_axes(matrix, offset, source, output, spline, plane)
    if plane is not None and not spline.interpolates and n > 2:
        raise NotImplementedError(
            "on a device, warpalign rotates coefficients only in the plane of the last two axes, "
            f"but these are axes {tuple(plane)} of {source.ndim}; move them to the end")
    if n == 0:
        output[...] = source
        return
    if in_double and along is not None and spline.mode in ("constant", "wrap"):
        matrix, _ = _double.within_edges(along, matrix, offset, source.shape, range(source.ndim))
    matrix, offset = matrix[-n:, -n:], offset[-n:]
    if has_parts(source, output, in_double):
        return evaluated_by_parts(
            lambda part, result, part_spline: _transform(
                part, result, n, library_matrix(matrix, offset), part_spline, in_double),
            source, output, spline)
    _transform(source, output, n, library_matrix(matrix, offset), spline, in_double)


def _transform(source, output, n, matrix, spline, in_double):
    """Evaluate the last n axes under a matrix of the library."""
    copies = _copies(source, output, spline)
    if copies or in_double:
        return _core.transform_double_on_device(
            source.device, source._memory, output._memory, n, matrix,
            *(_copy_model(spline, output) if copies else _double_model(spline)), source._queue)
    resample = (_core.resample_antialiased_on_device if spline.antialias
                else _core.transform_on_device)
    resample(source.device, source._memory, output._memory, n, matrix, _model(spline),
             source._queue)


def homography(source, matrix, output, spline):
    """Store source at matrix @ (row, column, 1), divided by its last component, in `output`. Both
    arrays have two axes."""
    in_double = _in_double(source, spline, has_local_footprints=True)
    if output.size == 0:
        return
    if source.size == 0:
        raise ValueError("the input is empty, but the output is not")
    if has_parts(source, output, in_double):
        return evaluated_by_parts(
            lambda part, result, part_spline: homography(part, matrix, result, part_spline),
            source, output, spline)
    copies = _copies(source, output, spline)
    if copies or in_double:
        return _core.transform_double_on_device(
            source.device, source._memory, output._memory, 2, library_homography(matrix),
            *(_copy_model(spline, output) if copies else _double_model(spline)), source._queue)
    _core.transform_on_device(
        source.device, source._memory, output._memory, 2, library_homography(matrix),
        _model(spline), source._queue)


class GridPoints:
    """Where a transform leads the pixels of a grid: coordinates that a device can compute."""

    def __init__(self, transform, shape):
        self._transform = transform
        self._grid = tuple(shape)
        self.shape = (transform.ndim, *self._grid)
        self.ndim = len(self.shape)
        self.dtype = np.dtype(np.float64)

    def numpy(self):
        """The coordinates in host memory, in the order of the axes."""
        return self._transform.positions(self._grid)

    def can_be_on(self, device):
        """Whether the device can compute them."""
        return self._transform._is_supported_on(device)

    def warp(self, source, output, spline):
        """Store an array on a device, evaluated at the coordinates, in `output`."""
        self._transform._on(source.device, "pixels").warp(
            source._memory, output._memory, _model(spline), source._queue)

    def on_device_of(self, source, dtype):
        """The coordinates as `dtype` in the order x, y, z, on the device of an array."""
        points = self._transform._grid_on_device(
            source.device, self._grid, "edge", relative=False, x_first=True, queue=source._queue)
        return _converted(points, dtype, source)


def _converted(points, dtype, source):
    """Points as `dtype`, on the source's device and ordered with its work."""
    if points.dtype == dtype:
        return points
    converted = _core.DeviceMemory(source.device, dtype, list(points.shape))
    _core.copy_on_device(source.device, points._memory, converted, source._queue)
    return DeviceArray(converted)


def _points_on(source, coordinates, dtype):
    """The coordinates as `dtype` in the order x, y, z, on the source's device.

    Coordinates that are on the device already have passed through float32.
    """
    if isinstance(coordinates, GridPoints):
        return coordinates.on_device_of(source, dtype)
    if isinstance(coordinates, np.ndarray):
        staged = np.ascontiguousarray(coordinates[::-1], dtype)
        memory = _core.DeviceMemory(source.device, dtype, list(staged.shape))
        memory.upload(staged, source._queue)
        return DeviceArray(memory)
    return _converted((source._kind or OwnKind).points(coordinates, source), dtype, source)


def at_points(source, coordinates, output, spline):
    """Store source(coordinates[:, index]) in `output`."""
    in_double = _in_double(source, spline, has_local_footprints=True)
    if source.ndim > MAX_AXES:
        raise NotImplementedError(
            f"warpalign evaluates arrays at points in up to {MAX_AXES} dimensions, "
            f"but the input has {source.ndim}")
    if output.size == 0:
        return
    if source.size == 0:
        raise ValueError("the input is empty, but the output is not")
    copies = _copies(source, output, spline)
    if isinstance(coordinates, GridPoints) and not copies and not in_double:
        return coordinates.warp(source, output, spline)
    points = _points_on(source, coordinates, "float64" if copies or in_double else "float32")
    if has_parts(source, output, in_double):
        return evaluated_by_parts(
            lambda part, result, part_spline: _evaluate_at(
                part, points, result, part_spline, copies, in_double), source, output, spline)
    _evaluate_at(source, points, output, spline, copies, in_double)


def _evaluate_at(source, points, output, spline, copies, in_double):
    if copies or in_double:
        return _core.evaluate_double_on_device(
            source.device, source._memory, points._memory, output._memory,
            *(_copy_model(spline, output) if copies else _double_model(spline)), source._queue)
    _core.evaluate_on_device(
        source.device, source._memory, points._memory, output._memory, _model(spline),
        source._queue)


def coefficients(source, axes, output, order, mode, precision):
    """Store the coefficients along `axes` in `output`, which has the source's shape."""
    if precision == "double":
        _double.check_device(source.device)
    if output.dtype.kind not in "fc":
        raise TypeError(
            f"coefficients on a device cannot be stored as {output.dtype}; choose a floating-point "
            "or complex output")
    if output.size == 0:
        return
    if has_parts(source, output, precision == "double"):
        return by_parts(
            lambda part, result, _: coefficients(part, axes, result, order, mode, precision),
            source, output)
    axes = sorted(axes)
    n = len(axes)
    if n > MAX_AXES or axes != list(range(source.ndim - n, source.ndim)):
        raise NotImplementedError(
            f"on a device, warpalign filters along at most the last {MAX_AXES} axes, not along "
            f"axes {axes} of {source.ndim}; move these axes to the end")
    native = np.dtype(np.complex64 if source.dtype.kind == "c" else
                      np.float64 if precision == "double" else np.float32)
    direct = output.dtype == native
    result = output if direct else source._like(source.shape, native)
    if precision == "double":
        _core.prefilter_double_on_device(
            source.device, source._memory, result._memory, n, order, mode, source._queue)
    else:
        _core.prefilter_on_device(
            source.device, source._memory, result._memory, n, _core.SplineModel(order, True, mode),
            source._queue)
    if not direct:
        output[...] = result
