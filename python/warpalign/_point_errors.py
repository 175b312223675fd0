"""Distances of points from where they belong."""

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True)
class PointErrors:
    """Distances between mapped points and where they belong.

    Attributes
    ----------
    distances : ndarray of float64, shape (n,)
        One for each pair, in pixels or millimetres.
    mean, rms, max : float
        The mean, the root mean square and the largest of the distances, in pixels or millimetres.
    quantiles : dict of float
        The distance, in pixels or millimetres, that a fraction of the pairs does not exceed.
    """

    distances: np.ndarray
    mean: float
    rms: float
    max: float
    quantiles: dict
