"""Evaluation of splines between arrays on a device, by one launch each, without copies.

The device evaluates the last one to three axes. Axes before them are a batch, which a transform
must leave alone.
"""

import functools

import numpy as np

from .. import _core
from .._device_array import DeviceArray
from .._foreign import OwnKind, kind_of
from ._geometry import MAX_AXES, axes_left_alone, library_homography, library_matrix


def for_arrays_of_any_library(function):
    """Let a function of NumPy's arrays and of DeviceArrays take other libraries' and return theirs.
    """

    @functools.wraps(function)
    def call(input, *arguments, device=None, **keywords):
        kind = kind_of(input)
        if kind is None:
            return function(input, *arguments, device=device, **keywords)
        with kind.taken(input, device) as array:
            on = array.device if isinstance(array, DeviceArray) else device
            return kind.given(function(array, *arguments, device=on, **keywords))

    return call


def as_array(array):
    """What functions take: one of NumPy's arrays, or a DeviceArray."""
    return array if isinstance(array, DeviceArray) else np.asarray(array)


def output_on(array, output):
    """The output that the caller gave, on the device of `array`."""
    kind = kind_of(output)
    expected = array._kind or OwnKind
    if _type_of(kind) is not _type_of(expected):
        raise TypeError(
            f"the output must be an array of the input's library on {array.device.id}, not "
            f"{type(output).__name__}")
    given = kind.output(output, array)
    if given.device is not array.device:
        raise ValueError(f"the output is on {given.device.id}, the input on {array.device.id}")
    return given


def _type_of(kind):
    return kind if isinstance(kind, type) else type(kind)


def _model(spline):
    cval = spline.cval if spline.mode in ("constant", "grid-constant") else 0.0
    return spline.model(cval)


def _busy_axes(matrix, offset, source, output, spline):
    """How many of the last axes take part."""
    alone = set()
    if spline.interpolates:
        alone = set(axes_left_alone(matrix, offset, source.shape, output.shape))
    busy = source.ndim
    while busy > 0 and source.ndim - busy in alone:
        busy -= 1
    if busy > MAX_AXES:
        first = source.ndim - busy
        raise NotImplementedError(
            f"on a device warpalign transforms the last {MAX_AXES} axes at most, and this changes "
            f"axis {first} of {source.ndim}; move axes that stay as they are to the front")
    return busy


def affine(source, matrix, offset, output, spline):
    """Store source(matrix @ index + offset) in `output`, which has the source's rank."""
    if output.size == 0:
        return
    if source.size == 0:
        raise ValueError("the input is empty, and the output is not")
    if not (np.isfinite(matrix).all() and np.isfinite(offset).all()):
        raise ValueError("the matrix and the offset must be finite")
    busy = _busy_axes(matrix, offset, source, output, spline)
    if busy == 0:
        output[...] = source
        return
    matrix, offset = matrix[-busy:, -busy:], offset[-busy:]
    _core.transform_on_device(
        source.device, source._memory, output._memory, busy, library_matrix(matrix, offset),
        _model(spline), source._queue)


def homography(source, matrix, output, spline):
    """Store source at matrix @ (row, column, 1), divided by its last number, in `output`; both have
    two axes."""
    if output.size == 0:
        return
    if source.size == 0:
        raise ValueError("the input is empty, and the output is not")
    _core.transform_on_device(
        source.device, source._memory, output._memory, 2, library_homography(matrix),
        _model(spline), source._queue)


def _points_on(source, coordinates):
    """Coordinates in float32 and in x, y, z order on the source's device."""
    if not isinstance(coordinates, np.ndarray):
        return (source._kind or OwnKind).points(coordinates, source)
    staged = np.ascontiguousarray(coordinates[::-1], np.float32)
    memory = _core.DeviceMemory(source.device, "float32", list(staged.shape))
    memory.upload(staged, source._queue)
    return DeviceArray(memory)


def at_points(source, coordinates, output, spline):
    """Store source(coordinates[:, index]) in `output`."""
    if source.ndim > MAX_AXES:
        raise NotImplementedError(
            f"warpalign evaluates at free points in up to {MAX_AXES} dimensions, "
            f"and the input has {source.ndim}")
    if output.size == 0:
        return
    if source.size == 0:
        raise ValueError("the input is empty, and the output is not")
    points = _points_on(source, coordinates)
    _core.evaluate_on_device(
        source.device, source._memory, points._memory, output._memory, _model(spline),
        source._queue)


def coefficients(source, axes, output, order, mode):
    """Store the coefficients along `axes` in `output`, which has the source's shape."""
    if output.dtype.kind not in "fc":
        raise TypeError(f"coefficients on a device are not stored as {output.dtype}")
    if output.size == 0:
        return
    axes = sorted(axes)
    n = len(axes)
    if n > MAX_AXES or axes != list(range(source.ndim - n, source.ndim)):
        raise NotImplementedError(
            f"on a device warpalign filters along the last {MAX_AXES} axes at most, and not along "
            f"axes {axes} of {source.ndim}; move the axes to the end")
    native = np.dtype(np.complex64 if source.dtype.kind == "c" else np.float32)
    direct = output.dtype == native
    result = output if direct else source._like(source.shape, native)
    _core.prefilter_on_device(
        source.device, source._memory, result._memory, n, _core.SplineModel(order, True, mode),
        source._queue)
    if not direct:
        output[...] = result
