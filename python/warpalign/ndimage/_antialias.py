"""Zooms without aliasing: a Gaussian before the interpolation, or a least-squares projection."""

import math
from dataclasses import replace

import numpy as np

from .. import _core
from .._arrays import can_hold_result, for_upload, store
from .._device_array import DeviceArray
from . import _double
from ._complex import evaluated_by_parts, has_parts
from ._evaluate import batched
from ._geometry import MAX_AXES

# The library's names of the methods.
GAUSSIAN, LEAST_SQUARES = "gaussian", "least-squares"
# The modes that extend input and output alike, without and with grid_mode. The first one is named
# in messages.
_PROJECTED = {False: ("mirror", "constant", "wrap"), True: ("reflect", "grid-mirror", "grid-wrap")}


def method_of(antialias, *, order, prefilter, labels, has_least_squares=False):
    """The library's method, or None. Raises ValueError for an unknown or unsupported choice."""
    if antialias is False or antialias is None:
        return None
    if isinstance(antialias, str) and antialias == LEAST_SQUARES:
        if not has_least_squares:
            raise ValueError("antialias='least-squares' is supported by zoom only; use True")
        method = LEAST_SQUARES
    elif antialias is True or isinstance(antialias, np.bool_) and antialias:
        method = GAUSSIAN
    elif isinstance(antialias, np.bool_):
        return None
    else:
        known = "False, True, 'least-squares'" if has_least_squares else "False, True"
        raise ValueError(f"invalid antialias {antialias!r} (choose from: {known})")
    if labels:
        raise ValueError("antialias cannot be combined with labels=True, which keeps labels apart; "
                         "use order=1 or above with labels=True alone")
    if order == 0:
        raise ValueError("antialias needs order 1 or above; order 0 copies samples")
    if order > 1 and not prefilter:
        raise ValueError("antialias needs samples, not coefficients; use prefilter=True")
    return method


def check_grid(coordinates, ndim):
    """Raise ValueError if points are no grid with as many axes as the input."""
    if coordinates.ndim != ndim + 1:
        raise ValueError(
            f"antialias needs a grid of points with {ndim} axes, as the input, whose neighbours "
            f"tell how far the output shrinks; the coordinates have the shape {coordinates.shape}")


def check_shape(in_shape, out_shape):
    """Raise ValueError if an axis would shrink to nothing."""
    for axis, (length, zoomed) in enumerate(zip(in_shape, out_shape)):
        if length > 0 and zoomed == 0:
            raise ValueError(
                f"the zoom reduces axis {axis}, of {length} samples, to nothing; antialias needs "
                "at least one sample")


def check_projection(in_shape, out_shape, mode, grid_mode):
    """Raise ValueError if least squares does not support the mode or an output's length."""
    modes = _PROJECTED[bool(grid_mode)]
    for axis, (length, zoomed) in enumerate(zip(in_shape, out_shape)):
        if zoomed >= length:
            continue
        if mode not in modes:
            raise ValueError(
                f"antialias='least-squares' does not support mode={mode!r} with "
                f"grid_mode={bool(grid_mode)}; use mode={modes[0]!r}")
        if zoomed == 1 and not grid_mode:
            raise ValueError(
                f"antialias='least-squares' needs at least two samples along axis {axis} of the "
                "output, or grid_mode=True")


def _with_finite_cval(spline):
    """The spline with a cval of 0 if no sample is beyond the edges."""
    if spline.mode != "grid-constant":
        return replace(spline, cval=0.0)
    if not math.isfinite(spline.cval):
        raise ValueError("cval must be finite with mode='grid-constant'")
    return spline


def zoom(source, output, spline, grid_mode, method):
    """Zoom the source to the shape of the output."""
    spline = _with_finite_cval(spline)
    # The mask of known samples has weights of its own, which must not be negative.
    method = GAUSSIAN if spline.of_mask else method
    axes = [axis for axis in range(source.ndim) if source.shape[axis] != output.shape[axis]]
    if isinstance(source, DeviceArray):
        return _zoom_on_device(source, axes, output, spline, grid_mode, method)
    if output.size == 0:
        return
    in_double = _double.is_needed(source, spline)
    if in_double:
        source = source.astype(np.float64, copy=False)
    at_once = _axes_at_once(source, output, spline, in_double)
    if at_once == 1:  # the axis that shrinks most leaves the least work
        axes.sort(key=lambda axis: output.shape[axis] / source.shape[axis])
    values = source
    for i in range(0, len(axes), at_once):
        group = axes[i:i + at_once]
        target = output if i + at_once >= len(axes) and not in_double else None
        values = _zoom_axes(values, group, output.shape, spline, grid_mode, method, in_double,
                            target)
    if values is not output:
        store(values, output)


def _axes_at_once(source, output, spline, in_double):
    """How many axes to zoom at once: one after the other if an array does not fit into the device's
    memory, as lines, of which any number fits."""
    bytes_each = 8 if in_double else 4
    needed = bytes_each * 3 * (source.size + output.size)
    return 1 if needed > _core.max_device_memory(spline.device) else MAX_AXES


def _zoom_axes(source, axes, out_shape, spline, grid_mode, method, in_double, target):
    batch = batched(source, axes)
    batch = np.ascontiguousarray(batch) if in_double else for_upload(batch)
    lengths = tuple(out_shape[axis] for axis in axes)
    trailing = axes == list(range(source.ndim - len(axes), source.ndim))
    direct = target is not None and trailing and can_hold_result(target, source)
    results = (target.reshape((-1,) + lengths) if direct
               else np.empty((batch.shape[0],) + lengths, batch.dtype if in_double else np.float32))
    _core.zoom_arrays(spline.device, batch, results, len(axes), spline.model(spline.cval),
                      bool(grid_mode), method, in_double)
    if direct:
        return target
    others = tuple(source.shape[axis] for axis in range(source.ndim) if axis not in axes)
    return np.moveaxis(results.reshape(others + lengths),
                       range(source.ndim - len(axes), source.ndim), axes)


def _zoom_on_device(source, axes, output, spline, grid_mode, method):
    if output.size == 0:
        return
    if not axes:
        output[...] = source
        return
    changed = source.ndim - axes[0]
    if changed > MAX_AXES:
        raise NotImplementedError(
            f"on a device, warpalign transforms at most the last {MAX_AXES} axes, but this "
            f"transform changes axis {axes[0]} of {source.ndim}; move the unchanged axes to the "
            "front")
    in_double = spline.precision == "double"
    if in_double:
        _double.check_device(source.device)
    if has_parts(source, output, in_double):
        return evaluated_by_parts(
            lambda part, result, part_spline: _zoom_on_device(
                part, axes, result, part_spline, grid_mode, method), source, output, spline)
    _core.zoom_on_device(source.device, source._memory, output._memory, changed,
                         spline.model(spline.cval), bool(grid_mode), method, in_double,
                         source._queue)
