"""Registers pairs of photographs, reduced, as homographies."""

from dataclasses import dataclass

import numpy as np

from .._axes import swap_axes
from .._batch import register_batch
from ._least_squares import mapped
from ._solution import facing, overlap_points

# The longer side of photographs while pairs are searched, and while they are refined, in pixels.
_COARSE = 640
_FINE = 1600
# Photographs that are reduced by this or less are not refined: their pairs are accurate to some
# hundredths of a reduced pixel.
_FINE_ENOUGH = 2
# Of photographs taken from one place with one lens, the scale differs by perspective only.
_SCALES = {"min_scale": 0.6, "max_scale": 1.7}
# A refined homography that moves the overlap by more than this part of the longer side went astray.
_MAX_CHANGE = 0.01


@dataclass
class Found:
    """A pair of photographs that was registered.

    Attributes
    ----------
    ends : (int, int)
        The numbers of the reference and of the moving photograph.
    homography : ndarray, shape (3, 3), or None
        From points of the reference photograph to points of the moving one, (x, y, 1) from their
        centres. None unless the pair was accepted.
    outcome, reason : str
        As of :class:`warpalign.PanoramaPair`.
    confidence, correlation : float
        Of the registration.
    predicted : bool
        Whether the search began with a prediction.
    """

    ends: tuple
    homography: np.ndarray | None
    outcome: str
    reason: str
    confidence: float = 0.0
    correlation: float = 0.0
    predicted: bool = False


class _Reduced:
    """Pairs of reduced photographs, which are counted when a device takes them."""

    def __init__(self, grays, ends, bar):
        self._grays, self._ends, self._bar = grays, ends, bar

    def __len__(self):
        return len(self._ends)

    def __getitem__(self, index):
        self._bar.update()
        reference, moving = self._ends[index]
        return self._grays(reference), self._grays(moving)


def _outcome(result, min_confidence):
    """The outcome of a registration, and why it is left out."""
    if isinstance(result, Exception):
        return "failed", str(result)
    if result.ambiguous:
        return "ambiguous", "the texture repeats itself or leaves a direction undetermined"
    if not result.confidence >= min_confidence:
        return "unreliable", (f"confidence {result.confidence:.2f} is below "
                              f"{min_confidence:.2f}")
    return "used", ""


class Matcher:
    """Registers pairs of photographs.

    Attributes
    ----------
    factors : list of int
        How many pixels along a side are one of :attr:`grays`.
    grays : list of ndarray
        The photographs in gray, reduced.
    """

    def __init__(self, photographs, min_confidence, max_rotation, devices, streams, bar):
        self._photographs, self._min_confidence = photographs, min_confidence
        self._limits = {"min_angle": -max_rotation, "max_angle": max_rotation, **_SCALES}
        self._run = {"devices": devices, "streams": streams, "on_error": "return",
                     "progress": False}
        self._bar = bar
        sides = [max(shape) for shape in photographs.shapes]
        self.factors = [-(-side // _COARSE) for side in sides]
        self._fine = [-(-side // _FINE) if factor > _FINE_ENOUGH else factor
                      for side, factor in zip(sides, self.factors)]
        self.grays = [photographs.gray(index, factor) for index, factor in enumerate(self.factors)]

    def _to_pixels(self, index, factor):
        """From points (x, y) from a photograph's centre to pixels of its reduced image."""
        height, width = self._photographs.shapes[index]
        return np.array([[1 / factor, 0, (width / 2 - 0.5 - (factor - 1) / 2) / factor],
                         [0, 1 / factor, (height / 2 - 0.5 - (factor - 1) / 2) / factor],
                         [0, 0, 1]])

    def _register(self, grays, factors, ends, near):
        initial = None
        if near is not None:
            initial = [None if one is None else swap_axes(
                self._to_pixels(moving, factors[moving]) @ one
                @ np.linalg.inv(self._to_pixels(reference, factors[reference])))
                for one, (reference, moving) in zip(near, ends)]
        # A prediction needs no limits: where the perspective is strong, the scale in the middle may
        # be beyond them. If no fit from there is reliable, a longer search rarely helps.
        results = register_batch(_Reduced(grays, ends, self._bar), initial=initial,
                                 motion="homography", **self._run,
                                 **(self._limits if near is None else {"search": "fast"}))
        found = []
        for (reference, moving), result in zip(ends, results):
            outcome, reason = _outcome(result, self._min_confidence)
            scores = (0.0, 0.0) if outcome == "failed" else (float(result.confidence),
                                                             float(result.correlation))
            homography = None
            if outcome == "used":
                homography = facing(np.linalg.inv(self._to_pixels(moving, factors[moving]))
                                    @ np.asarray(result.matrix_xy)
                                    @ self._to_pixels(reference, factors[reference]))
                shapes = [self._photographs.shapes[end] for end in (reference, moving)]
                if not len(overlap_points(homography, *shapes)[0]):
                    homography, outcome = None, "unreliable"
                    reason = "its homography leaves no overlap"
            found.append(Found((reference, moving), homography, outcome, reason, *scores,
                               near is not None))
        return found

    def quick_confidences(self, ends):
        """The confidence of a quick search of each pair, for a similarity: photographs that show
        the same scene reach a share of what a homography reaches, others almost nothing."""
        results = register_batch(_Reduced(self.grays.__getitem__, ends, self._bar), refine=False,
                                 motion="similarity", **self._run, **self._limits)
        return [0.0 if isinstance(result, Exception) else float(result.confidence)
                for result in results]

    def search(self, ends, near=None):
        """Register pairs. `near`: the homography of each that is expected, or None."""
        if not ends:
            return []
        return self._register(self.grays.__getitem__, self.factors, ends, near)

    def refine(self, pairs, near):
        """Register accepted pairs once more, less reduced. What goes astray stays as it was.

        `near`: the homography of each pair where the search begins.
        """
        finer = [number for number, pair in enumerate(pairs)
                 if any(self._fine[end] < self.factors[end] for end in pair.ends)]
        if not finer:
            return pairs
        again = self._register(
            lambda index: self._photographs.gray(index, self._fine[index]), self._fine,
            [pairs[number].ends for number in finer], [near[number] for number in finer])
        refined = list(pairs)
        for number, pair in zip(finer, again):
            if pair.outcome == "used" and self._agree(pair, near[number]):
                refined[number] = pair
        return refined

    def _agree(self, pair, homography):
        shapes = [self._photographs.shapes[end] for end in pair.ends]
        source, target = overlap_points(homography, *shapes)
        if not len(source):
            return False
        moved = np.linalg.norm(mapped(pair.homography, source) - target, axis=1)
        return np.median(moved) < _MAX_CHANGE * max(map(max, shapes))
