"""Arrays with missing samples on a device: found, filled, evaluated and marked there.

On processors, the host's threads do the same faster (_missing.py).
"""

import math
from dataclasses import replace

import numpy as np

from .. import _core
from .._device_array import DeviceArray
from . import _pieces
from ._geometry import MAX_AXES
from ._missing_checks import check_any_known, check_can_mark

# The types whose values all fit into float32.
_EXACT = tuple(np.dtype(name) for name in ("u1", "i1", "u2", "i2", "f2", "f4"))
_MOST_SAMPLES = 2**31 - 1


def fills(device):
    """Whether holes are filled on the device, rather than by the host's threads."""
    return device.info.kind != "cpu"


def supports(array, output, spline, axes):
    """Whether evaluate() supports arrays of these types and shapes, in host memory or on a device.

    `axes`: those that the transform changes, along which holes are filled.
    """
    n = len(axes)
    return (
        fills(spline.device)
        and spline.order > 0 and spline.precision == "single"
        and array.dtype in _EXACT and output.dtype in _EXACT
        and 1 <= n <= MAX_AXES and sorted(axes) == list(range(array.ndim - n, array.ndim))
        and not (spline.mode == "grid-constant" and spline.needs_placeholder())
        and 1 <= array.size <= _MOST_SAMPLES and 1 <= output.size <= _MOST_SAMPLES
        # The images, their masks and shares, and the memory of the fill.
        and _pieces.fits(spline.device, array.size, 2 * output.size))


def _new(like, shape, dtype):
    """A new array of this package, ordered with the same queue."""
    memory = _core.DeviceMemory(like.device, np.dtype(dtype).name, list(shape))
    return DeviceArray(memory, queue=like._queue)


def _marks(output, rule, spline):
    """How missing results are marked: the arguments of mark_missing_on_device()."""
    beyond = spline.cval if spline.mode == "constant" and spline.needs_placeholder() else None
    is_cval = spline.mode == "grid-constant" and spline.cval == rule.nodata
    avoids = rule.nodata is not None and output.dtype.kind in "iu" and not is_cval
    lowest = highest = following = 0.0
    if avoids:
        limits = np.iinfo(output.dtype)
        lowest, highest = float(limits.min), float(limits.max)
        following = rule.nodata + (-1 if rule.nodata == limits.max else 1)
    return rule.value, spline.mode == "constant", beyond, avoids, lowest, highest, following


def evaluate(function, source, output, spline, rule, axes):
    """Evaluate a DeviceArray, of which samples may be missing, into another one.

    Waits for the number of missing samples. Returns the image of weights, or None if the caller
    wants none.
    """
    n = len(axes)
    values = _new(source, source.shape, np.float32)
    known = _new(source, source.shape, np.uint8)
    _core.copy_on_device(source.device, source._memory, values._memory, source._queue)
    nodata = None if rule.nodata is None or math.isnan(rule.nodata) else float(rule.nodata)
    missing = _core.find_missing_on_device(
        source.device, values._memory, n, nodata, known._memory, source._queue)
    check_any_known(missing < source.size)
    if missing:
        check_can_mark(rule, output)
    marks = _marks(output, rule, spline)
    avoids = marks[3]
    if missing == 0 and not rule.weights and not avoids and marks[2] is None:
        function(source, output, spline)
        return None
    shares = (source._like if rule.weights else lambda *of: _new(source, *of))(
        output.shape, np.float32)
    outside = 2.0 if spline.mode == "constant" else 1.0
    function(known, shares, replace(spline, cval=outside, prefilter=False, of_mask=True))
    if missing:
        _core.fill_missing_on_device(
            source.device, values._memory, known._memory, n, source._queue)
    if marks[2] is not None:
        spline = replace(spline, cval=0.0)
    results = output if output.dtype == np.float32 else _new(source, output.shape, np.float32)
    function(values, results, spline)
    _core.mark_missing_on_device(
        source.device, shares._memory, results._memory, *marks, source._queue)
    if results is not output:
        _core.copy_on_device(source.device, results._memory, output._memory, source._queue)
    return shares if rule.weights else None


def evaluate_from_host(function, array, output, spline, rule, axes):
    """The same for NumPy arrays. Returns the image of weights, or None."""
    samples = np.ascontiguousarray(array)
    memory = _core.DeviceMemory(spline.device, samples.dtype.name, list(samples.shape))
    memory.upload(samples)
    source = DeviceArray(memory)
    results = _new(source, output.shape, output.dtype)
    weights = evaluate(function, source, results, spline, rule, axes)
    if output.flags.c_contiguous:
        results._memory.download(output)
    else:
        output[...] = results.numpy()
    return None if weights is None else weights.numpy()
