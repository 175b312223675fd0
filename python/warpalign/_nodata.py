"""Which samples of an array are missing."""

import math

import numpy as np


def can_hold(dtype, value):
    """Whether a sample of the type can have the value."""
    if dtype.kind == "b":
        return value in (0, 1)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return math.isfinite(value) and int(value) == value and limits.min <= value <= limits.max
    if not math.isfinite(value):
        return True
    with np.errstate(over="ignore"):
        sample = dtype.type(value)  # infinite if the value is beyond the type's range
        return bool(np.isfinite(sample) and sample == value)


def is_finite(array):
    """Whether all samples are finite."""
    if array.dtype in (np.float32, np.float64) and array.flags.c_contiguous:
        flat = array.reshape(-1)
        with np.errstate(over="ignore", invalid="ignore"):
            if math.isfinite(np.dot(flat, flat)):  # by BLAS, in one fast pass
                return True
    return bool(np.isfinite(array).all())


def known_samples(array, nodata, order=3):
    """The mask of the known samples, or None if all are known.

    Infinite samples are missing, except at order 0, which copies them.
    """
    known = None
    if array.dtype.kind in "fc" and not is_finite(array):
        known = np.isfinite(array) if order > 0 else ~np.isnan(array)
        if known.all():
            known = None
    if nodata is not None and not math.isnan(nodata):
        differs = array != array.dtype.type(nodata)
        if not differs.all():
            known = differs if known is None else known & differs
    return known


def check_can_hold(nodata, dtype, what):
    """Raise ValueError if no pixel of a type can have the value `nodata`."""
    if not can_hold(dtype, nodata):
        raise ValueError(f"nodata is {nodata!r}, which no pixel of {what} can have; its type is "
                         f"{dtype}")


def with_nan(image, nodata, what):
    """The image with NaN in its missing pixels, for its registration. Raises ValueError if no pixel
    can have the value `nodata`."""
    if nodata is None:
        return image
    check_can_hold(nodata, image.dtype, what)
    known = known_samples(image, nodata)
    kind = np.float64 if image.dtype.itemsize > 2 and image.dtype != np.float32 else np.float32
    image = image.astype(kind)
    if known is not None:
        image[~known] = np.nan
    return image
