"""Arrays with missing samples: NaN and infinities, and samples that equal `nodata`.

Missing samples are replaced by the smoothest continuation of the known ones, so that the prefilter
spreads nothing. The mask of the known samples is interpolated like the image, with the spline's own
weights: where less than half of a point's support is known, the result is missing, too.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from .. import _core
from .._device_array import DeviceArray
from .._foreign import is_on_device
from .._nodata import can_hold, is_finite, known_samples
from . import _double, _missing_on_device
from ._geometry import MAX_AXES
from ._missing_checks import check_any_known, check_can_mark

# Rounding must not decide at exactly half of the support.
_ROUNDING = 1e-5
# Weights that differ from 1 by less are 1.
_EQUAL = 1e-6
# The mask has this value beyond the edges in mode 'constant', which no interpolated mask reaches.
_OUTSIDE = 2.0


@dataclass(frozen=True)
class Missing:
    """What a caller chose for missing samples."""

    ignore: bool = False
    nodata: float | None = None
    weights: bool = False

    @property
    def value(self):
        """What the result holds where it is missing."""
        return math.nan if self.nodata is None else self.nodata


SPREAD = Missing()


def checked(missing, nodata, weights, *, labels=False, filtered=True):
    """Return the choice as a Missing. Raises ValueError if the arguments contradict each other.

    `filtered`: whether the input holds samples, rather than coefficients.
    """
    if not isinstance(missing, str) or missing not in ("spread", "ignore"):
        raise ValueError(f"invalid missing {missing!r} (choose from: 'spread', 'ignore')")
    if missing == "spread":
        for name, is_given in (("nodata", nodata is not None), ("weights", weights)):
            if is_given:
                raise ValueError(f"{name} needs missing='ignore'")
        return SPREAD
    if labels:
        raise ValueError("missing='ignore' cannot be combined with labels=True; give the missing "
                         "samples a label of their own")
    if not filtered:
        raise ValueError("missing='ignore' needs samples, not coefficients; use prefilter=True")
    return Missing(True, nodata, bool(weights))


def default_for(missing, image, labels=False):
    """The choice of `missing`; None: 'ignore' for an image in host memory, else 'spread'.

    Labels are all known.

    Results warp like this. Looking for missing samples would make an image on a device wait.
    """
    if missing is not None:
        return missing
    return "spread" if labels or is_on_device(image) else "ignore"


def check_nodata(rule, array, output):
    """Raise ValueError if no sample of the input or of the output can have the nodata value."""
    if rule.nodata is None:
        return
    for name, dtype in (("input", array.dtype), ("output", output.dtype)):
        if not can_hold(dtype, rule.nodata):
            raise ValueError(
                f"nodata is {rule.nodata}, which no sample of an {name} of {dtype} can have; "
                "choose a value of that type")


def filled(array, known, axes, dtype):
    """The array with other values in place of missing samples, smooth along at most three axes."""
    axes = sorted(axes)[-MAX_AXES:]
    if not axes:
        return np.where(known, array, 0).astype(dtype)
    last = range(array.ndim - len(axes), array.ndim)
    moved = np.moveaxis(array, axes, last)
    batch_shape = (-1,) + moved.shape[array.ndim - len(axes):]
    with np.errstate(over="ignore"):
        batch = np.array(moved, dtype, order="C").reshape(batch_shape)
    mask = np.ascontiguousarray(np.moveaxis(known, axes, last)).view(np.uint8).reshape(batch_shape)
    _core.fill_missing(batch, mask)
    return np.moveaxis(batch.reshape(moved.shape), last, axes)


def _type_for(array, known, spline):
    """The type of the filled samples: float32, unless the computation is in double precision."""
    if spline.precision == "double":
        return np.float64, spline
    if array.dtype.kind in "iu" and _double.is_needed(np.where(known, array, 0), spline):
        return np.float64, replace(spline, precision="double")
    return np.float32, spline


def _support(function, known, output, spline):
    """The known share of each result's support, and the mask of results beyond the edges."""
    weights = np.empty(output.shape, np.float32)
    cval = _OUTSIDE if spline.mode == "constant" else 1.0
    mask_spline = replace(spline, cval=cval, prefilter=False, of_mask=True)
    function(np.ascontiguousarray(known).view(np.uint8), weights, mask_spline)
    outside = weights > (1 + _OUTSIDE) / 2
    weights[outside] = 0
    weights[weights > 1 - _EQUAL] = 1
    return weights, outside


def evaluate_parts(function, array, known, output, splines, rule, fill):
    """Evaluate the real parts of an array, of which samples may be missing.

    `known`: as known_samples() returns it. `splines`: the spline of each part. fill(part_of, dtype)
    returns part_of(array) with other values in place of missing samples; part_of is the identity,
    or np.real or np.imag. Returns the image of weights, or None if the caller wants none.
    """
    part_of = (np.real, np.imag) if array.dtype.kind == "c" else (lambda whole: whole,)
    if known is None:
        for part, spline in zip(part_of, splines):
            function(part(array), part(output), spline)
        if not rule.weights and not _looks_missing(output, rule, splines[0]).any():
            return None
        weights, outside = _support(function, np.ones(array.shape, bool), output, splines[0])
        _avoid_nodata(output, outside, rule, splines[0])
        return weights if rule.weights else None
    check_can_mark(rule, output)
    weights, outside = _support(function, known, output, splines[0])
    for part, spline in zip(part_of, splines):
        if spline.order == 0:
            function(part(array), part(output), spline)
            continue
        dtype, spline = _type_for(part(array), known, spline)
        function(fill(part, dtype), part(output), spline)
    _avoid_nodata(output, outside, rule, splines[0])
    output[(weights < _core.MIN_KNOWN_SHARE - _ROUNDING) & ~outside] = rule.value
    return np.nan_to_num(weights, nan=0.0) if rule.weights else None


def _looks_missing(output, rule, spline):
    """Which samples of an interpolated output of integers equal the nodata value."""
    is_cval = spline.mode == "grid-constant" and spline.cval == rule.nodata
    if rule.nodata is None or output.dtype.kind not in "iu" or spline.order == 0 or is_cval:
        return np.zeros(1, bool)
    return output == rule.nodata


def _avoid_nodata(output, outside, rule, spline):
    """Replace values that are rounded to the nodata value by the next integer."""
    looks_missing = _looks_missing(output, rule, spline)
    if looks_missing.any():
        largest = np.iinfo(output.dtype).max
        output[looks_missing & ~outside] = rule.nodata + (-1 if rule.nodata == largest else 1)


def may_be_missing(array, nodata):
    """Whether samples of a NumPy array are not finite, or a nodata value is to be looked for."""
    return nodata is not None or (array.dtype.kind == "f" and not is_finite(array))


def stays_on_device(array, output, rule, spline, axes):
    """Whether an array on a device is evaluated there, although samples may be missing."""
    return (isinstance(array, DeviceArray) and rule.ignore
            and _missing_on_device.supports(array, output, spline, axes))


def splines_of(spline_of, array, cval):
    """The spline of each real part of an array, by spline_of(value beyond the edges)."""
    cvals = [np.real(cval), np.imag(cval)] if array.dtype.kind == "c" else [cval]
    return [spline_of(part) for part in cvals]


def evaluate_any(function, array, output, rule, axes, spline_of, cval, by_matrix=True):
    """Evaluate an array of which samples may be missing, on the host or a device.

    Returns the output, or the output and the image of weights. Calls spline_of(value beyond the
    edges) for the spline of each real part. `by_matrix`: whether the transform is one; points in
    host memory are more exact than those that arrays on a device are evaluated at.
    """
    check_nodata(rule, array, output)
    on_device = isinstance(array, DeviceArray)
    splines = splines_of(spline_of, array, cval)
    if stays_on_device(array, output, rule, splines[0], axes):
        weights = _missing_on_device.evaluate(function, array, output, splines[0], rule, axes)
        return output if weights is None else (output, weights)
    if (not on_device and by_matrix and _missing_on_device.supports(array, output, splines[0], axes)
            and may_be_missing(array, rule.nodata)):
        weights = _missing_on_device.evaluate_from_host(
            function, array, output, splines[0], rule, axes)
        return output if weights is None else (output, weights)
    samples = array.numpy() if on_device else array
    values = np.empty(output.shape, output.dtype) if on_device else output
    known = known_samples(samples, rule.nodata, splines[0].order)
    check_any_known(known is None or known.any())

    def fill(part_of, dtype):
        return filled(part_of(samples), known, axes, dtype)

    weights = evaluate_parts(function, samples, known, values, splines, rule, fill)
    if on_device:
        output._memory.upload(values, array._queue)
        if weights is not None:
            on_host, weights = weights, array._like(weights.shape, weights.dtype)
            weights._memory.upload(on_host, array._queue)
    return output if weights is None else (output, weights)
