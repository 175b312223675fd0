"""JAX arrays give JAX arrays."""

import os

import numpy as np
import pytest

from warpalign import ndimage

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
jax = pytest.importorskip("jax")


@pytest.fixture
def array(image):
    try:
        device = jax.devices("gpu")[0]
    except RuntimeError as error:
        pytest.skip(f"JAX sees no device: {error}")
    return jax.device_put(image, device)


def test_on_the_device(array, image):
    for call in (lambda x, **on: ndimage.rotate(x, 20, **on),
                 lambda x, **on: ndimage.shift(x, 0.5, order=1, **on)):
        result = call(array)
        assert isinstance(result, jax.Array) and result.devices() == array.devices()
        np.testing.assert_allclose(np.asarray(result), call(image, device="cuda:0"), atol=2e-6)


def test_arrays_that_are_being_computed(array, image):
    large = jax.numpy.ones((4000, 4000)) @ jax.numpy.ones((4000, 4000))
    result = ndimage.shift(array + 0 * large[0, 0], 0.5)
    np.testing.assert_allclose(
        np.asarray(result), ndimage.shift(image, 0.5, device="cuda:0"), atol=2e-6)


def test_points_on_the_device(array, image):
    points = np.random.default_rng(0).random((2, 60)).astype(np.float32) * 199
    result = ndimage.map_coordinates(array, jax.device_put(points, list(array.devices())[0]))
    np.testing.assert_allclose(
        np.asarray(result), ndimage.map_coordinates(image, points, device="cuda:0"), atol=5e-5)


def test_arrays_are_not_written(array):
    with pytest.raises(TypeError, match="cannot be written"):
        ndimage.shift(array, 0.5, output=array)


def test_deleted_arrays_are_refused(array):
    array.delete()
    with pytest.raises(RuntimeError, match="deleted"):
        ndimage.shift(array, 0.5)
