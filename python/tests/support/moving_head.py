"""A series of volumes of a head that moves, drawn from formulas: nothing is resampled."""

import numpy as np

SHAPE = (36, 40, 26)  # x, y, z, as nibabel has it
# Voxels of 3 x 3 x 3.5 mm, stored from right to left, as many scanners do.
AFFINE = np.array([[-3., 0, 0, 52], [0, 3, 0, -60], [0, 0, 3.5, -45], [0, 0, 0, 1]])
PARAMETERS = ["trans_x", "trans_y", "trans_z", "rot_x", "rot_y", "rot_z"]


def rotation(degrees):
    """Rz Ry Rx."""
    (cx, cy, cz), (sx, sy, sz) = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    x = np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
    y = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    z = np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]])
    return z @ y @ x


def drawn_motion(volumes, seed=2, jump=True):
    """Six parameters for each volume, in mm and degrees: a smooth walk, and a nod."""
    random = np.random.default_rng(seed)
    motion = np.cumsum(random.normal(0, 1, (volumes, 6)), axis=0) * ([0.15] * 3 + [0.1] * 3)
    if jump:
        motion[volumes // 2:] += [0, 0, 1.1, 0.9, 0, 0]
    motion[0] = 0
    return motion


def draw(motion, noise=10., seed=4):
    """The series of shape (x, y, z, volumes), float32: tissue of up to about 2500."""
    random = np.random.default_rng(seed)
    places = random.uniform(-1, 1, (500, 3))
    places = places[(places ** 2).sum(1) < 1][:120] * [45, 50, 38]
    sizes = random.uniform(6, 10, len(places))
    heights = random.uniform(200, 1000, len(places))
    index = np.stack(np.meshgrid(*map(np.arange, SHAPE), indexing="ij"), -1).reshape(-1, 3)
    centre = AFFINE[:3, :3] @ ((np.array(SHAPE) - 1) / 2) + AFFINE[:3, 3]
    at = index @ AFFINE[:3, :3].T + AFFINE[:3, 3] - centre
    series = np.empty((*SHAPE, len(motion)), np.float32)
    for number, parameters in enumerate(motion):
        # What is at p in the reference is at R p + t in the volume.
        there = (at - parameters[:3]) @ rotation(parameters[3:])
        values = np.full(len(at), 150.)
        for place, size, height in zip(places, sizes, heights):
            values += height * np.exp(-((there - place) ** 2).sum(1) / (2 * size ** 2))
        values += random.normal(0, noise, len(values))
        series[..., number] = values.reshape(SHAPE)
    return series


def framewise_displacement(motion, radius=50.):
    """Power et al. 2012."""
    scaled = motion * ([1] * 3 + [np.pi / 180 * radius] * 3)
    return np.abs(np.diff(scaled, axis=0)).sum(axis=1)
