"""The tasks that evaluate an array at points of its first axes."""

from dataclasses import dataclass

import numpy as np

from .._tiles import tile_for_points
from ..ndimage import _missing, _rules
from ..ndimage._planes import at_positions
from ._blocks import Part, bound, put_together
from ._missing import Choice, WidePart, evaluated


def _in_tile(points, scale):
    """Points of the array as points of a tile."""
    shape = (-1,) + (1,) * (points.ndim - 1)
    return np.asarray(points, np.float64) * scale[0].reshape(shape) + scale[1].reshape(shape)


def _values(source, blocks, points_of, slices, scale, dtype, arguments):
    """One chunk of the output."""
    points = _in_tile(points_of(source), scale)
    return at_positions(put_together(blocks, slices), points, output=dtype, **arguments)


def _values_with_missing(source, blocks, points_of, lengths, pieces, scale, choice):
    """One chunk of the output, and its weights or None."""
    return evaluated(blocks, _in_tile(points_of(source), scale), lengths, pieces, choice)


@dataclass(frozen=True)
class AtPoints:
    """How a Dask array is evaluated; `rule` is a Missing of warpalign.ndimage."""

    array: object
    ndim: int  # the number of coordinates of a point
    rule: _missing.Missing
    order: int
    mode: str
    cval: complex
    prefilter: bool
    labels: bool
    device: str | None
    dtype: np.dtype

    def task(self, low, high, source, points_of, further=()):
        """The task of one chunk. Its points, `points_of` the value of the key `source`, lie between
        `low` and `high`; the slices of the array's other axes are `further`."""
        tile = tile_for_points(self.array.shape[:self.ndim], self.order, self.prefilter,
                               _rules.named_mode(self.mode), low, high)
        scale = np.stack([np.diagonal(tile.matrix), tile.matrix[:, -1]])
        wanted = [*tile.input, *further]
        if self.rule.ignore:
            part = WidePart(self.array, wanted, range(self.ndim))
            choice = Choice(self.rule, self.order, tile.mode, self.cval, self.prefilter, False,
                            self.device, self.dtype)
            return (bound(_values_with_missing, points_of=points_of, lengths=part.lengths,
                          pieces=part.pieces, scale=scale, choice=choice), source, part.keys)
        part = Part(self.array, wanted)
        arguments = {"order": self.order, "mode": tile.mode, "cval": self.cval,
                     "prefilter": self.prefilter, "labels": self.labels, "device": self.device}
        return (bound(_values, points_of=points_of, slices=part.slices, scale=scale,
                      dtype=self.dtype, arguments=arguments), source, part.keys)
