"""Images that tests share, and the device they run on."""

import numpy as np
import pytest


@pytest.fixture(scope="session")
def scene():
    """A smooth random image of float64 with detail at many scales, 0 to 200."""
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
