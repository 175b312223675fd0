"""Registration of volumes."""

import dataclasses
import functools
from dataclasses import dataclass

import numpy as np

from . import _core
from ._core import Device
from ._device_array import DeviceArray
from ._alignment import with_geometries
from ._devices import open_device
from ._docs import warps
from ._foreign import warpable
from ._images import (
    as_volume, check_dimensions, counted, device_for, mask_of, pixels_of, read)
from ._initial import initial_matrix, numbers_xy
from ._options import documented
from ._results import OnDevice
from ._deformation import Deformation, deformation_of
from ._transform import Transform


@dataclass(frozen=True, eq=False, repr=False)
class VolumeRegistration(OnDevice):
    """The transform between two volumes.

    It can be pickled and sent to other processes.

    Attributes
    ----------
    motion : str
        The kind of transform, as given by the option ``motion``.
    modality : str
        What the search compared: intensities (``'same'``) or the strength of edges (``'other'``).
    matrix : ndarray, shape (4, 4)
        Maps indices (plane, row, column, 1) of the reference to indices of the moving volume, as
        :func:`warpalign.ndimage.affine_transform` takes it.
    transform : Transform
        The same as a :class:`Transform`: composed, inverted, applied to points, saved.
    translation : tuple of 3 floats
        The translation in voxels, (planes, rows, columns): the point at the centre c of the
        reference is at index c + translation of the moving volume. With ``motion='translation'``
        and equal voxel sizes, this holds for every index c.
    translation_xyz : tuple of 3 floats
        The same as (x, y, z).
    rotation_deg : float
        The angle of the rotation from the reference to the moving volume, 0 to 180 degrees. For an
        affine transform, that of the nearest rotation.
    rotation_axis_xyz : tuple of 3 floats
        The axis of the rotation by the right-hand rule, a unit vector (dimensionless) along
        (x, y, z), which are the array's axes from the last to the first. Zeros if the angle is 0.
    scale : float
        The scale factor of lengths in millimetres, from the reference to the moving volume.
    confidence : float
        0 to 1: how far the result exceeds what wrong poses reach by chance. It is calibrated on
        unrelated pairs, but is not a probability. A result is ``reliable`` from 0.5.
    reliable : bool
        Whether ``confidence`` is at least 0.5.
    correlation : float
        The normalized correlation of the smoothed volumes over their overlap.
    significance : float
        ``atanh(correlation)`` times the square root of the number of independent voxels in the
        overlap.
    overlap : float
        The fraction of the reference that the moving volume covers; with masks, of the voxels that
        are not masked.
    refined : bool
        Whether the refinement converged.
    timings : dict of str to float
        Device time of each stage in milliseconds. Empty unless ``collect_timings`` is set.
    reference_shape, moving_shape : tuple of 3 ints
        Shapes of the volumes.
    deformation : Deformation or None
        With ``motion='deformable'``, the deformation of a reliable result, which :attr:`transform`
        and :meth:`warp` include; ``matrix`` and others describe the affine transform before it.
    missing : tuple of 2 ints
        How many voxels of the reference and of the moving volume were ignored because they are NaN,
        infinite or equal to ``nodata``.
    """

    motion: str
    modality: str
    matrix: np.ndarray
    translation: tuple[float, float, float]
    rotation_deg: float
    rotation_axis_xyz: tuple[float, float, float]
    scale: float
    confidence: float
    reliable: bool
    correlation: float
    significance: float
    overlap: float
    refined: bool
    timings: dict[str, float]
    reference_shape: tuple[int, int, int]
    moving_shape: tuple[int, int, int]
    _device: Device
    deformation: Deformation | None = None
    missing: tuple[int, int] = (0, 0)
    _geometries: tuple = (None, None)  # of the reference and the moving volume

    @property
    def transform(self):
        found = (Transform.affine(self.matrix) if self.deformation is None
                 else self.deformation.transform)
        return with_geometries(found, self._geometries)

    @property
    def translation_xyz(self):
        return self.translation[::-1]

    @warps
    def warp(self, volume, *, order=3, mode="constant", cval=0.0, missing=None, nodata=None,
             weights=False, precision="single", antialias=False, labels=False, output=None):
        """Warp the moving volume, or another volume of its shape, to the reference.

        Parameters
        ----------
        volume : array_like
            A volume of shape ``moving_shape``, or the path of a file. An array on the
            registration's device stays there.
        %(warping)s
        %(antialias)s
        %(labels)s
        output : array or dtype, optional
            The array in which to place the result, or its dtype.

        Returns
        -------
        ndarray
            The warped volume, of shape ``reference_shape`` and the volume's dtype. A volume on a
            device gives an array of the same library.
        weights : ndarray of float32
            With ``weights=True``: the known share of each result's support, from 0 to 1.

        Raises
        ------
        ValueError
            The volume has another shape than ``moving_shape``, or is on another device; or all its
            samples are missing, or no sample can have the value `nodata`; or `antialias` is True
            for an order of 0, or for a deformation on a device that lacks double precision.
        RuntimeError
            ``order``, ``mode`` or a dtype is not supported (SciPy's message).
        warpalign.Error
            The computation failed, or the device of an unpickled result cannot be opened here.
        """
        from . import ndimage
        from .ndimage._missing import default_for

        volume, nodata = warpable(volume, nodata, missing, 3)
        if tuple(volume.shape) != self.moving_shape:
            raise ValueError(
                f"volume must have the moving volume's shape {self.moving_shape}, "
                f"not {volume.shape}")
        options = {"output_shape": self.reference_shape, "output": output, "order": order,
                   "mode": mode, "cval": cval, "missing": default_for(missing, volume, labels),
                   "nodata": nodata, "weights": weights, "precision": precision,
                   "antialias": antialias, "labels": labels, "device": self._opened()}
        if self.deformation is not None:
            return self.transform.warp(volume, **options)
        return ndimage.affine_transform(volume, self.matrix, **options)

    def __repr__(self):
        shift = ", ".join(f"{value:.3f}" for value in self.translation)
        warning = "" if self.reliable else ", not reliable"
        angle = "" if self.motion == "translation" else f"rotation {self.rotation_deg:.3f} deg, "
        scale = f"scale {self.scale:.4f}, " if self.motion in ("similarity", "affine", "deformable") else ""
        return (f"<VolumeRegistration: {angle}{scale}translation {shift}; "
                f"confidence {self.confidence:.3f}{warning}>")


_VOLUME_OPTIONS = """\
    motion : {'translation', 'rigid', 'similarity', 'affine', 'deformable'}, optional
        The transform to find. The default is ``'translation'``. Similarities and affine transforms
        are found for scales of about 0.8 to 1.25. ``'deformable'``: an affine transform, then a
        smooth deformation. With ``initial`` and ``modality='same'``, the affine transform is that
        one, and the deformation is judged by the correlation that it reaches.
    modality : {'same', 'other', 'auto'}, optional
        How the volumes are compared. ``'same'`` (the default): by intensities. ``'other'``: by the
        strength of edges, for contrast that is reversed or unrelated, as between MRI weightings or
        CT and MRI. ``'auto'``: by intensities and, if that gives no reliable result, by edges.
    max_rotation : float, optional
        The largest rotation about any axis, in degrees, above 0 and at most 180. The default is
        180.
    spacing : float or sequence of 3 floats, optional
        The distance between voxels along each array axis, in millimetres, such as
        ``header.get_zooms()`` of nibabel. Rotations are rigid in millimetres. The default is 1;
        :func:`register_volume` takes it from the file, if it is given one.
    moving_spacing : float or sequence of 3 floats, optional
        The distance between voxels of moving volumes, in millimetres. The default is ``spacing``.
    max_shift : float or sequence of 3 floats, optional
        The largest translation along each axis, in voxels; 0 or None: no limit.
    refine : bool, optional
        Whether to refine the result at full resolution, to fractions of a voxel. The default is
        True.
    collect_timings : bool, optional
        Measure the device time of each stage. Registration is slower then. The default is False.
    grid_spacing : float, optional
        For ``motion='deformable'``: the distance between control points, in millimetres. At least 2
        voxels of the reference along the axis with the smallest spacing, and at most its longest
        side. The default is 5 voxels along that axis, or 2 if the volumes have the same modality
        and differ by more than their noise after a fit with 5, as the brains of two people do.
    bending_weight : float, optional
        For ``motion='deformable'``: the weight of the bending energy against the correlation, 0.01
        to 100; larger weights make the field smoother and less exact. The default is 0.5."""

_documented = functools.partial(documented, volume_options=_VOLUME_OPTIONS)

_MOTIONS = ("translation", "rigid", "similarity", "affine", "deformable")
_MODALITIES = ("same", "other", "auto")


def _along_xyz(value):
    """Convert a number, or a number for each array axis, to (x, y, z)."""
    along = np.broadcast_to(np.asarray(value, np.float64), (3,))
    return [float(number) for number in along[::-1]]


def volume_options_of(motion="translation", modality="same", max_rotation=180.0, spacing=None,
                      moving_spacing=None, max_shift=None, refine=True, collect_timings=False,
                      grid_spacing=None, bending_weight=0.5):
    """The library's options, of the keyword arguments of VolumeRegistrar."""
    options = _core.VolumeRegistrationOptions()
    if motion not in _MOTIONS:
        raise ValueError(f"motion must be one of {', '.join(_MOTIONS)}, not {motion!r}")
    options.motion = motion
    if modality not in _MODALITIES:
        raise ValueError(f"modality must be one of {', '.join(_MODALITIES)}, not {modality!r}")
    options.modality = modality
    options.max_rotation = max_rotation
    if spacing is not None:
        options.reference_spacing = options.moving_spacing = _along_xyz(spacing)
    if moving_spacing is not None:
        options.moving_spacing = _along_xyz(moving_spacing)
    if max_shift is not None:
        options.max_shift = _along_xyz(max_shift)
    options.refine = refine
    options.collect_timings = collect_timings
    options.grid_spacing = grid_spacing
    options.bending_weight = bending_weight
    return options


def _check_mirrored(reference, moving):
    """Raise ValueError if one of two geometries is mirrored relative to the other one."""
    if reference is None or moving is None:
        return
    if np.linalg.det(reference.direction) * np.linalg.det(moving.direction) < 0:
        raise ValueError("the axes of the moving volume are mirrored relative to those of the "
                         "reference; reorient one of the files first, as by "
                         "nibabel.as_closest_canonical")


class VolumeRegistrar:
    """Registers volumes to one reference.

    A registrar keeps plans, memory and the reference's spectrum between calls. Calls from several
    threads wait for each other.

    Parameters
    ----------
    %(device)s
    %(volume_options)s

    Raises
    ------
    TypeError
        An option is unknown or has a wrong type.
    ValueError
        The value of an option is invalid, or options contradict each other.
    warpalign.Error
        The device cannot be opened.

    References
    ----------
    .. [1] C. D. Kuglin and D. C. Hines, "The phase correlation image alignment method", Proc. IEEE
       Int. Conf. on Cybernetics and Society, 1975: translations.
    .. [2] M. Alexa, "Super-Fibonacci spirals: fast, low-discrepancy sampling of SO(3)", CVPR 2022:
       the rotations of the search.
    """

    def __init__(self, device=None, *, motion="translation", modality="same", max_rotation=180.0,
                 spacing=None, moving_spacing=None, max_shift=None, refine=True,
                 collect_timings=False, grid_spacing=None, bending_weight=0.5):
        options = volume_options_of(
            motion, modality, max_rotation, spacing, moving_spacing, max_shift, refine,
            collect_timings, grid_spacing, bending_weight)
        self._motion = motion
        spacing = 1 if spacing is None else spacing
        self._spacings = (spacing, spacing if moving_spacing is None else moving_spacing)
        self._device = open_device(device)
        self._registrar = _core.VolumeRegistrar(self._device, options)
        self._shape = None
        self._nodata = 0  # voxels of the reference
        self._geometry = None  # of the reference

    @documented
    def set_reference(self, volume, mask=None, *, nodata=None) -> None:
        """Set the reference volume.

        Parameters
        ----------
        volume : array_like, shape (planes, rows, columns)
            A volume of any real type, 8 to 16384 voxels a side, or the path of a file
            (:func:`warpalign.open`), whose spacing is not used. Arithmetic is in single precision.
            An array on the registrar's device is used there, without copies.
        mask : array_like, same shape, optional
            0 for voxels to ignore, which may hold any value.
        %(nodata)s

        %(raises)s
        """
        volume, mask, self._geometry = read(volume, mask, as_volume, "the reference")
        with pixels_of(volume, as_volume, "the reference", self._device) as voxels:
            self._shape = None
            check_dimensions(voxels, 3, "the reference")
            mask, self._nodata = mask_of(volume, voxels.shape, mask, nodata, "the reference",
                                         "volume")
            if isinstance(voxels, DeviceArray):
                self._registrar.set_reference_on_device(voxels._memory, voxels._queue, mask)
            else:
                self._registrar.set_reference(voxels, mask)
            self._shape = voxels.shape

    @documented
    def align(self, moving, mask=None, *, nodata=None, initial=None) -> VolumeRegistration:
        """Register a volume to the reference.

        Parameters
        ----------
        moving : array_like, shape (planes, rows, columns)
            The moving volume, or the path of a file. Its shape and type may differ from those of
            the reference.
        mask : array_like, same shape, optional
            0 for voxels to ignore.
        %(nodata)s
        %(initial)s

        Returns
        -------
        VolumeRegistration
            The transform, even if it is not ``reliable``.

        %(raises)s
        """
        start = numbers_xy(initial_matrix(initial, 3, self._motion, self._spacings))
        moving, mask, geometry = read(moving, mask, as_volume, "the moving volume")
        _check_mirrored(self._geometry, geometry)
        with pixels_of(moving, as_volume, "the moving volume", self._device) as voxels:
            shape = voxels.shape
            check_dimensions(voxels, 3, "the moving volume")
            mask, count = mask_of(moving, shape, mask, nodata, "the moving volume", "volume")
            if isinstance(voxels, DeviceArray):
                found = self._registrar.align_on_device(voxels._memory, voxels._queue, mask, start)
            else:
                found = self._registrar.align(voxels, mask, start)
        found["missing"] = counted(found["missing"], self._nodata, count)
        found["translation"] = tuple(found["translation"][::-1])
        found["matrix"] = np.array(found["matrix"])[np.ix_([2, 1, 0, 3], [2, 1, 0, 3])]
        found["timings"] = dict(found["timings"])
        found["deformation"] = deformation_of(found["deformation"], self._shape)
        return VolumeRegistration(
            **found, reference_shape=self._shape, moving_shape=shape, _device=self._device,
            _geometries=(self._geometry, geometry))


_documented(VolumeRegistrar)


@_documented
def register_volume(reference, moving, *, reference_mask=None, moving_mask=None, nodata=None,
                    initial=None, motion="translation", modality="same", max_rotation=180.0,
                    spacing=None, moving_spacing=None, max_shift=None, refine=True,
                    collect_timings=False, grid_spacing=None, bending_weight=0.5,
                    device=None) -> VolumeRegistration:
    """Find the transform between two volumes.

    Parameters
    ----------
    reference, moving : array_like, shape (planes, rows, columns)
        Volumes of any real type, 8 to 16384 voxels a side, or the paths of files that
        :func:`warpalign.open` reads, which tell their spacing. Shapes, types, and the gain and
        offset of intensities may differ. Arithmetic is in single precision. Arrays on a device are
        registered there, without copies.
    reference_mask, moving_mask : array_like, optional
        Masks of the shape of their volume; 0 for voxels to ignore, which may hold any value.
    %(nodata)s
    %(initial)s
    %(volume_options)s
    %(device)s

    Returns
    -------
    VolumeRegistration
        The transform, even if it is not ``reliable``.

    %(raises)s

    References
    ----------
    .. [1] C. D. Kuglin and D. C. Hines, "The phase correlation image alignment method", IEEE
       Conference on Cybernetics and Society, 1975. The documentation's page "How a registration
       works" describes the other steps.

    Examples
    --------
    >>> import numpy as np
    >>> import warpalign
    >>> noise = np.random.default_rng(0).random((24, 32, 40))
    >>> volume = warpalign.ndimage.zoom(noise, 1.5)
    >>> found = warpalign.register_volume(volume, np.roll(volume, (2, 0, -3), axis=(0, 1, 2)))
    >>> [round(shift) for shift in found.translation]
    [2, 0, -3]
    >>> rotated = np.rot90(volume, axes=(1, 2))
    >>> round(warpalign.register_volume(volume, rotated, motion="rigid").rotation_deg)
    90
    """
    reference, reference_mask, fixed = read(reference, reference_mask, as_volume, "the reference")
    moving, moving_mask, moved = read(moving, moving_mask, as_volume, "the moving volume")
    _check_mirrored(fixed, moved)
    if spacing is None and fixed is not None:
        spacing = fixed.spacing[::-1]
    if moving_spacing is None and moved is not None:
        moving_spacing = moved.spacing[::-1]
    registrar = VolumeRegistrar(
        device_for(reference, device), motion=motion, modality=modality,
        max_rotation=max_rotation, spacing=spacing, moving_spacing=moving_spacing,
        max_shift=max_shift, refine=refine, collect_timings=collect_timings,
        grid_spacing=grid_spacing, bending_weight=bending_weight)
    registrar.set_reference(reference, reference_mask, nodata=nodata)
    found = registrar.align(moving, moving_mask, nodata=nodata, initial=initial)
    return dataclasses.replace(found, _geometries=(fixed, moved))
