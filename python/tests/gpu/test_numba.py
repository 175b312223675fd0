"""Numba's arrays, which support only the CUDA array interface."""

import numpy as np
import pytest

import warpalign
from warpalign import ndimage

cuda = pytest.importorskip("numba.cuda")


class InterfaceOnly:
    def __init__(self, array, **changed):
        self.array = array
        self.changed = changed

    @property
    def __cuda_array_interface__(self):
        return {**self.array.__cuda_array_interface__, **self.changed}


def test_the_interface_alone(image):
    if not cuda.is_available():
        pytest.skip("Numba sees no device")
    array = InterfaceOnly(cuda.to_device(image))
    result = ndimage.rotate(array, 20)
    assert isinstance(result, warpalign.DeviceArray)
    expected = ndimage.rotate(image, 20, device="cuda:0")
    np.testing.assert_allclose(result.numpy(), expected, atol=2e-6)
    np.testing.assert_allclose(cuda.as_cuda_array(result).copy_to_host(), expected, atol=2e-6)
    height, width = image.shape
    every_other = InterfaceOnly(array.array, shape=(height, width // 2), strides=(4 * width, 8))
    transposed = InterfaceOnly(array.array, shape=(width, height), strides=(4, 4 * width))
    for view in (every_other, transposed):
        with pytest.raises(ValueError, match="C-contiguous"):
            ndimage.shift(view, 0.5)
