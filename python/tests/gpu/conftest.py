"""What is needed of a machine to test with arrays of CUDA."""

import pytest

import warpalign


@pytest.fixture(scope="session", autouse=True)
def cuda():
    """The device that the arrays are on."""
    report = warpalign.backends()[0]
    if not report.available:
        pytest.skip(f"warpalign has no device of CUDA: {report.reason}")
    return warpalign.open_device("cuda:0")


@pytest.fixture
def image(random):
    import numpy as np

    return random.random((200, 300)).astype(np.float32)
