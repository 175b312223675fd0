"""Numba's arrays by the CUDA array interface alone."""

import numpy as np
import pytest

import warpalign
from warpalign import ndimage

cuda = pytest.importorskip("numba.cuda")


class InterfaceOnly:
    def __init__(self, array):
        self.array = array

    @property
    def __cuda_array_interface__(self):
        return self.array.__cuda_array_interface__


def test_the_interface_alone(image):
    if not cuda.is_available():
        pytest.skip("Numba sees no device")
    array = InterfaceOnly(cuda.to_device(image))
    result = ndimage.rotate(array, 20)
    assert isinstance(result, warpalign.DeviceArray)
    expected = ndimage.rotate(image, 20, device="cuda:0")
    np.testing.assert_allclose(result.numpy(), expected, atol=2e-6)
    np.testing.assert_allclose(cuda.as_cuda_array(result).copy_to_host(), expected, atol=2e-6)
    with pytest.raises(ValueError, match="C-contiguous"):
        ndimage.shift(InterfaceOnly(array.array[:, ::2]), 0.5)
    with pytest.raises(ValueError, match="C-contiguous"):
        ndimage.shift(InterfaceOnly(array.array.T), 0.5)
