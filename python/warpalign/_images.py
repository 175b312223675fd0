"""Checks and converts the images and volumes that registrations take."""

import contextlib

import numpy as np

from ._arrays import for_upload
from ._device_array import DeviceArray
from ._foreign import is_on_device, kind_of, to_numpy


def _pixels(array, what):
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{what} must hold real numbers, not {array.dtype}")
    if array.dtype.kind == "b":
        return np.ascontiguousarray(array, dtype=np.uint8)
    return for_upload(array)


def as_image(array, what):
    """Return a C-contiguous image in host memory, of a type that the library takes."""
    array = to_numpy(array)
    if array.ndim != 2:
        raise ValueError(
            f"{what} must be an image of 2 dimensions, not of shape {array.shape}; reduce a colour "
            f"image to one channel or to the mean of its channels")
    return _pixels(array, what)


def as_volume(array, what):
    """Return a C-contiguous volume in host memory, of a type that the library takes."""
    array = to_numpy(array)
    if array.ndim != 3:
        raise ValueError(f"{what} must be a volume of 3 dimensions, not of shape {array.shape}")
    return _pixels(array, what)


def as_mask(array, shape, what, of="image"):
    """Return a mask of uint8, 0 for pixels or voxels to ignore, or None."""
    if array is None:
        return None
    array = to_numpy(array)
    if array.shape != tuple(shape):
        raise ValueError(f"{what} must have the {of}'s shape {tuple(shape)}, not {array.shape}")
    return np.ascontiguousarray(array != 0, dtype=np.uint8)


@contextlib.contextmanager
def pixels_of(array, prepare, what, device):
    """A context that gives an image or a volume as a registrar on `device` takes it: a DeviceArray
    if the array is on that device, else the host array that `prepare` (as_image, as_volume) makes.
    """
    kind = kind_of(array)
    if kind is None:
        yield prepare(array, what)
        return
    with kind.taken(array, device) as taken:
        yield taken if isinstance(taken, DeviceArray) else prepare(taken, what)


def check_dimensions(array, count, what):
    if array.ndim != count:
        raise ValueError(f"{what} must have {count} dimensions, not the shape {array.shape}")


def check_on_device(array, mask, dimensions, what):
    """Check the dimensions of an array on a device, for which there must be no mask."""
    check_dimensions(array, dimensions, what)
    if mask is not None:
        raise NotImplementedError(
            f"{what} is on a device, where masks are not supported; copy it to the host")


def device_for(array, device):
    """The device to register on: `device` if given, else the device that the array is on."""
    return array if device is None and is_on_device(array) else device
