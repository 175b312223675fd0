"""Registers volumes that are larger than a memory, by reducing both of them first."""

import functools
import itertools
import math
import operator
from dataclasses import dataclass

import dask
import dask.array
import numpy as np

from .._alignment import with_geometries
from .._files._open import is_file, opened
from .._initial import initial_matrix
from .._nodata import check_can_hold, known_samples
from .._transform import Transform
from .._volumes import VolumeRegistrar, VolumeRegistration, _check_mirrored, _documented
from ._blocks import as_dask
from ._warp import warp

# The library's limits of a volume's sides.
_LEAST_SIDE, _LONGEST_SIDE = 8, 16384
# Of these types, sums in single precision would lose details on a pedestal.
_DOUBLE = (np.int32, np.uint32, np.int64, np.uint64, np.float64)


@dataclass(frozen=True, eq=False, repr=False)
class ReducedRegistration:
    """The transform between two large volumes, which was found with reduced ones.

    It can be pickled and sent to other processes.

    Attributes
    ----------
    transform : Transform
        Maps indices of the reference to indices of the moving volume, both of full size. With
        ``motion='deformable'``, it includes the deformation.
    matrix : ndarray, shape (4, 4)
        The same as a matrix; of a deformation, the affine transform before it.
    reduced : VolumeRegistration
        What was found with the reduced volumes: ``confidence``, ``correlation``, ``deformation``
        and others. Its matrices, translations and shapes are those of the reduced volumes.
    reliable : bool
        Whether the result is reliable, as that of the reduced volumes.
    reference_factors, moving_factors : tuple of 3 ints
        How many voxels along each axis became one voxel of the reduced volume.
    reference_shape, moving_shape : tuple of 3 ints
        Shapes of the volumes of full size.
    spacing, moving_spacing : tuple of 3 floats
        The distances between voxels of full size along each array axis, in millimetres.
    """

    transform: Transform
    matrix: np.ndarray
    reduced: VolumeRegistration
    reference_factors: tuple[int, int, int]
    moving_factors: tuple[int, int, int]
    reference_shape: tuple[int, int, int]
    moving_shape: tuple[int, int, int]
    spacing: tuple[float, float, float]
    moving_spacing: tuple[float, float, float]
    _chunks: tuple  # of the reference

    @property
    def reliable(self):
        return self.reduced.reliable

    def warp(self, volume, *, output_chunks=None, **options):
        """Warp the moving volume, or another volume of its shape, to the reference, lazily.

        Parameters
        ----------
        volume : dask.array.Array or array_like, shape (planes, rows, columns) or with further axes
            A volume of shape ``moving_shape``, optionally followed by further axes.
        output_chunks : int or tuple, optional
            The chunks of the output. The default is those of the reference.
        **options
            Options of :func:`warp`, such as ``order`` and ``labels``.

        Returns
        -------
        dask.array.Array
            The warped volume, of shape ``reference_shape``. With ``weights=True``, also the array
            of weights.

        Raises
        ------
        ValueError
            The volume has another shape than ``moving_shape``, or an option is invalid; see
            :func:`warp`.
        TypeError
            An option is unknown or has a wrong type.
        RuntimeError
            ``order``, ``mode`` or a dtype is not supported (SciPy's message).
        """
        array = as_dask(volume)
        if array.shape[:3] != self.moving_shape:
            raise ValueError(f"volume must have the moving volume's shape {self.moving_shape}, "
                             f"not {array.shape}")
        return warp(array, self.transform, output_shape=self.reference_shape,
                    output_chunks=self._chunks if output_chunks is None else output_chunks,
                    **options)

    def __repr__(self):
        factors = " and ".join(str(one) for one in
                               dict.fromkeys((self.reference_factors, self.moving_factors)))
        warning = "" if self.reliable else ", not reliable"
        return (f"<ReducedRegistration: {self.reduced.motion}, volumes reduced by {factors}; "
                f"confidence {self.reduced.confidence:.3f}{warning}>")


class _Volume:
    """One of the volumes, before anything of it is read. `otherwise`: its spacing, if neither the
    caller nor a file tells it."""

    def __init__(self, given, mask, nodata, spacing, otherwise, what):
        self.geometry = None
        if is_file(given):
            file = opened(given)
            if file.axes != file._axes_of_volume:
                raise ValueError(f"{what} must have the axes {', '.join(file._axes_of_volume)}, "
                                 f"but those of {file.path} are {', '.join(file.axes)}")
            self.geometry = file._geometry_for(3)
            nodata = file._nodata_of(file.dtype) if nodata is None and mask is None else nodata
            given = file
        array = as_dask(given)
        if array.ndim != 3:
            raise ValueError(f"{what} must be a volume of 3 dimensions, not of shape {array.shape}")
        if array.dtype.kind not in "biuf":
            raise TypeError(f"{what} must hold real numbers, not {array.dtype}")
        if min(array.shape) < _LEAST_SIDE:
            raise ValueError(f"{what} must have at least {_LEAST_SIDE} voxels along each axis, not "
                             f"the shape {array.shape}")
        if nodata is not None:
            check_can_hold(nodata, array.dtype, what)
        self.mask = None if mask is None else as_dask(mask)
        if mask is not None and self.mask.shape != array.shape:
            raise ValueError(f"{what}'s mask must have the volume's shape {array.shape}, not "
                             f"{self.mask.shape}")
        if spacing is None and self.geometry is not None:
            spacing = self.geometry.spacing[::-1]
        self.array, self.nodata = array, nodata
        self.spacing = _checked_spacing(otherwise if spacing is None else spacing, what)
        self.factors = (1, 1, 1)

    @property
    def shape(self):
        """The shape of the reduced volume."""
        return tuple(n // factor for n, factor in zip(self.array.shape, self.factors))

    @property
    def reduced_spacing(self):
        return tuple(s * factor for s, factor in zip(self.spacing, self.factors))

    def approach(self, spacing):
        """Choose the factors that make voxels as long as `spacing`, or as long as they may be."""
        self.factors = tuple(
            max(1, min(round(spacing / s), n // _LEAST_SIDE))
            for s, n in zip(self.spacing, self.array.shape))

    def grid(self):
        """Where the reduced voxels lie in the volume, as (origin, spacing)."""
        return [(factor - 1) / 2 for factor in self.factors], list(self.factors)

    def matrix(self):
        """Maps indices of the reduced volume to those of the volume."""
        origin, spacing = self.grid()
        matrix = np.diag([*spacing, 1.0])
        matrix[:3, 3] = origin
        return matrix

    def reduced(self):
        """The reduced volume and its mask, as Dask arrays; the mask may be None."""
        dtype = np.float64 if self.array.dtype.newbyteorder("=") in _DOUBLE else np.float32
        means = _by_blocks(self.array, self.factors, dtype,
                           functools.partial(_means, nodata=self.nodata, dtype=dtype))
        if self.mask is None:
            return means, None
        return means, _by_blocks(self.mask, self.factors, np.uint8, _all_known)


def _checked_spacing(spacing, what):
    numbers = np.asarray(spacing, np.float64)
    if numbers.shape not in ((), (3,)) or not (np.isfinite(numbers) & (numbers > 0)).all():
        raise ValueError(f"the spacing of {what} must be a number or 3 numbers, finite and above 0,"
                         f" not {spacing!r}")
    return tuple(np.broadcast_to(numbers, 3).tolist())


def _aligned(chunks, factor, length):
    """Chunks of an axis of this length that end where blocks do, each near one of `chunks`."""
    ends = np.minimum(-(-np.cumsum(chunks) // factor) * factor, length)
    return tuple(np.diff(np.unique(ends), prepend=0).tolist())


def _by_blocks(array, factors, dtype, function):
    """The array of function(blocks) for blocks of `factors` samples, whose axes 1, 3 and 5 are
    those within a block. What is left over at the end of an axis is not used."""
    lengths = [n // factor * factor for n, factor in zip(array.shape, factors)]
    chunks = tuple(map(_aligned, array.chunks, factors, lengths))
    used = array[tuple(slice(0, length) for length in lengths)].rechunk(chunks)

    def of_chunk(chunk):
        shape = [n for length, factor in zip(chunk.shape, factors)
                 for n in (length // factor, factor)]
        return function(np.asarray(chunk).reshape(shape))

    reduced = tuple(tuple(length // factor for length in axis)
                    for axis, factor in zip(chunks, factors))
    return used.map_blocks(of_chunk, dtype=dtype, chunks=reduced, meta=np.empty((0, 0, 0), dtype))


def _means(blocks, nodata, dtype):
    """The means of blocks: not finite if any of their samples is missing."""
    with np.errstate(invalid="ignore", over="ignore"):
        means = blocks.mean((1, 3, 5), dtype=np.float64)
        known = None if nodata is None else known_samples(blocks, nodata)
        if known is not None:
            means[~known.all((1, 3, 5))] = np.nan
        return means.astype(dtype)


def _all_known(blocks):
    return (blocks != 0).all((1, 3, 5)).astype(np.uint8)


def _choose_factors(volumes, max_voxels):
    """Make the voxels of both volumes longer, as equal as possible, until both are small enough."""
    max_voxels = operator.index(max_voxels)
    if max_voxels < _LEAST_SIDE ** 3:
        raise ValueError(f"max_voxels must be at least {_LEAST_SIDE ** 3}, not {max_voxels}")
    finest = min(min(volume.spacing) for volume in volumes)
    longest = max(s * n for volume in volumes for s, n in zip(volume.spacing, volume.array.shape))
    _approach(volumes, longest)
    if not _fit(volumes, max_voxels):
        shapes = " and ".join(str(volume.array.shape) for volume in volumes)
        raise ValueError(f"max_voxels={max_voxels} is too small: volumes of {shapes} voxels that "
                         f"are reduced to so few have sides of less than {_LEAST_SIDE} voxels")
    for step in itertools.count(1):
        _approach(volumes, step * finest)
        if _fit(volumes, max_voxels):
            return


def _approach(volumes, spacing):
    for volume in volumes:
        volume.approach(spacing)


def _fit(volumes, max_voxels):
    return all(math.prod(volume.shape) <= max_voxels and max(volume.shape) <= _LONGEST_SIDE
               for volume in volumes)


def _check_grid_spacing(grid_spacing, reference):
    if grid_spacing is None:
        return
    least = 2 * min(reference.reduced_spacing)
    most = max(s * n for s, n in zip(reference.reduced_spacing, reference.shape))
    if not (1 - 1e-6) * least <= grid_spacing <= most:
        raise ValueError(
            f"grid_spacing must be {least:g} to {most:g} mm, not {grid_spacing!r}: at least 2 "
            f"voxels of the reference, which is reduced by {reference.factors}; a larger "
            "max_voxels reduces it less")


def _reduced_shift(max_shift, factors):
    """The largest shift in voxels of the reduced moving volume."""
    if max_shift is None:
        return None
    if np.shape(max_shift) not in ((), (3,)):
        raise ValueError(f"max_shift must be a number or 3 numbers, not {max_shift!r}")
    return np.asarray(max_shift, np.float64) / factors


def _start(initial, reference, moving, motion):
    """What the caller gave as `initial`, between the reduced volumes."""
    whole = initial_matrix(initial, 3, motion, (reference.spacing, moving.spacing))
    if whole is None:
        return None
    return np.linalg.inv(moving.matrix()) @ whole @ reference.matrix()


@_documented
def register_volume(reference, moving, *, max_voxels=2**25, reference_mask=None, moving_mask=None,
                    nodata=None, initial=None, motion="translation", modality="same",
                    max_rotation=180.0, spacing=None, moving_spacing=None, max_shift=None,
                    refine=True, collect_timings=False, grid_spacing=None, bending_weight=0.5,
                    device=None):
    """Find the transform between two volumes that are larger than a memory.

    Dask reduces both volumes to the means of blocks. The calling process registers these at once:
    unlike other functions of this module, the function is not lazy.

    Parameters
    ----------
    reference, moving : dask.array.Array or array_like, shape (planes, rows, columns)
        Volumes of any real type, at least 8 voxels a side. Shapes, types, and the gain and offset
        of intensities may differ. A path that :func:`warpalign.open` reads is opened chunk by chunk
        if its axes are those of a volume, and tells its spacing.
    max_voxels : int, optional
        The largest number of voxels of each reduced volume. The least factors are taken with which
        both fit; where the spacing differs between axes, or between the volumes, the factors do,
        too, so that reduced voxels are about equally long in millimetres. The default is 2**25: a
        deformation then needs about 2.3 GB of device memory.
    reference_mask, moving_mask : dask.array.Array or array_like, optional
        Masks of the shape of their volume; 0 for voxels to ignore, which may hold any value. A
        block with such a voxel is ignored.
    nodata : scalar, optional
        A value that stands for a missing voxel. A block with a missing voxel is ignored, also if
        the voxel is NaN or infinite.
    %(initial)s
    %(volume_options)s
    %(device)s

    Returns
    -------
    ReducedRegistration
        The transform between the volumes of full size, even if it is not ``reliable``, and what was
        found with the reduced ones.

    %(raises)s

    Notes
    -----
    Options in millimetres, such as ``grid_spacing``, hold for both sizes; those in voxels, and
    `initial`, are for the volumes of full size. But the least ``grid_spacing``, and its default,
    are 2 voxels, and 5 or 2, of the reduced reference. A transform is determined as well as the reduced
    volumes determine it: an error of 0.05 reduced voxels is one of 0.2 voxels with factors of 4.

    The mean of a block of f voxels along an axis lies at (f - 1) / 2 from the first of them, which
    the result takes into account. Voxels at the end of an axis that fill no block are not compared.
    The registration of the reduced volumes is that of [1]_.

    References
    ----------
    .. [1] :func:`warpalign.register_volume`, and D. Rueckert et al., "Nonrigid registration using
       free-form deformations: application to breast MR images", IEEE Trans. Medical Imaging 18,
       1999, for ``motion='deformable'``.

    Examples
    --------
    >>> import dask.array
    >>> import numpy as np
    >>> import warpalign
    >>> import warpalign.dask
    >>> noise = np.random.default_rng(0).random((12, 16, 20))
    >>> volume = warpalign.ndimage.zoom(noise, 4)
    >>> reference = dask.array.from_array(volume, chunks=32)
    >>> moving = dask.array.roll(reference, (4, 0, -6), axis=(0, 1, 2))
    >>> found = warpalign.dask.register_volume(reference, moving, max_voxels=32**3)
    >>> found.reference_factors, np.abs(found.matrix[:3, 3]).round()
    ((2, 2, 2), array([4., 0., 6.]))
    >>> aligned = found.warp(moving)
    >>> aligned.chunks == reference.chunks
    True
    """
    fixed = _Volume(reference, reference_mask, nodata, spacing, 1.0, "the reference")
    moved = _Volume(moving, moving_mask, nodata, moving_spacing, fixed.spacing, "the moving volume")
    _check_mirrored(fixed.geometry, moved.geometry)
    _choose_factors((fixed, moved), max_voxels)
    _check_grid_spacing(grid_spacing, fixed)
    max_shift = _reduced_shift(max_shift, moved.factors)
    start = _start(initial, fixed, moved, motion)
    registrar = VolumeRegistrar(
        device, motion=motion, modality=modality, max_rotation=max_rotation,
        spacing=fixed.reduced_spacing, moving_spacing=moved.reduced_spacing, max_shift=max_shift,
        refine=refine, collect_timings=collect_timings, grid_spacing=grid_spacing,
        bending_weight=bending_weight)
    (volume, mask), (other, other_mask) = dask.compute(fixed.reduced(), moved.reduced())
    registrar.set_reference(volume, mask)
    found = registrar.align(other, other_mask, initial=start)
    transform = found.transform.on_grids(fixed.grid(), moved.grid())
    return ReducedRegistration(
        transform=with_geometries(transform, (fixed.geometry, moved.geometry)),
        matrix=moved.matrix() @ found.matrix @ np.linalg.inv(fixed.matrix()), reduced=found,
        reference_factors=fixed.factors, moving_factors=moved.factors,
        reference_shape=fixed.array.shape, moving_shape=moved.array.shape, spacing=fixed.spacing,
        moving_spacing=moved.spacing, _chunks=fixed.array.chunks)

