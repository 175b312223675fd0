"""Drop-in replacements for functions of other packages.

Each function has the name, arguments and results of its original. Arguments that do not apply to
warpalign, such as `upsample_factor`, are not accepted: remove them from the call. If the
registration is not reliable and the original's result cannot express that, a UserWarning is issued.
"""

import warnings

import numpy as np

from . import _core
from ._axes import swap_axes
from ._devices import open_device
from ._errors import InvalidImageError
from ._files._open import is_file, opened
from ._register import register
from ._volumes import register_volume

__all__ = ["StackReg", "find_transform_ecc", "pairwise_registration", "phase_cross_correlation"]


def _pixels(image, what):
    """The pixels of an image or a volume, if it is a file, and the mask of those that are known, or
    None. Anything else stays as it is."""
    if not is_file(image):
        return image, None
    file = opened(image)
    planes = any(axis in ("z", "i") and file._length(axis) > 1 for axis in file.axes)
    pixels = file._volume(what) if planes else file._image(what)
    return pixels, file._mask_of(pixels)


def _warn_if_unreliable(found, stacklevel):
    if not found.reliable:
        warnings.warn(
            f"the registration is not reliable (confidence {found.confidence:.2f}, below 0.5): the "
            "images may show different scenes", UserWarning, stacklevel=stacklevel + 1)


def _overlap_correlation(reference, moving, shift):
    """The normalized correlation of two images of one shape over their overlap, where the moving
    one is shifted by whole pixels."""
    shift = np.rint(shift).astype(int)
    ours = tuple(slice(max(by, 0), n + min(by, 0)) for by, n in zip(shift, reference.shape))
    theirs = tuple(slice(max(-by, 0), n + min(-by, 0)) for by, n in zip(shift, moving.shape))
    one, other = reference[ours], moving[theirs]
    one, other = one - one.mean(), other - other.mean()
    energy = np.sqrt((one ** 2).sum() * (other ** 2).sum())
    return float((one * other).sum() / energy) if energy > 0 else 0.0


def _plain_phase_correlation(reference, moving, device):
    """The shift that plain phase correlation gives, and the correlation there."""
    reference, moving = (np.asarray(image, np.float64) for image in (reference, moving))
    # Single precision is relative to the largest value: the mean does not count, so it is left out.
    centred = [np.ascontiguousarray(image - image.mean(), np.float32)
               for image in (reference, moving)]
    shift = np.array(_core.phase_correlation_shift(open_device(device), *centred))
    return shift, _overlap_correlation(reference, moving, shift)


def phase_cross_correlation(reference_image, moving_image, *, reference_mask=None,
                            moving_mask=None, device=None):
    """Find a translation, like ``skimage.registration.phase_cross_correlation``.

    Images are registered as by :func:`warpalign.register`. If it finds no candidate in images of
    one shape without masks, such as a few small objects on black, the shift is that of plain phase
    correlation without a window, as in scikit-image, and a warning says so.

    Parameters
    ----------
    reference_image, moving_image : array_like, path or ImageFile
        Two images or two volumes. Their shapes may differ.
    reference_mask, moving_mask : array_like, optional
        Of the shape of their image or volume, 0 where a pixel does not count. Unlike in
        scikit-image, all of the moving image counts if only ``reference_mask`` is given.
    device : Device or str, optional
        The device to compute on; see :func:`warpalign.open_device`.

    Returns
    -------
    shift : ndarray of float
        The shift in pixels along the array's axes that aligns the moving image with the reference,
        as ``scipy.ndimage.shift`` takes it. For images of equal shape, it is minus the
        ``translation`` of :func:`warpalign.register` or :func:`warpalign.register_volume`. It
        always has subpixel precision, so there is no ``upsample_factor``.
    error : float
        ``sqrt(1 - correlation ** 2)`` of the normalized correlation over the overlap.
    phasediff : float
        Always 0 (radians), as for images without negative values.

    Raises
    ------
    ValueError
        A shape is wrong, or the pixels cannot be used.

    Warns
    -----
    UserWarning
        The registration is not reliable, as between unrelated images, or the shift is that of
        plain phase correlation, which has no confidence.

    Examples
    --------
    >>> import numpy as np
    >>> from warpalign.compat import phase_cross_correlation
    >>> image = np.random.default_rng(0).random((96, 128)).cumsum(0).cumsum(1) % 50
    >>> shift, error, phasediff = phase_cross_correlation(image, np.roll(image, (3, -5), (0, 1)))
    >>> [round(float(along)) for along in shift]
    [-3, 5]
    """
    reference_image, reference_known = _pixels(reference_image, "the reference image")
    moving_image, moving_known = _pixels(moving_image, "the moving image")
    reference_mask = reference_known if reference_mask is None else reference_mask
    moving_mask = moving_known if moving_mask is None else moving_mask
    reference_image = np.asarray(reference_image)
    if reference_image.ndim == 3:
        found = register_volume(reference_image, moving_image, reference_mask=reference_mask,
                                moving_mask=moving_mask, device=device)
    else:
        found = register(reference_image, moving_image, motion="translation",
                         reference_mask=reference_mask, moving_mask=moving_mask, device=device)
    _warn_if_unreliable(found, 2)
    shift, correlation = -found.matrix[:-1, -1], found.correlation
    if (found.significance == 0 and reference_image.ndim == 2 and reference_mask is None
            and moving_mask is None and reference_image.shape == np.shape(moving_image)):
        shift, correlation = _plain_phase_correlation(reference_image, moving_image, device)
    error = np.sqrt(max(0.0, 1 - correlation ** 2))
    return shift, float(error), 0.0


class StackReg:
    """Registers images, like ``pystackreg.StackReg``.

    Parameters
    ----------
    transformation : int
        ``StackReg.TRANSLATION``, ``StackReg.RIGID_BODY``, ``StackReg.SCALED_ROTATION`` or
        ``StackReg.AFFINE``.
    device : Device or str, optional
        The device to compute on; see :func:`warpalign.open_device`.

    Raises
    ------
    ValueError
        The transformation is not one of these; ``BILINEAR`` is not supported.

    Notes
    -----
    A matrix maps (x, y, 1) of the reference to the moving image, as ``skimage.transform.warp``
    takes it.

    Examples
    --------
    >>> import numpy as np
    >>> from warpalign.compat import StackReg
    >>> image = np.random.default_rng(0).random((96, 128)).cumsum(0).cumsum(1) % 50
    >>> StackReg(StackReg.TRANSLATION).register(image, np.roll(image, 4, axis=1)).round()
    array([[1., 0., 4.],
           [0., 1., 0.],
           [0., 0., 1.]])
    """

    TRANSLATION = 2
    RIGID_BODY = 3
    SCALED_ROTATION = 4
    AFFINE = 6

    _MOTIONS = {TRANSLATION: "translation", RIGID_BODY: "rigid", SCALED_ROTATION: "similarity",
                AFFINE: "affine"}

    def __init__(self, transformation, device=None):
        if transformation not in self._MOTIONS:
            raise ValueError(
                "transformation must be StackReg.TRANSLATION, RIGID_BODY, SCALED_ROTATION or "
                "AFFINE")
        self._motion = self._MOTIONS[transformation]
        self._device = open_device(device)
        self._matrix = None

    def is_registered(self):
        """Whether there is a matrix to transform with.

        Returns
        -------
        bool
            True after a registration or a call of :meth:`set_matrix`.
        """
        return self._matrix is not None

    def get_matrix(self):
        """The matrix of the last registration.

        Returns
        -------
        ndarray, shape (3, 3)
            Maps (x, y, 1) of the reference to the moving image. None before the first registration.
        """
        return self._matrix

    def set_matrix(self, mat):
        """Set the matrix for :meth:`transform`.

        Parameters
        ----------
        mat : array_like, shape (3, 3)
            Maps (x, y, 1) of the reference to the moving image.

        Raises
        ------
        ValueError
            The matrix has another shape.
        """
        self._matrix = self._checked(mat)

    @staticmethod
    def _checked(matrix):
        matrix = np.asarray(matrix, np.float64)
        if matrix.shape != (3, 3):
            raise ValueError(f"the matrix must have the shape (3, 3), not {matrix.shape}")
        return matrix

    def register(self, ref, mov):
        """Register two images.

        Parameters
        ----------
        ref, mov : array_like, shape (rows, columns), path or ImageFile
            The reference and the moving image.

        Returns
        -------
        ndarray, shape (3, 3)
            Maps (x, y, 1) of the reference to the moving image.

        Raises
        ------
        ValueError
            The images cannot be registered: a shape is wrong, or pixels are constant or NaN.
        warpalign.Error
            The computation failed.

        Warns
        -----
        UserWarning
            The registration is not reliable; for example, the images are unrelated.
        """
        return self._register(ref, mov)

    def _register(self, ref, mov):
        found = register(ref, mov, motion=self._motion, device=self._device)
        _warn_if_unreliable(found, 3)
        self._matrix = found.matrix_xy
        return self._matrix

    def transform(self, mov, tmat=None):
        """Warp the moving image to the reference.

        Parameters
        ----------
        mov : array_like, shape (rows, columns), path or ImageFile
            The moving image.
        tmat : array_like, shape (3, 3), optional
            The matrix to use instead of that of the last registration.

        Returns
        -------
        ndarray of float64
            The warped image, in the shape of the moving image.

        Raises
        ------
        ValueError
            There is no matrix yet, or its shape is not (3, 3).
        warpalign.Error
            The computation failed.
        """
        from . import ndimage

        if tmat is None and self._matrix is None:
            raise ValueError("there is no matrix: register first, or pass one as tmat")
        matrix = self._matrix if tmat is None else self._checked(tmat)
        pixels, _ = _pixels(mov, "the moving image")
        return ndimage.affine_transform(
            pixels, swap_axes(matrix), output=np.float64, device=self._device)

    def register_transform(self, ref, mov):
        """Register two images, and warp the moving one to the reference.

        Parameters
        ----------
        ref, mov : array_like, shape (rows, columns), path or ImageFile
            The reference and the moving image.

        Returns
        -------
        ndarray of float64
            The warped image, in the shape of the moving image.

        Raises
        ------
        ValueError
            The images cannot be registered: a shape is wrong, or pixels are constant or NaN.
        warpalign.Error
            The computation failed.

        Warns
        -----
        UserWarning
            The registration is not reliable; for example, the images are unrelated.
        """
        self._register(ref, mov)
        return self.transform(mov)


def _check_motion(motion, allowed):
    if motion not in allowed:
        raise ValueError(f"motion must be one of {', '.join(allowed)}, not {motion!r}")


def find_transform_ecc(template_image, input_image, *, motion="similarity", template_mask=None,
                       input_mask=None, device=None):
    """Find the warp between two images, like ``cv2.findTransformECC``.

    Unlike the original, it needs no initial guess and finds large motions.

    Parameters
    ----------
    template_image, input_image : array_like, shape (rows, columns), path or ImageFile
        The reference and the moving image.
    motion : {'similarity', 'rigid', 'translation', 'affine', 'homography'}
        The kind of transform. OpenCV's ``MOTION_TRANSLATION`` is ``'translation'``,
        ``MOTION_EUCLIDEAN`` is ``'rigid'``, ``MOTION_AFFINE`` is ``'affine'`` and
        ``MOTION_HOMOGRAPHY`` is ``'homography'``. OpenCV has no similarity.
    template_mask, input_mask : array_like, optional
        Masks of the shape of their image; 0 for pixels to ignore.
    device : Device or str, optional
        The device to compute on; see :func:`warpalign.open_device`.

    Returns
    -------
    correlation : float
        The normalized correlation over the overlap, after local normalization.
    warp_matrix : ndarray of float32, shape (2, 3), or (3, 3) for a homography
        Maps (x, y, 1) of the template to the input image, as ``cv2.warpAffine`` (for a homography,
        ``cv2.warpPerspective``) takes it with the flag ``WARP_INVERSE_MAP``.

    Raises
    ------
    ValueError
        A shape or the motion is wrong, or the pixels cannot be used.

    Warns
    -----
    UserWarning
        The registration is not reliable; for example, the images are unrelated.

    Examples
    --------
    >>> import numpy as np
    >>> from warpalign.compat import find_transform_ecc
    >>> image = np.random.default_rng(0).random((96, 128)).cumsum(0).cumsum(1) % 50
    >>> find_transform_ecc(image, np.roll(image, 4, axis=1), motion="translation")[1].round()
    array([[1., 0., 4.],
           [0., 1., 0.]], dtype=float32)
    """
    _check_motion(motion, ("similarity", "rigid", "translation", "affine", "homography"))
    found = register(template_image, input_image, motion=motion, reference_mask=template_mask,
                     moving_mask=input_mask, device=device)
    _warn_if_unreliable(found, 2)
    rows = 3 if motion == "homography" else 2
    return found.correlation, found.matrix_xy[:rows].astype(np.float32)


def _values_and_mask(data):
    """The values of an xarray.DataArray, an array or a file, and a mask of the known ones or
    None."""
    if is_file(data):
        return _pixels(data, "a tile")
    values = np.asarray(getattr(data, "data", data))
    finite = np.isfinite(values)
    return values, None if finite.all() else finite


def pairwise_registration(fixed_data, moving_data, *, motion="translation", device=None):
    """Register two overlapping tiles, as a ``pairwise_reg_func`` of multiview-stitcher.

    ``registration.register(..., pairwise_reg_func=warpalign.compat.pairwise_registration)``

    Parameters
    ----------
    fixed_data, moving_data : xarray.DataArray, array_like, path or ImageFile
        The overlap in both tiles, images or volumes, in pixels. NaN and infinities are masked.
    motion : {'translation', 'rigid', 'similarity', 'affine'}
        The kind of transform. The default is ``'translation'``.
    device : Device or str, optional
        The device to compute on; see :func:`warpalign.open_device`.

    Returns
    -------
    dict
        ``affine_matrix``, homogeneous, from fixed to moving pixels in array axes, and
        ``quality``, the registration's confidence, 0 to 1. If one of the tiles is empty (constant,
        or without a finite pixel), the identity with quality 0.

    Raises
    ------
    ValueError
        A shape or the motion is wrong.
    warpalign.Error
        The device cannot do it.

    Examples
    --------
    >>> import numpy as np
    >>> from warpalign.compat import pairwise_registration
    >>> image = np.random.default_rng(0).random((96, 128)).cumsum(0).cumsum(1) % 50
    >>> found = pairwise_registration(image, np.roll(image, 4, axis=1))
    >>> found["affine_matrix"].round()
    array([[1., 0., 0.],
           [0., 1., 4.],
           [0., 0., 1.]])
    """
    _check_motion(motion, ("translation", "rigid", "similarity", "affine"))
    fixed, fixed_mask = _values_and_mask(fixed_data)
    moving, moving_mask = _values_and_mask(moving_data)
    find = register_volume if fixed.ndim == 3 else register
    try:
        found = find(fixed, moving, motion=motion, reference_mask=fixed_mask,
                     moving_mask=moving_mask, device=device)
    except InvalidImageError:
        return {"affine_matrix": np.eye(fixed.ndim + 1), "quality": 0.0}
    return {"affine_matrix": found.matrix, "quality": found.confidence}
