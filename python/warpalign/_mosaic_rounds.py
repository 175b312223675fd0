"""Rounds of multiplexed imaging: each tile is registered to the same tile of the first round."""

import numpy as np

from ._batch import register_batch
from ._errors import Error
from ._images import as_image
from ._nodata import with_nan

# A shift is left out if it differs from the other tiles' by so many deviations, and by so many
# pixels.
_MAX_DEVIATIONS = 5
_MIN_DEVIATION = 2.0


class _Pairs:
    """Pairs that are read when a device is ready."""

    def __init__(self, reference_tiles, tiles, nodata):
        self._reference_tiles, self._tiles, self._nodata = reference_tiles, tiles, nodata

    def __len__(self):
        return len(self._tiles)

    def __getitem__(self, index):
        return (self._known(self._reference_tiles[index], f"tile {index} of reference_tiles"),
                self._known(self._tiles[index], f"tile {index}"))

    def _known(self, tile, what):
        if self._nodata is None:
            return tile
        return with_nan(as_image(tile, what), self._nodata, what)


def _judged(result, min_confidence):
    """The outcome of a registration, and why it is left out."""
    if isinstance(result, Exception):
        return "failed", str(result)
    if result.ambiguous:
        return "ambiguous", "the texture repeats itself or leaves a direction undetermined"
    if not result.confidence >= min_confidence:
        return "unreliable", (f"confidence {result.confidence:.2f} is below "
                              f"{min_confidence:.2f}")
    return "used", ""


def tile_shifts(reference_tiles, tiles, min_confidence, nodata, devices, streams, progress):
    """The shift of each tile in pixels (rows, columns), and a list of (outcome, reason, confidence,
    correlation). Tiles without an own shift follow the median of the others."""
    results = register_batch(_Pairs(reference_tiles, tiles, nodata), devices=devices,
                             streams=streams, on_error="return", progress=progress,
                             motion="translation")
    shifts = np.full((len(tiles), 2), np.nan)
    notes = []
    for index, result in enumerate(results):
        outcome, reason = _judged(result, min_confidence)
        scores = (0.0, 0.0)
        if outcome != "failed":
            scores = (float(result.confidence), float(result.correlation))
        if outcome == "used":
            # The reference's pixel that shows the tile's first pixel.
            shifts[index] = -np.asarray(result.matrix)[:2, 2]
        notes.append([outcome, reason, *scores])
    accepted = ~np.isnan(shifts[:, 0])
    if not accepted.any():
        raise Error("no tile of the round matches its tile of the first round; check that both "
                    "sequences have the same order, and that the channel shows the same structures")
    middle = np.median(shifts[accepted], axis=0)
    lengths = np.linalg.norm(shifts - middle, axis=1)
    # Of a normal distribution in the plane, half lies within 1.18 deviations.
    deviation = max(np.median(lengths[accepted]) / 1.18, _MIN_DEVIATION)
    wrong = accepted & (lengths > _MAX_DEVIATIONS * deviation)
    for index in np.flatnonzero(wrong):
        reason = f"the shift differs by {lengths[index]:.1f} pixels from those of the other tiles"
        notes[index][:2] = ["contradicted", reason]
    shifts[~accepted | wrong] = np.median(shifts[accepted & ~wrong], axis=0)
    return shifts, notes
