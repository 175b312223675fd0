"""Tasks for Dask arrays with missing samples.

A task fills the holes of its samples before it crops them to those that its tile needs, so that a
hole across the edges of chunks gets the same values in each of them.
"""

from dataclasses import dataclass, replace

import numpy as np

from .._nodata import known_samples
from ..ndimage import _missing
from ..ndimage._evaluate import evaluate_affine, evaluate_points
from ..ndimage._interpolation import _spline
from ._blocks import Part, component_of, put_together

# How far a task reads beyond the samples of its tile. Values are smoothed within 16 samples of the
# edge of a hole, so a hole of up to 32 samples is smoothed whole; the squared Laplacian reaches two
# samples beyond it.
MARGIN = 34


@dataclass(frozen=True)
class _Piece:
    """A box of the wanted samples that is continuous in the array, read with its margin."""

    slices: list   # that put_together() joins
    inner: tuple   # the wanted samples in what is read
    target: tuple  # the same in the wanted box


class WidePart:
    """A box of a Dask array with a margin along some axes, as far as the array reaches.

    `wanted` may continue beyond the end of an axis at its beginning, as in Part. Holes do not
    continue there: what lies on either side is one of several pieces.
    """

    def __init__(self, array, wanted, axes):
        self.lengths = tuple(span.stop - span.start for span in wanted)
        self.keys, self.pieces = [], []
        self._divide(array, wanted, axes, [])

    def _divide(self, array, wanted, axes, spans):
        axis = len(spans)
        if axis == array.ndim:
            return self._add(array, axes, spans)
        length, at = array.shape[axis], wanted[axis].start
        while at < wanted[axis].stop:
            first = at % length
            count = min(wanted[axis].stop - at, length - first)
            begin = at - wanted[axis].start
            self._divide(array, wanted, axes, [*spans, (first, count, begin)])
            at += count

    def _add(self, array, axes, spans):
        read, inner, target = [], [], []
        for axis, (first, count, begin) in enumerate(spans):
            margin = MARGIN if axis in axes else 0
            start = max(0, first - margin)
            read.append(slice(start, min(array.shape[axis], first + count + margin)))
            inner.append(slice(first - start, first - start + count))
            target.append(slice(begin, begin + count))
        part = Part(array, read)
        self.keys.append(part.keys)
        self.pieces.append(_Piece(part.slices, tuple(inner), tuple(target)))


class _Samples:
    """The samples of a WidePart in a task."""

    def __init__(self, blocks, lengths, pieces, axes):
        self._pieces = pieces
        self._axes = axes
        self._wide = [put_together(block, piece.slices) for block, piece in zip(blocks, pieces)]
        self.array = self._assembled(lengths, self._wide)

    def _assembled(self, lengths, wide):
        if len(wide) == 1:
            return wide[0][self._pieces[0].inner]
        whole = np.empty(lengths, wide[0].dtype)
        for piece, samples in zip(self._pieces, wide):
            whole[piece.target] = samples[piece.inner]
        return whole

    def filled(self, part_of, dtype, rule):
        """The wanted samples, with other values in place of missing ones."""
        wide = []
        for samples in self._wide:
            known = known_samples(samples, rule.nodata)
            part = part_of(samples)
            wide.append(part.astype(dtype) if known is None
                        else _missing.filled(part, known, self._axes, dtype))
        return self._assembled(self.array.shape, wide)


@dataclass(frozen=True)
class Choice:
    """How tasks evaluate; `rule` is a Missing of warpalign.ndimage."""

    rule: _missing.Missing
    order: int
    mode: str
    cval: complex
    prefilter: bool
    antialias: bool
    device: str | None
    dtype: np.dtype

    def evaluate(self, function, samples, shape):
        """Return the values of one chunk, and their weights or None."""
        output = np.empty(shape, self.dtype)

        def spline_of(cval):
            return _spline(self.order, self.mode, cval, self.prefilter, self.device, "single",
                           bool(self.antialias))

        splines = _missing.splines_of(spline_of, samples.array, self.cval)
        known = known_samples(samples.array, self.rule.nodata, self.order)
        weights = _missing.evaluate_parts(
            function, samples.array, known, output, splines, self.rule,
            lambda part_of, dtype: samples.filled(part_of, dtype, self.rule))
        return output, weights


def _smoothed_along(spline):
    """The spline of a mask whose changed axes are named."""
    return replace(spline, of_mask=False)


def transformed(blocks, lengths, pieces, axes, matrix, shape, choice):
    """One chunk of the output of a transform that changes `axes`, and its weights or None."""
    linear, offset = matrix[:, :-1], matrix[:, -1]

    def function(part, output, spline):
        if not spline.of_mask:
            return evaluate_affine(part, linear, offset, output, spline)
        # An axis that the transform of the whole array changes may stay as it is in a chunk.
        evaluate_affine(part, linear, offset, output, _smoothed_along(spline), plane=axes)

    return choice.evaluate(function, _Samples(blocks, lengths, pieces, axes), shape)


def evaluated(blocks, points, lengths, pieces, choice):
    """One chunk of the values at points, for each index of the axes after those of the points, and
    its weights or None."""
    ndim = len(points)

    def function(part, output, spline):
        for index in np.ndindex(part.shape[ndim:]):
            evaluate_points(np.ascontiguousarray(part[(slice(None),) * ndim + index]), points,
                            output[(..., *index)], spline)

    samples = _Samples(blocks, lengths, pieces, range(ndim))
    return choice.evaluate(function, samples, points.shape[1:] + lengths[ndim:])


def divided(pairs, weights):
    """The array of values of an array of pairs, or it and the array of weights."""
    values = component_of(pairs, 0, "values", pairs.dtype)
    if not weights:
        return values
    return values, component_of(pairs, 1, "weights", np.dtype(np.float32))
