"""The model of a camera that rotates about its centre: focal lengths, and a rotation for each
photograph."""

import numpy as np

from ._least_squares import mapped, projected

# Focal lengths that are tried first, in units of a photograph's longer side: fields of view of
# 143 to 6 degrees along it.
_FOCAL_LENGTHS = np.geomspace(1 / 6, 10, 100)


def rotation_of(vectors):
    """The rotation matrices of rotation vectors of shape (..., 3) [Rodrigues 1840]."""
    vectors = np.asarray(vectors, float)
    angle = np.linalg.norm(vectors, axis=-1)[..., None, None]
    x, y, z = np.moveaxis(vectors, -1, 0)
    zero = np.zeros_like(x)
    cross = np.stack([zero, -z, y, z, zero, -x, -y, x, zero], axis=-1)
    cross = cross.reshape(*vectors.shape[:-1], 3, 3)
    half = np.sinc(angle / (2 * np.pi))  # sin(a / 2) / (a / 2)
    return np.eye(3) + np.sinc(angle / np.pi) * cross + half ** 2 / 2 * cross @ cross


def nearest_rotation(matrices):
    """The rotations nearest to matrices of shape (..., 3, 3), up to a factor."""
    matrices = matrices * np.sign(np.linalg.det(matrices))[..., None, None]
    u, _, vt = np.linalg.svd(matrices)
    return u @ vt


class RotationModel:
    """For :func:`minimise`. A state is a pair: rotations of shape (photographs, 3, 3), from the
    panorama's axes to the camera's, and a focal length in pixels for each group."""

    parameters = 3

    def __init__(self, groups):
        """`groups`: for each photograph, the number of the group that shares a focal length."""
        self.groups = np.asarray(groups)
        self.shared = int(self.groups.max()) + 1

    def moved(self, state, steps, shared):
        rotations, focal_lengths = state
        return rotation_of(steps) @ rotations, focal_lengths * np.exp(shared)

    def residuals(self, at_reference, at_moving, links):
        reference, moving = links.reference[links.pair], links.moving[links.pair]
        rays = np.concatenate([links.source, at_reference[1][self.groups[reference], None]], axis=1)
        relative = at_moving[0][links.moving] @ at_reference[0][links.reference].transpose(0, 2, 1)
        rotated = np.einsum("pij,pj->pi", relative[links.pair], rays)
        return projected(rotated) * at_moving[1][self.groups[moving], None] - links.target


def _cameras(focal_lengths):
    """The matrices diag(f, f, 1)."""
    ones = np.ones_like(focal_lengths)
    return np.stack([focal_lengths, focal_lengths, ones], axis=-1)[..., None] * np.eye(3)


def relative_rotations(homographies, reference_focal, moving_focal):
    """The rotation of each pair that is nearest to its homography."""
    return nearest_rotation(np.linalg.inv(_cameras(moving_focal)) @ homographies
                            @ _cameras(reference_focal))


def rotation_errors(homographies, links, reference_focal, moving_focal):
    """How far each pair's homography is from a rotation of cameras with these focal lengths: the
    root mean square distance in pixels at the points that the photographs have in common."""
    rotations = relative_rotations(homographies, reference_focal, moving_focal)
    rotated = (_cameras(moving_focal) @ rotations @ np.linalg.inv(_cameras(reference_focal)))
    found = mapped(rotated[links.pair], links.source)
    return np.sqrt(links.mean_squares(found - links.target))


def estimate_focal_lengths(homographies, links, groups, sides):
    """The focal length of each group in pixels with which the homographies of pairs come nearest
    to rotations [Szeliski & Shum 1997]: by search, with Cauchy's loss.

    `sides`: the longer side of the photographs of each group, in pixels. All begin with the same
    field of view. A group without pairs of its own follows the others.
    """
    groups, sides = np.asarray(groups), np.asarray(sides, float)
    counts = np.diff(links.first)
    scale = 0.003 * sides.max()

    def cost(ratios):
        focal_lengths = ratios * sides
        errors = rotation_errors(homographies, links, focal_lengths[groups[links.reference]],
                                 focal_lengths[groups[links.moving]])
        return (counts * np.log1p((errors / scale) ** 2)).sum()

    ratios = np.full(len(sides), min(_FOCAL_LENGTHS, key=lambda f: cost(np.full(len(sides), f))))
    used = set(groups[links.reference]) | set(groups[links.moving])
    for group in range(len(sides)):
        if len(used) < 2 or group not in used:
            continue
        tried = [np.where(np.arange(len(sides)) == group, f, ratios) for f in _FOCAL_LENGTHS]
        ratios = min(tried, key=cost)
    return ratios * sides


def is_beyond_search(focal_lengths, sides):
    """Whether the longest focal length that is tried fits best, as it does if the camera did not
    rotate but move along a plane."""
    return bool((np.asarray(focal_lengths) / sides).max() > 0.9 * _FOCAL_LENGTHS[-1])


def _upright(rotations):
    """The rotations of the cameras as if all photographs had been taken as most of them were,
    upright or across: rotated by quarters about their own axes of view.

    From photograph to photograph, each time to the one that looks nearest to where another one did,
    cameras roll by about a multiple of 90 degrees.
    """
    count = len(rotations)
    quarters, known = np.zeros(count, int), [0]
    nearness = rotations[:, 2] @ rotations[:, 2].T
    while len(known) < count:
        others = [i for i in range(count) if i not in known]
        step = nearness[np.ix_(known, others)]
        one, other = np.unravel_index(step.argmax(), step.shape)
        one, other = known[one], others[other]
        relative = rotations[other] @ rotations[one].T
        roll = np.arctan2(relative[1, 0] - relative[0, 1], relative[0, 0] + relative[1, 1])
        quarters[other] = (quarters[one] + round(roll / (np.pi / 2))) % 4
        known.append(other)
    quarters -= np.bincount(quarters).argmax()
    return rotation_of(np.stack([0 * quarters, 0 * quarters, -np.pi / 2 * quarters],
                                axis=1)) @ rotations


def straightened(rotations):
    """The rotations after one of the panorama by which the horizon is level, and the middle of the
    photographs ahead.

    Who rotates a camera about a vertical axis keeps its x axis horizontal: the vertical is the
    direction that is nearest to perpendicular to all x axes [Brown & Lowe 2007, section 5]. If the
    x axes are about parallel, it is the mean of the cameras' own.
    """
    cameras = _upright(rotations)
    across, along = cameras[:, 0], cameras[:, 1]
    for _ in range(3):
        down = along.sum(axis=0)
        values, vectors = np.linalg.eigh(across.T @ across)
        vertical = vectors[:, 0]
        if values[1] < 0.01 * values[2]:  # x axes within about 6 degrees
            vertical = down - vectors[:, 2] * (vectors[:, 2] @ down)
            vertical /= np.linalg.norm(vertical)
        vertical = vertical * (1 if vertical @ down >= 0 else -1)
        # Near the zenith, cameras roll by any angle from one to the next: the more horizontal axis
        # is the one across.
        level = np.abs(cameras[:, :2] @ vertical)
        swapped = (level[:, 1] < level[:, 0])[:, None]
        across = np.where(swapped, cameras[:, 1], cameras[:, 0])
        along = np.where(swapped, cameras[:, 0], cameras[:, 1])
        along = along * np.where(along @ vertical < 0, -1, 1)[:, None]
    ahead = rotations[:, 2].mean(axis=0)
    ahead = ahead - vertical * (vertical @ ahead)
    if np.linalg.norm(ahead) < 0.05:  # a ring: its first photograph looks ahead
        ahead = rotations[0, 2] - vertical * (vertical @ rotations[0, 2])
    if np.linalg.norm(ahead) < 1e-6:  # straight up or down
        ahead = np.cross(cameras[0, 0], vertical)
    ahead /= np.linalg.norm(ahead)
    axes = np.stack([np.cross(vertical, ahead), vertical, ahead])  # rows: the new axes
    return rotations @ axes.T
