"""Zooms without aliasing: a Gaussian before the interpolation, or a least-squares projection."""

import math
from dataclasses import replace

import numpy as np

from .. import _core
from .._arrays import can_hold_result, for_upload, store
from .._device_array import DeviceArray
from . import _double
from ._evaluate import batched
from ._geometry import MAX_AXES

# The library's names of the methods.
GAUSSIAN, LEAST_SQUARES = "gaussian", "least-squares"
# The modes that extend input and output alike, without and with grid_mode. The first one is named
# in messages.
_PROJECTED = {False: ("mirror", "constant", "wrap"), True: ("reflect", "grid-mirror", "grid-wrap")}


def method_of(antialias, *, order, prefilter, labels, precision, has_least_squares=False):
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
    if precision == "double":
        raise ValueError("antialias computes in single precision; use precision='single'")
    return method


def check_is_affine(is_affine, motion):
    """Raise ValueError if a result's transform is not affine, and so has no constant footprint."""
    if not is_affine:
        raise ValueError(f"antialias supports affine transforms only; this result is a {motion}")


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


def check_samples(source):
    """Raise ValueError if single precision would round a sample."""
    if not isinstance(source, DeviceArray) and _double.has_wide_integers(source):
        raise ValueError(
            f"the input has integers beyond {_double.MAX_EXACT}, which antialias would round; "
            "convert the input to float32 to accept the rounding")


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
    values = source
    for i in range(0, len(axes), MAX_AXES):
        group = axes[i:i + MAX_AXES]
        target = output if i + MAX_AXES >= len(axes) else None
        values = _zoom_axes(values, group, output.shape, spline, grid_mode, method, target)
    if values is not output:
        store(values, output)


def _zoom_axes(source, axes, out_shape, spline, grid_mode, method, target):
    batch = for_upload(batched(source, axes))
    lengths = tuple(out_shape[axis] for axis in axes)
    trailing = axes == list(range(source.ndim - len(axes), source.ndim))
    direct = target is not None and trailing and can_hold_result(target, source)
    results = (target.reshape((-1,) + lengths) if direct
               else np.empty((batch.shape[0],) + lengths, np.float32))
    _core.zoom_arrays(spline.device, batch, results, len(axes), spline.model(spline.cval),
                      bool(grid_mode), method)
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
    _core.zoom_on_device(source.device, source._memory, output._memory, changed,
                         spline.model(spline.cval), bool(grid_mode), method, source._queue)
