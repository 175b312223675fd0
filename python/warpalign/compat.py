"""The conventions of other packages, so that changing to warpalign is changing one line.

Each function has the name, the arguments and the results of its original, as far as they mean
something here. Arguments that have no meaning here, such as `upsample_factor`, are not accepted;
remove them from the call. Where the original's result has no place for it, a UserWarning says that
a registration is not reliable.
"""

import warnings

import numpy as np

from ._alignment import swap_axes
from ._devices import open_device
from ._register import register
from ._volumes import register_volume

__all__ = ["StackReg", "find_transform_ecc", "pairwise_registration", "phase_cross_correlation"]


def _warn_of_doubt(found, stacklevel):
    """Warn where a registration is not reliable, which the result does not say."""
    if not found.reliable:
        warnings.warn(
            f"the registration is not reliable (confidence {found.confidence:.2f}, below 0.5): the "
            "images may have nothing in common", UserWarning, stacklevel=stacklevel + 1)


def phase_cross_correlation(reference_image, moving_image, *, reference_mask=None,
                            moving_mask=None, device=None):
    """Find a translation, as ``skimage.registration.phase_cross_correlation`` gives it.

    Parameters
    ----------
    reference_image, moving_image : array_like
        Images, or volumes. Their shapes may differ.
    reference_mask, moving_mask : array_like, optional
        Of the shape of their image, 0 where a pixel does not count. Not for volumes.
    device : Device or str, optional
        Where to compute; see :func:`warpalign.open_device`.

    Returns
    -------
    shift : ndarray of float
        In pixels, along the array's axes: how the moving image must be shifted to lie on the
        reference, as ``scipy.ndimage.shift`` takes it. This is minus the ``translation`` of
        :func:`warpalign.register` and :func:`warpalign.register_volume` (from centre to centre;
        where the shapes differ, by which the origins do). Always to a fraction of a pixel, so
        that there is no ``upsample_factor``.
    error : float
        ``sqrt(1 - correlation ** 2)`` of the normalized correlation over the overlap.
    phasediff : float
        Always 0 (radians), as for images that are not negative.

    Raises
    ------
    ValueError
        A shape is wrong, or the pixels cannot be used.

    Warns
    -----
    UserWarning
        The registration is not reliable, as between unrelated images.

    Examples
    --------
    >>> import numpy as np
    >>> from warpalign.compat import phase_cross_correlation
    >>> image = np.random.default_rng(0).random((96, 128)).cumsum(0).cumsum(1) % 50
    >>> shift, error, phasediff = phase_cross_correlation(image, np.roll(image, (3, -5), (0, 1)))
    >>> [round(float(along)) for along in shift]
    [-3, 5]
    """
    reference_image = np.asarray(reference_image)
    if reference_image.ndim == 3:
        if reference_mask is not None or moving_mask is not None:
            raise ValueError("volumes are registered without masks")
        found = register_volume(reference_image, moving_image, device=device)
        origin = found.translation
    else:
        found = register(reference_image, moving_image, motion="translation",
                         reference_mask=reference_mask, moving_mask=moving_mask, device=device)
        origin = found.matrix[:2, 2]
    _warn_of_doubt(found, 2)
    error = np.sqrt(max(0.0, 1 - found.correlation ** 2))
    return -np.array(origin, np.float64), float(error), 0.0


class StackReg:
    """Registers images as ``pystackreg.StackReg`` does, with matrices of its kind.

    Parameters
    ----------
    transformation : int
        ``StackReg.TRANSLATION``, ``StackReg.RIGID_BODY``, ``StackReg.SCALED_ROTATION`` or
        ``StackReg.AFFINE``.
    device : Device or str, optional
        Where to compute; see :func:`warpalign.open_device`.

    Raises
    ------
    ValueError
        The transformation is another: ``BILINEAR`` is not offered.

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
        """Whether there is a matrix.

        Returns
        -------
        bool
            True after a registration or :meth:`set_matrix`.
        """
        return self._matrix is not None

    def get_matrix(self):
        """The last registration's matrix.

        Returns
        -------
        ndarray, shape (3, 3)
            From (x, y, 1) of the reference to the moving image; None before the first.
        """
        return self._matrix

    def set_matrix(self, mat):
        """Set the matrix for :meth:`transform`.

        Parameters
        ----------
        mat : array_like, shape (3, 3)
            From (x, y, 1) of the reference to the moving image.

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
        ref, mov : array_like, shape (rows, columns)
            The reference and the moving image.

        Returns
        -------
        ndarray, shape (3, 3)
            From (x, y, 1) of the reference to the moving image.

        Raises
        ------
        ValueError
            The images cannot be registered: their shapes, constant or NaN pixels.
        warpalign.Error
            The device cannot do it.

        Warns
        -----
        UserWarning
            The registration is not reliable, as between unrelated images.
        """
        return self._register(ref, mov)

    def _register(self, ref, mov):
        found = register(ref, mov, motion=self._motion, device=self._device)
        _warn_of_doubt(found, 3)
        self._matrix = found.matrix_xy
        return self._matrix

    def transform(self, mov, tmat=None):
        """Bring the moving image onto the reference.

        Parameters
        ----------
        mov : array_like, shape (rows, columns)
            The moving image.
        tmat : array_like, shape (3, 3), optional
            The matrix to use instead of the last registration's.

        Returns
        -------
        ndarray of float64
            Of the moving image's own shape.

        Raises
        ------
        ValueError
            There is no matrix yet, or it has another shape.
        warpalign.Error
            The device cannot do it.
        """
        from . import ndimage

        if tmat is None and self._matrix is None:
            raise ValueError("register first, or give a matrix")
        matrix = self._matrix if tmat is None else self._checked(tmat)
        return ndimage.affine_transform(
            mov, swap_axes(matrix), output=np.float64, device=self._device)

    def register_transform(self, ref, mov):
        """Register two images, and bring the moving one onto the reference.

        Parameters
        ----------
        ref, mov : array_like, shape (rows, columns)
            The reference and the moving image.

        Returns
        -------
        ndarray of float64
            The moving image on the reference, in its own shape.

        Raises
        ------
        ValueError
            The images cannot be registered: their shapes, constant or NaN pixels.
        warpalign.Error
            The device cannot do it.

        Warns
        -----
        UserWarning
            The registration is not reliable, as between unrelated images.
        """
        self._register(ref, mov)
        return self.transform(mov)


def _check_motion(motion, known):
    if motion not in known:
        raise ValueError(f"motion must be one of {', '.join(known)}, not {motion!r}")


def find_transform_ecc(template_image, input_image, *, motion="similarity", template_mask=None,
                       input_mask=None, device=None):
    """Find the warp between two images, as ``cv2.findTransformECC`` gives it.

    It needs no first guess, and finds motions of any size.

    Parameters
    ----------
    template_image, input_image : array_like, shape (rows, columns)
        The reference and the moving image.
    motion : {'similarity', 'rigid', 'translation', 'affine', 'homography'}
        OpenCV's ``MOTION_TRANSLATION`` is ``'translation'``, ``MOTION_EUCLIDEAN`` ``'rigid'``,
        ``MOTION_AFFINE`` ``'affine'`` and ``MOTION_HOMOGRAPHY`` ``'homography'``; it has no
        similarities.
    template_mask, input_mask : array_like, optional
        Of the shape of their image, 0 where a pixel does not count.
    device : Device or str, optional
        Where to compute; see :func:`warpalign.open_device`.

    Returns
    -------
    correlation : float
        The normalized correlation over the overlap, after local normalization.
    warp_matrix : ndarray of float32, shape (2, 3), or (3, 3) of a homography
        Maps (x, y, 1) of the template to the input image, as ``cv2.warpAffine`` (and
        ``cv2.warpPerspective``) takes it with the flag ``WARP_INVERSE_MAP``.

    Raises
    ------
    ValueError
        A shape or the motion is wrong, or the pixels cannot be used.

    Warns
    -----
    UserWarning
        The registration is not reliable, as between unrelated images.

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
    _warn_of_doubt(found, 2)
    rows = 3 if motion == "homography" else 2
    return found.correlation, found.matrix_xy[:rows].astype(np.float32)


def _values(data):
    """The values of an xarray.DataArray or of an array, and where they are numbers."""
    values = np.asarray(getattr(data, "data", data))
    return values, np.isfinite(values)


def pairwise_registration(fixed_data, moving_data, *, motion="translation", device=None):
    """Register two overlapping tiles, as multiview-stitcher's ``pairwise_reg_func``.

    ``registration.register(..., pairwise_reg_func=warpalign.compat.pairwise_registration)``

    Parameters
    ----------
    fixed_data, moving_data : xarray.DataArray or array_like
        The overlap in both tiles, images or volumes, in pixels. NaN does not count in images; in
        volumes it is replaced by the mean.
    motion : {'translation', 'rigid', 'similarity', 'affine'}
        What may differ. The default is ``'translation'``.
    device : Device or str, optional
        Where to compute; see :func:`warpalign.open_device`.

    Returns
    -------
    dict
        ``affine_matrix``, homogeneous, from fixed to moving pixels in array axes, and
        ``quality``, the registration's confidence, 0 to 1.

    Raises
    ------
    ValueError
        A shape or the motion is wrong, or the pixels cannot be used.

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
    fixed, fixed_mask = _values(fixed_data)
    moving, moving_mask = _values(moving_data)
    if fixed.ndim == 3:
        fixed = np.where(fixed_mask, fixed, fixed[fixed_mask].mean())
        moving = np.where(moving_mask, moving, moving[moving_mask].mean())
        found = register_volume(fixed, moving, motion=motion, device=device)
    else:
        masks = {}
        if not fixed_mask.all():
            masks["reference_mask"] = fixed_mask
        if not moving_mask.all():
            masks["moving_mask"] = moving_mask
        found = register(fixed, moving, motion=motion, device=device, **masks)
    return {"affine_matrix": found.matrix, "quality": found.confidence}
