"""Label images at orders above 0: interpolates the coverage of each label; the largest one wins.

The coverage of a label is the interpolated image that is 1 at the label's samples and 0 elsewhere.
Labels that are so far apart that the coverage of one is negligible at the other are interpolated
together, so that many small labels take a few dozen interpolations.
"""

import bisect
import math
from dataclasses import replace

import numpy as np

from .._device_array import DeviceArray

# Coverages that differ by less count as equal, so that rounding decides nothing.
_TIE = {"single": 1e-4, "double": 1e-9}
# The dominant pole of the prefilter of each order: coverage decays by this factor a sample.
_POLE = {2: 0.172, 3: 0.268, 4: 0.362, 5: 0.431}

# For the grid on which labels are grouped: the least side of a cell, and the most cells along an
# axis.
_LEAST_CELL, _MAX_CELLS = 8, 256
# The most different integers in the range of a label image for which a table is used.
_MAX_TABLE = 1 << 22


def checked_cval(array, output, mode, cval):
    """Return `cval` as an integer. Raises TypeError or ValueError if these are no labels."""
    if array.dtype.kind not in "biu":
        raise TypeError(
            f"labels=True needs an input of integers or bool, not {array.dtype}; convert the "
            "labels to integers, or leave out labels")
    if output.dtype.newbyteorder("=") != array.dtype.newbyteorder("="):
        raise TypeError(
            f"labels=True needs an output of the input's type {array.dtype}, not {output.dtype}")
    least, most = 0, 1
    if array.dtype.kind != "b":
        least, most = np.iinfo(array.dtype).min, np.iinfo(array.dtype).max
    if isinstance(cval, (float, np.floating)) and not math.isfinite(cval):
        is_label = False
    else:
        is_label = int(cval) == cval and least <= int(cval) <= most
    if not is_label:
        raise ValueError(
            f"with labels=True, cval must be an integer from {least} to {most}, not {cval}")
    return int(cval)


def _numbered(array):
    """The labels in ascending order, and the array of their numbers."""
    if array.dtype.kind == "b":
        array = array.view(np.uint8)
    least, most = int(array.min()), int(array.max())
    if most - least < _MAX_TABLE:
        # Differences wrap around, and so are right even if they exceed the signed type's range.
        unsigned = np.dtype(f"u{array.dtype.itemsize}")
        native = array.astype(array.dtype.newbyteorder("="), copy=False)
        at = (native.astype(unsigned, copy=False) - unsigned.type(least % 2**(8 * array.itemsize)))
        is_used = np.zeros(most - least + 1, bool)
        is_used[at] = True
        values = [least + int(step) for step in np.flatnonzero(is_used)]
        numbers = (np.cumsum(is_used) - 1).astype(np.int32)[at]
        return values, numbers
    values, numbers = np.unique(array, return_inverse=True)
    return values.tolist(), numbers.reshape(array.shape).astype(np.int32)


def _boxes(numbers, count):
    """The first and the last index of each label along each axis, of shape (axes, labels)."""
    first = np.full((numbers.ndim, count), max(numbers.shape))
    last = np.full((numbers.ndim, count), -1)
    for axis in range(numbers.ndim):
        planes = np.moveaxis(numbers, axis, 0)
        for index in range(len(planes)):
            last[axis, planes[index]] = index
        for index in reversed(range(len(planes))):
            first[axis, planes[index]] = index
    return first, last


def _reach(spline, tolerance):
    """The number of samples beyond a label at which its coverage is negligible."""
    support = (spline.order + 1) // 2 + 1
    if not spline.prefilter or spline.order < 2:
        return support
    return support + math.ceil(math.log(tolerance / 100) / math.log(_POLE[spline.order]))


def _groups(first, last, shape, reach, is_periodic):
    """Return the group of each label, and the box of each label extended by the reach.

    Boxes of the same group do not overlap. The largest labels choose first, each the first group
    that is free, on a grid of cells. Labels without samples have the group -1.
    """
    lowest, highest = first - reach, last + reach
    lengths = np.array(shape)[:, None]
    if is_periodic:  # a label near one edge is near the opposite one, too
        wraps = (lowest < 0) | (highest >= lengths)
        lowest, highest = np.where(wraps, 0, lowest), np.where(wraps, lengths - 1, highest)
    lowest, highest = np.maximum(lowest, 0), np.minimum(highest, lengths - 1)
    side = max(_LEAST_CELL, max(shape) // _MAX_CELLS)
    low, high = lowest // side, highest // side + 1
    taken = np.zeros(tuple(-(-n // side) for n in shape) + (8,), bool)
    group = np.full(first.shape[1], -1, np.int32)
    by_size = np.argsort(-np.prod((high - low).astype(float), axis=0), kind="stable")
    axes = tuple(range(len(shape)))
    for label in by_size[last[0, by_size] >= 0]:
        box = tuple(slice(a, b) for a, b in zip(low[:, label], high[:, label]))
        is_taken = taken[box].any(axis=axes)
        chosen = int(np.argmin(is_taken))
        if is_taken[chosen]:  # all of them
            chosen = taken.shape[-1]
            taken = np.concatenate([taken, np.zeros_like(taken)], axis=-1)
        taken[box + (chosen,)] = True
        group[label] = chosen
    return group, lowest, highest


class _Winner:
    """The largest coverage so far at each output sample, and the number of its label."""

    def __init__(self, shape, dtype, outside, tolerance):
        self.coverage = np.full(shape, -np.inf, dtype)
        self.label = np.full(shape, outside, np.int32)
        self.tolerance = tolerance

    def add(self, coverage, label):
        """Let labels take part: one for all samples, or one for each, -1 for none."""
        wins = coverage > self.coverage + self.tolerance
        ties = (coverage >= self.coverage - self.tolerance) & (label < self.label)
        wins = (wins | ties) & np.greater_equal(label, 0)
        np.copyto(self.label, label, where=wins)
        np.maximum(self.coverage, coverage, out=self.coverage,
                   where=np.greater_equal(label, 0) & (coverage == coverage))


def evaluate(function, array, output, cval, spline):
    """Store the label with the largest coverage in `output`.

    Calls function(array, its output, its spline) to interpolate. The smallest label wins a tie. The
    host compares the coverages, so that arrays on a device are copied through it.
    """
    if spline.order == 0 or array.size == 0 or output.size == 0:
        return function(array, output, spline)
    if isinstance(array, DeviceArray):
        chosen = np.empty(output.shape, output.dtype)
        evaluate(function, array.numpy(), chosen, cval, spline)
        output._memory.upload(chosen, array._queue)
        return
    values, numbers = _numbered(array)
    # cval is one more label. Its samples lie beyond the edges, so its box is the whole array.
    has_outside = spline.mode in ("constant", "grid-constant")
    outside = bisect.bisect_left(values, cval)
    if values[outside:outside + 1] != [cval]:
        values.insert(outside, cval)
        numbers += numbers >= outside
    first, last = _boxes(numbers, len(values))
    if has_outside:
        first[:, outside], last[:, outside] = 0, np.array(array.shape) - 1
    tolerance = _TIE[spline.precision]
    group, lowest, highest = _groups(
        first, last, array.shape, _reach(spline, tolerance), spline.mode in ("wrap", "grid-wrap"))
    count = int(group.max()) + 1
    dtype = np.float64 if spline.precision == "double" else np.float32
    winner = _Winner(output.shape, dtype, outside, tolerance)
    coverage, owner = np.empty(output.shape, dtype), np.empty(output.shape, np.int32)
    group_of = group[numbers]
    in_groups = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[in_groups], np.arange(count + 1))
    lookup = replace(spline, order=0, cval=-1.0,
                     mode="nearest" if spline.mode == "grid-constant" else spline.mode)
    for number in range(count):
        labels = in_groups[starts[number]:starts[number + 1]]
        is_outside = has_outside and outside in labels
        function((group_of == number).view(np.uint8), coverage,
                 replace(spline, cval=1.0 if is_outside else 0.0))
        if len(labels) == 1:
            winner.add(coverage, labels[0])
            continue
        owners = np.full(array.shape, -1, np.int32)
        for label in labels:
            owners[tuple(slice(a, b + 1)
                         for a, b in zip(lowest[:, label], highest[:, label]))] = label
        function(owners, owner, lookup)
        winner.add(coverage, owner)
    table = np.array(values, output.dtype)
    output[...] = table[winner.label]
