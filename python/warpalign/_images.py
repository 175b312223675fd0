"""Checks and converts the images and volumes that registrations take."""

import contextlib

import numpy as np

from ._arrays import for_upload
from ._device_array import DeviceArray
from ._files._open import is_file, opened
from ._foreign import is_on_device, kind_of, to_numpy
from ._nodata import can_hold, known_samples

# From these types the library subtracts a pedestal that single precision would round too much.
_CENTRED = (np.int32, np.uint32, np.float64)


def _pixels(array, what):
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{what} must hold real numbers, not {array.dtype}")
    if array.dtype.kind == "b":
        return np.ascontiguousarray(array, dtype=np.uint8)
    if array.dtype in _CENTRED:
        return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("="))
    if array.dtype.itemsize > 4:
        return np.ascontiguousarray(array, dtype=np.float64)
    return for_upload(array)


def as_image(array, what):
    """Return a C-contiguous image in host memory, of a type that the library takes."""
    array = opened(array)._image(what) if is_file(array) else to_numpy(array)
    if array.ndim != 2:
        raise ValueError(
            f"{what} must be an image of 2 dimensions, not of shape {array.shape}; reduce a colour "
            f"image to one channel or to the mean of its channels")
    return _pixels(array, what)


def as_volume(array, what):
    """Return a C-contiguous volume in host memory, of a type that the library takes."""
    array = opened(array)._volume(what) if is_file(array) else to_numpy(array)
    if array.ndim != 3:
        raise ValueError(f"{what} must be a volume of 3 dimensions, not of shape {array.shape}")
    return _pixels(array, what)


def as_mask(array, shape, what, of="image"):
    """Return a mask of uint8, 0 for pixels or voxels to ignore, or None."""
    if array is None:
        return None
    if is_file(array):
        file = opened(array)
        array = file._image(what) if len(shape) == 2 else file._volume(what)
    array = to_numpy(array)
    if array.shape != tuple(shape):
        raise ValueError(f"{what} must have the {of}'s shape {tuple(shape)}, not {array.shape}")
    return np.ascontiguousarray(array != 0, dtype=np.uint8)


def read(image, mask, prepare, what):
    """What a registration needs of an image: its pixels, its mask, and its geometry or None.

    Of a file, these are the pixels that `prepare` (as_image, as_volume) takes and, unless there is
    a mask, the mask of its missing pixels. Anything else stays as it is.
    """
    if not is_file(image):
        return image, mask, None
    file = opened(image)
    pixels = prepare(file, what)
    return (pixels, file._mask_of(pixels) if mask is None else mask,
            file._geometry_for(pixels.ndim))


@contextlib.contextmanager
def pixels_of(array, prepare, what, device):
    """A context that gives an image or a volume as a registrar on `device` takes it: a DeviceArray
    if the array is on that device, else the host array that `prepare` (as_image, as_volume) makes.
    """
    kind = kind_of(array)
    if kind is None:
        yield prepare(array, what)
        return
    with kind.as_input(array, device) as view:
        if view.dtype.kind not in "biuf":
            raise TypeError(f"{what} must hold real numbers, not {view.dtype}")
        yield view if isinstance(view, DeviceArray) else prepare(view, what)


def mask_of(array, shape, mask, nodata, what, of="image"):
    """Return the mask of an image or a volume, or None, and how many samples are missing.

    Without `nodata`, the library itself excludes those that are NaN or infinite.
    """
    mask = as_mask(mask, shape, f"{what}'s mask", of)
    if nodata is None:
        return mask, 0
    array = to_numpy(array)
    if not can_hold(array.dtype, nodata):
        raise ValueError(f"nodata is {nodata!r}, which no sample of {what} can have; its type is "
                         f"{array.dtype}")
    known = known_samples(array, nodata)
    if known is None:
        return mask, 0
    if mask is not None:
        known |= mask == 0
    count = known.size - int(np.count_nonzero(known))
    if mask is not None:
        known &= mask != 0
    return known.view(np.uint8), count


def counted(missing, reference, moving):
    """Add what equals `nodata` to the numbers of samples without a finite value."""
    return (missing[0] + reference, missing[1] + moving)


def check_dimensions(array, count, what):
    if array.ndim != count:
        raise ValueError(f"{what} must have {count} dimensions, not the shape {array.shape}")


def device_for(array, device):
    """The device to register on: `device` if given, else the device that the array is on."""
    return array if device is None and is_on_device(array) else device
