"""Fixtures for tests with CUDA arrays, which skip on machines without CUDA."""

import pytest

import warpalign


@pytest.fixture(scope="session", autouse=True)
def cuda():
    """The device that holds the arrays."""
    report = warpalign.backends()[0]
    if not report.available:
        pytest.skip(f"warpalign has no device of CUDA: {report.reason}")
    return warpalign.open_device("cuda:0")


@pytest.fixture
def image(random):
    import numpy as np

    return random.random((200, 300)).astype(np.float32)
