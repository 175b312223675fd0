"""Fixtures that the tests share: images and volumes with known content."""

import math
import pathlib
import shutil

import numpy as np
import pytest


def pytest_addoption(parser):
    parser.addoption("--share", metavar="K/N", help="run only every Nth test, beginning with the Kth")


def pytest_collection_modifyitems(config, items):
    if share := config.getoption("--share"):
        first, step = map(int, share.split("/"))
        config.hook.pytest_deselected(items=[item for i, item in enumerate(items)
                                             if i % step != first - 1])
        items[:] = items[first - 1::step]


@pytest.fixture(scope="session")
def scene():
    """A smooth random float64 image with detail at many scales and values of 0 to 200."""
    from scipy import ndimage

    random = np.random.default_rng(7)
    layers = [ndimage.gaussian_filter(random.standard_normal((220, 260)), s) * s
              for s in (1.5, 4, 10)]
    image = sum(layers)
    image -= image.min()
    return image * (200 / image.max())


@pytest.fixture(scope="session")
def volume():
    from scipy import ndimage

    random = np.random.default_rng(8)
    return ndimage.gaussian_filter(random.standard_normal((30, 36, 40)), 1.5) * 1000


@pytest.fixture
def random():
    return np.random.default_rng(1)


@pytest.fixture(scope="session")
def moved():
    """A function that rotates, scales and shifts the content of a scene."""
    from scipy import ndimage

    def moved(scene, degrees, scale, shift):
        """Rotate counter-clockwise, scale, and shift by (rows, columns)."""
        r = math.radians(degrees)
        centre = (np.array(scene.shape) - 1) / 2
        # `forward` maps reference to moving in array axes; resampling needs its inverse.
        forward = scale * np.array([[math.cos(r), -math.sin(r)], [math.sin(r), math.cos(r)]])
        inverse = np.linalg.inv(forward)
        offset = centre - inverse @ (centre + shift)
        return ndimage.affine_transform(scene, inverse, offset, mode="mirror")

    return moved


@pytest.fixture
def program():
    """Skip where neither the package nor the path has the command line program."""
    import warpalign

    shipped = pathlib.Path(warpalign.__file__).parent / "bin" / "warpalign"
    if not shipped.exists() and shutil.which("warpalign") is None:
        pytest.skip("this wheel was built without the program, and there is none on the path")
