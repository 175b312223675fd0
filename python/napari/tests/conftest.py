"""Layers whose places in the world are known."""

import numpy as np
import pytest
import scipy.ndimage


@pytest.fixture(scope="session")
def scene():
    """A smooth random image with detail at many scales."""
    random = np.random.default_rng(7)
    image = sum(scipy.ndimage.gaussian_filter(random.standard_normal((240, 280)), s) * s
                for s in (1.5, 4, 10))
    image -= image.min()
    return (image * (200 / image.max())).astype(np.float32)


def rotation(degrees):
    """The matrix of a rotation in array axes."""
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return np.array([[c, -s], [s, c]])


@pytest.fixture(scope="session")
def sampled():
    """A function that samples a scene at points of the world (pixels of the scene) on a grid of a
    layer: matrix maps pixels of the grid to the scene."""
    def sampled(scene, matrix, shape):
        return scipy.ndimage.affine_transform(scene, matrix[:2, :2], matrix[:2, 2],
                                              output_shape=shape, order=3, mode="mirror")

    return sampled


@pytest.fixture(scope="session")
def matrices():
    """Matrices from the pixels of two grids to the scene: of other pixel sizes, the second one also
    turned by 20 degrees."""
    first = np.eye(3)
    first[:2, 2] = (20, 25)
    second = np.eye(3)
    second[:2, :2] = 1.25 * rotation(20)
    second[:2, 2] = (45, 15)
    return first, second
