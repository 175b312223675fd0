"""The model of a plane: a homography from the reference photograph to each photograph."""

import numpy as np

from ._least_squares import homogeneous, projected

MAX_ENLARGEMENT = 8.0  # of one corner of a photograph, beside the opposite one


def enlargement(matrices, shapes):
    """The largest ratio of the scales at which a photograph's corners show the plane, infinite if a
    corner shows its horizon. `matrices`: from the plane to each photograph."""
    worst = 1.0
    for matrix, shape in zip(matrices, shapes):
        corners = np.array([[x, y, 2] for x in (-1, 1) for y in (-1, 1)]) * (*shape[::-1], 1) / 2
        inverse = np.linalg.inv(matrix)
        depth = corners @ (inverse * np.sign(inverse[2, 2]))[2]
        worst = max(worst, depth.max() / depth.min() if depth.min() > 0 else np.inf)
    return worst


class PlaneModel:
    """For :func:`minimise`. A state is an array of homographies of shape (photographs, 3, 3), from
    points of the reference photograph. Coordinates of both are in units of `unit` pixels."""

    parameters = 8
    shared = 0

    def __init__(self, unit):
        self.unit = unit

    def moved(self, state, steps, _):
        steps = np.broadcast_to(steps, (len(state), 8))
        change = np.concatenate([steps, np.zeros((len(state), 1))], axis=1).reshape(-1, 3, 3)
        return (np.eye(3) + change) @ state

    def residuals(self, at_reference, at_moving, links):
        between = at_moving[links.moving] @ np.linalg.inv(at_reference[links.reference])
        points = homogeneous(links.source / self.unit)
        mapped = np.einsum("pij,pj->pi", between[links.pair], points)
        return projected(mapped, 0.03) * self.unit - links.target

    def in_units(self, homographies):
        """Homographies of pixels for coordinates in units."""
        scaling = np.diag([self.unit, self.unit, 1.0])
        found = np.linalg.inv(scaling) @ homographies @ scaling
        return found / found[..., 2:, 2:]

    def in_pixels(self, homographies):
        """Homographies of coordinates in units for pixels."""
        scaling = np.diag([self.unit, self.unit, 1.0])
        found = scaling @ homographies @ np.linalg.inv(scaling)
        return found / found[..., 2:, 2:]
