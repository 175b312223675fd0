"""The surfaces that panoramas are projected to."""

import numpy as np

# Angles from the axis of a plane, and from the horizon of a cylinder, beyond which a projection
# stretches photographs too much.
MAX_ANGLE = {"planar": 80.0, "cylindrical": 80.0}


# On all surfaces the direction at (x, y) is proportional to across(x) * p(y) + (0, q(y), 0), which
# saves work on a grid: factors() gives across, of shape (3, columns), p and q.


class Spherical:
    """x is the longitude and y the latitude (down), both in radians."""

    name = "spherical"
    period = 2 * np.pi

    @staticmethod
    def of_directions(directions):
        x, y, z = np.moveaxis(directions, -1, 0)
        return np.stack([np.arctan2(x, z), np.arctan2(y, np.hypot(x, z))], axis=-1)

    @staticmethod
    def factors(x, y):
        return np.stack([np.sin(x), 0 * x, np.cos(x)]), np.cos(y), np.sin(y)


class Cylindrical:
    """x is the longitude in radians, y the height on a cylinder of radius 1."""

    name = "cylindrical"
    period = 2 * np.pi

    @staticmethod
    def of_directions(directions):
        x, y, z = np.moveaxis(directions, -1, 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.stack([np.arctan2(x, z), y / np.hypot(x, z)], axis=-1)

    @staticmethod
    def factors(x, y):
        return np.stack([np.sin(x), 0 * x, np.cos(x)]), np.ones_like(y), y


class Planar:
    """x and y on the plane at distance 1."""

    name = "planar"
    period = None

    @staticmethod
    def of_directions(directions):
        x, y, z = np.moveaxis(directions, -1, 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.stack([x / z, y / z], axis=-1)

    @staticmethod
    def factors(x, y):
        return np.stack([x, 0 * x, np.ones_like(x)]), np.ones_like(y), y


SURFACES = {surface.name: surface for surface in (Spherical, Cylindrical, Planar)}


def _outline(shape, per_side=48):
    """Points along the edges of a photograph, (x, y) from its centre."""
    half = (np.array(shape[::-1]) - 1) / 2
    side = np.linspace(-1, 1, per_side)
    one = np.ones_like(side)
    points = np.concatenate([np.stack(pair, axis=1) for pair in (
        (side, -one), (one, side), (side[::-1], one), (-one, side[::-1]))])
    return points * half


class Frame:
    """Where a photograph lies on a surface.

    Attributes
    ----------
    matrix : ndarray, shape (3, 3)
        From directions to the photograph: (x, y, 1) from its centre, up to a factor.
    rays : ndarray, shape (points, 3)
        The directions of points along the photograph's edges.
    low, high : ndarray, shape (2,)
        The smallest and the largest x and y. x is continuous across the photograph, and may lie
        beyond half a turn.
    """

    def __init__(self, surface, matrix, shape):
        self.matrix = matrix
        inverse = np.linalg.inv(matrix)
        outline = np.concatenate([_outline(shape), [[0, 0]]])
        rays = np.concatenate([outline, np.ones((len(outline), 1))], axis=1) @ inverse.T
        self.rays = rays / np.linalg.norm(rays, axis=1, keepdims=True)
        points = surface.of_directions(self.rays)
        centre = points[-1, 0]
        if surface.period:
            points[:, 0] = centre + (points[:, 0] - centre + np.pi) % (2 * np.pi) - np.pi
        self.low, self.high = points.min(axis=0), points.max(axis=0)
        if surface.period:
            half = (np.array(shape[::-1]) - 1) / 2
            for pole in (-1.0, 1.0):  # up, down
                image = matrix @ (0, pole, 0)
                if image[2] > 0 and (np.abs(image[:2] / image[2]) <= half).all():
                    self.low[0], self.high[0] = -np.pi, np.pi
                    (self.high if pole > 0 else self.low)[1] = pole * np.pi / 2


def check_angles(surface, frames, names):
    """Raise ValueError if a photograph lies where the projection stretches too much."""
    if surface.name not in MAX_ANGLE:
        return
    limit = MAX_ANGLE[surface.name]
    for frame, name in zip(frames, names):
        # From the axis of the plane, or from the horizon of the cylinder.
        x, y, z = frame.rays.T
        angles = np.degrees(np.arctan2(np.hypot(x, y), z) if surface is Planar
                            else np.abs(np.arctan2(y, np.hypot(x, z))))
        poles = surface.period and (frame.high - frame.low)[0] >= surface.period
        if angles.max() > limit or poles:
            raise ValueError(f"{name} reaches {90 if poles else angles.max():.0f} degrees from the "
                             f"{'axis' if surface is Planar else 'horizon'}, and a {surface.name} "
                             f"projection at most {limit:.0f}: choose projection='spherical'")


def widest_gap(frames):
    """The middle and the width of the widest range of longitudes that no photograph covers."""
    turn = 2 * np.pi
    ranges = sorted((frame.low[0] % turn, frame.high[0] - frame.low[0]) for frame in frames)
    first = ranges[0][0]
    covered = max(first, *(low + length - turn for low, length in ranges))
    middle, gap = covered + np.pi, 0.0
    for low, length in [*ranges, (first + turn, 0)]:
        if low - covered > gap:
            middle, gap = (low + covered) / 2, low - covered
        covered = max(covered, low + length)
    return middle, gap


def rotated(rotations, longitude):
    """The rotations after one of the panorama by which this longitude becomes 0."""
    cosine, sine = np.cos(longitude), np.sin(longitude)
    return rotations @ np.array([[cosine, 0, sine], [0, 1, 0], [-sine, 0, cosine]])
