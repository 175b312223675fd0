"""How well two images or volumes on the same grid agree, at each pixel."""

import numpy as np

from . import _core
from ._foreign import to_numpy


def local_agreement(reference, warped, mask=None):
    """The correlation of the windows about each pixel of two aligned images or volumes.

    It shows where a registration succeeded, for example a deformation. The gain and the offset of
    the intensities do not matter. It is computed on the host.

    Parameters
    ----------
    reference : array_like, shape (rows, columns) or (planes, rows, columns)
        The reference, of any real type.
    warped : array_like, same shape
        The moving image or volume, warped to the reference, as by :meth:`Registration.warp` with
        ``cval=numpy.nan``. Values of either that are not finite are unknown.
    mask : array_like, same shape, optional
        0 for pixels that are unknown, too.

    Returns
    -------
    ndarray of float32, same shape
        The normalized correlation of windows 5 pixels wide, -1 to 1. NaN where nothing tells
        whether the two agree: neither has structure above its noise in the window, or most of the
        window is unknown.

    Raises
    ------
    TypeError
        An array is complex.
    ValueError
        The arrays have neither 2 nor 3 dimensions, or not the same shape.

    Examples
    --------
    >>> import numpy as np
    >>> import warpalign
    >>> rows, columns = np.mgrid[:64, :64]
    >>> image = np.sin(rows / 3) + np.sin(columns / 4)
    >>> warped = 3 * image + 1
    >>> warped[40:] = 0
    >>> agreement = warpalign.local_agreement(image, warped)
    >>> bool(agreement[:38].min() > 0.9), bool(abs(agreement[42:]).max() < 0.1)
    (True, True)
    """
    arrays = [_real(array, name) for array, name in ((reference, "reference"), (warped, "warped"))]
    if arrays[0].ndim not in (2, 3):
        raise ValueError(f"reference must have 2 or 3 dimensions, not {arrays[0].ndim}")
    if mask is not None:
        mask = np.ascontiguousarray(to_numpy(mask) != 0, dtype=np.uint8)
    for array, name in ((arrays[1], "warped"), (mask, "mask")):
        if array is not None and array.shape != arrays[0].shape:
            raise ValueError(
                f"{name} must have the reference's shape {arrays[0].shape}, not {array.shape}")
    agreement = np.empty(arrays[0].shape, np.float32)
    if agreement.size == 0:
        raise ValueError("reference is empty")
    _core.local_agreement(*arrays, mask, agreement)
    return agreement


def _real(array, name):
    array = np.asarray(to_numpy(array))
    if array.dtype.kind not in "buif":
        raise TypeError(f"{name} must have real numbers, not {array.dtype}")
    return np.ascontiguousarray(array, dtype=np.float32)
