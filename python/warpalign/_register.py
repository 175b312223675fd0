"""Registration of pairs of images."""

import dataclasses
from typing import Unpack

import numpy as np

from . import _core
from ._alignment import Registration, registration_of
from ._device_array import DeviceArray
from ._devices import open_device
from ._images import (
    as_image, check_dimensions, counted, device_for, mask_of, pixels_of, read)
from ._initial import initial_matrix, numbers_xy
from ._options import RegistrationOptions, documented, options_of


class Registrar:
    """Registers images to one reference.

    A registrar keeps plans, memory and the reference's spectra between calls, so that each further
    image costs only its own work. Calls from several threads wait for each other.

    Parameters
    ----------
    %(device)s
    %(options)s

    Raises
    ------
    TypeError
        An option is unknown or has a wrong type.
    ValueError
        The value of an option is invalid, or options contradict each other.
    warpalign.Error
        The device cannot be opened.

    %(reference)s

    Examples
    --------
    >>> import numpy as np
    >>> import warpalign
    >>> image = np.random.default_rng(0).random((96, 128)).cumsum(0).cumsum(1) % 50
    >>> registrar = warpalign.Registrar(motion="translation")
    >>> registrar.set_reference(image)
    >>> found = registrar.align(np.roll(image, (3, -5), axis=(0, 1)))
    >>> [round(shift) for shift in found.translation]
    [3, -5]
    """

    def __init__(self, device=None, **options: Unpack[RegistrationOptions]):
        made = options_of(options)
        self._motion = made.motion
        self._device = open_device(device)
        self._registrar = _core.Registrar(self._device, made)
        self._reference_shape = None
        self._nodata = 0  # pixels of the reference
        self._geometry = None  # of the reference

    @property
    def device(self):
        """The device that the registrar computes on."""
        return self._device

    @documented
    def set_reference(self, image, mask=None, *, nodata=None) -> None:
        """Set the reference image.

        Parameters
        ----------
        image : array_like, shape (rows, columns)
            A single-channel image of any real type, 16 to 16384 pixels a side, or the path of a
            file (:func:`warpalign.open`). Arithmetic is in single precision. An array on the
            registrar's device is used there, without copies.
        mask : array_like, same shape, optional
            0 for pixels to ignore, which may hold any value.
        %(nodata)s

        %(raises)s
        """
        image, mask, self._geometry = read(image, mask, as_image, "the reference")
        with pixels_of(image, as_image, "the reference", self._device) as pixels:
            check_dimensions(pixels, 2, "the reference")
            mask, self._nodata = mask_of(image, pixels.shape, mask, nodata, "the reference")
            if isinstance(pixels, DeviceArray):
                self._registrar.set_reference_on_device(pixels._memory, pixels._queue, mask)
            else:
                self._registrar.set_reference(pixels, mask)
            self._reference_shape = pixels.shape

    @documented
    def align(self, moving, mask=None, *, nodata=None, initial=None) -> Registration:
        """Register an image to the reference.

        Parameters
        ----------
        moving : array_like, shape (rows, columns)
            The moving image, or the path of a file. Its shape and type may differ from those of
            the reference.
        mask : array_like, same shape, optional
            0 for pixels to ignore.
        %(nodata)s
        %(initial)s

        Returns
        -------
        Registration
            The best alignment, even if it is not ``reliable``.

        %(raises)s
        """
        start = numbers_xy(initial_matrix(initial, 2, self._motion))
        moving, mask, geometry = read(moving, mask, as_image, "the moving image")
        with pixels_of(moving, as_image, "the moving image", self._device) as pixels:
            check_dimensions(pixels, 2, "the moving image")
            mask, count = mask_of(moving, pixels.shape, mask, nodata, "the moving image")
            if isinstance(pixels, DeviceArray):
                found = self._registrar.align_on_device(pixels._memory, pixels._queue, mask, start)
            else:
                found = self._registrar.align(pixels, mask, start)
            found["missing"] = counted(found["missing"], self._nodata, count)
            found = registration_of(found, self._reference_shape, pixels.shape, self._device)
        return dataclasses.replace(found, _geometries=(self._geometry, geometry))


documented(Registrar)


@documented
def register(reference, moving, *, reference_mask=None, moving_mask=None, nodata=None, initial=None,
             device=None, **options: Unpack[RegistrationOptions]) -> Registration:
    """Find the rotation, scale and translation between two images.

    Parameters
    ----------
    reference, moving : array_like, shape (rows, columns)
        Single-channel images of any real type, 16 to 16384 pixels a side, or the paths of files
        that :func:`warpalign.open` reads. Shapes and types may differ. Arithmetic is in single
        precision. Arrays on a device are registered there, without copies.
    reference_mask, moving_mask : array_like, optional
        Masks of the shape of their image; 0 for pixels to ignore, which may hold any value.
    %(nodata)s
    %(initial)s
    %(device)s
    %(options)s

    Returns
    -------
    Registration
        The best alignment, even if it is not ``reliable``. A refined alignment is accurate to a few
        thousandths of a pixel; the documentation's page "How accurate registration is" has figures.
        It keeps both images for its picture in notebooks; results of :class:`Registrar`, batches
        and stacks do not.

    %(raises)s

    %(reference)s

    Examples
    --------
    >>> import numpy as np
    >>> import warpalign
    >>> image = np.random.default_rng(0).random((96, 128)).cumsum(0).cumsum(1) % 50
    >>> moving = warpalign.ndimage.rotate(image, 10, reshape=False, mode="mirror")
    >>> found = warpalign.register(image, moving)
    >>> found.reliable, round(found.rotation_deg, 1)
    (True, 10.0)
    >>> found.warp(moving).shape
    (96, 128)
    """
    reference, reference_mask, fixed = read(reference, reference_mask, as_image, "the reference")
    moving, moving_mask, moved = read(moving, moving_mask, as_image, "the moving image")
    registrar = Registrar(device_for(reference, device), **options)
    registrar.set_reference(reference, reference_mask, nodata=nodata)
    found = registrar.align(moving, moving_mask, nodata=nodata, initial=initial)
    return dataclasses.replace(found, _images=(reference, moving), _geometries=(fixed, moved))


def _compiled_for(dtype):
    """The name of the type whose kernels register images of `dtype`."""
    if dtype.kind not in "biuf":
        raise TypeError(f"dtype must be a type of real numbers, not {dtype}")
    if dtype in (np.bool_, np.uint8):
        return "uint8"
    return "uint16" if dtype == np.uint16 else "float32"


def warm_up(device=None, dtype="uint8") -> None:
    """Compile the kernels that registrations need.

    OpenCL devices compile kernels at their first use, which takes seconds, and cache them on disk.
    A warm-up compiles them all at once, before the first registration.

    Parameters
    ----------
    %(device)s
    dtype : dtype, optional
        The type of the images to register, a type of real numbers. There are kernels for uint8
        (also for bool), uint16 and float32 (for all other types). The default is uint8.

    Raises
    ------
    TypeError
        `dtype` is no dtype, or not one of real numbers.
    warpalign.Error
        The device cannot be opened, or compilation failed.

    Examples
    --------
    >>> import numpy as np
    >>> import warpalign
    >>> warpalign.warm_up(dtype=np.float32)
    """
    name = _compiled_for(np.dtype(dtype))
    opened = open_device(device)
    for piece in range(_core.registration_pieces()):
        _core.compile_registration_piece(opened, piece, name)
    _core.store_compiled_kernels(opened)


documented(warm_up)
