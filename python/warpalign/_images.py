"""Images and volumes from NumPy, as registrations take them."""

import numpy as np

from ._arrays import for_upload


def _pixels(array, what):
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{what} must hold real numbers, not {array.dtype}")
    if array.dtype.kind == "b":
        return np.ascontiguousarray(array, dtype=np.uint8)
    return for_upload(array)


def as_image(array, what):
    """A C-contiguous image of a type that the library takes."""
    array = np.asarray(array)
    if array.ndim != 2:
        raise ValueError(
            f"{what} must be an image of 2 dimensions, not of shape {array.shape}; take one "
            f"channel or the mean of a colour image")
    return _pixels(array, what)


def as_volume(array, what):
    """A C-contiguous volume of a type that the library takes."""
    array = np.asarray(array)
    if array.ndim != 3:
        raise ValueError(f"{what} must be a volume of 3 dimensions, not of shape {array.shape}")
    return _pixels(array, what)


def as_mask(array, shape, what):
    """A mask with 0 where a pixel does not count, or None."""
    if array is None:
        return None
    array = np.asarray(array)
    if array.shape != tuple(shape):
        raise ValueError(f"{what} must have the image's shape {tuple(shape)}, not {array.shape}")
    return np.ascontiguousarray(array != 0, dtype=np.uint8)
