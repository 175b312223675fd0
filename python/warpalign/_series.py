"""Registration of a series of volumes, such as those of functional MRI."""

import math
import os

import numpy as np

from . import _core
from ._deformation import deformation_of
from ._devices import open_device
from ._errors import InvalidImageError
from ._files._open import is_file, opened
from ._images import as_volume
from ._options import documented
from ._progress import progress_bar
from ._transform import Transform

_MOTIONS = ("translation", "rigid", "similarity", "affine", "deformable")

# A row of the table. Volumes that are not "ok" have NaN.
_MOTION = np.dtype([
    ("volume", np.int64), ("status", "U10"),
    ("trans_x", np.float64), ("trans_y", np.float64), ("trans_z", np.float64),
    ("rot_x", np.float64), ("rot_y", np.float64), ("rot_z", np.float64),
    ("framewise_displacement", np.float64), ("dvars", np.float64),
    ("correlation", np.float64), ("confidence", np.float64),
])
_PARAMETERS = _MOTION.names[2:8]


class SeriesRegistration:
    """The motion of each volume of a series, relative to the reference.

    Attributes
    ----------
    motion : ndarray
        A structured array with a row for each volume, and the columns of the table that ``warpalign
        stack --csv`` writes: ``volume``; ``status`` (``'ok'``, ``'unreliable'`` or ``'failed'``);
        the translation ``trans_x``, ``trans_y``, ``trans_z`` in millimetres; the rotations
        ``rot_x``, ``rot_y``, ``rot_z`` in degrees; ``framewise_displacement`` in millimetres [1]_
        and ``dvars`` since the volume before, in the volumes' unit; ``correlation`` and
        ``confidence``, which have no unit. NaN where there is no number. A point of the head that
        is at p in the reference is at R (p - c) + c + t in the volume, with t the translation, c
        the centre of the reference and R = Rz Ry Rx.
    matrices : ndarray, shape (volumes, 4, 4)
        For each volume, the matrix that maps indices (plane, row, column, 1) of the reference to
        indices of the volume. NaN for volumes that failed. With ``motion='deformable'``, that of
        the affine step, as are all numbers of ``motion`` but ``dvars``.
    transforms : list of Transform or None
        For each volume that is ``'ok'``, the transform from indices of the reference to indices of
        the volume: its ``warp`` aligns another volume, such as another echo. None for others.
    deformations : list of Deformation or None
        With ``motion='deformable'``, the deformation of each volume that is ``'ok'``.
    errors : dict of int to InvalidImageError
        For each volume that failed, by its number, the reason.
    reference : ndarray
        The reference volume.
    mean : ndarray or None
        The mean of the aligned volumes, as float32; None if no volume is ``'ok'``.

    References
    ----------
    .. [1] J. D. Power et al., "Spurious but systematic correlations in functional connectivity MRI
       networks arise from subject motion", NeuroImage 59, 2012.
    """

    def __init__(self, rows, matrices, deformations, errors, reference, mean):
        self.motion = np.array(rows, _MOTION)
        self.matrices = np.array(matrices).reshape(-1, 4, 4)
        self.deformations = deformations
        self.transforms = [
            _transform_of(*each) for each in zip(self.motion["status"], self.matrices, deformations)]
        self.errors = errors
        self.reference = reference
        self.mean = mean

    def __len__(self):
        return len(self.motion)

    def to_pandas(self):
        """Convert the table to a pandas DataFrame.

        Returns
        -------
        pandas.DataFrame
            The fields of ``motion`` as columns, with the volume's number as index.

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        import pandas

        return pandas.DataFrame.from_records(self.motion, index="volume")

    def __repr__(self):
        ok = int((self.motion["status"] == "ok").sum())
        return f"<SeriesRegistration: {len(self)} volumes, {ok} ok>"


def _transform_of(status, matrix, deformation):
    if status != "ok":
        return None
    return Transform.affine(matrix) if deformation is None else deformation.transform


def _to_world(affine, spacing):
    """The matrix from array indices to millimetres: `affine`, or the axes in the order x, y, z."""
    if affine is not None:
        matrix = np.array(affine, np.float64)
        if matrix.shape != (4, 4) or not np.isfinite(matrix).all():
            raise ValueError(f"affine must be a matrix of 4 x 4 finite numbers, not {affine!r}")
        if abs(np.linalg.det(matrix[:3, :3])) <= 0:
            raise ValueError("affine is singular: it maps the volume to a plane or less")
        return matrix
    lengths = np.broadcast_to(np.asarray(1 if spacing is None else spacing, np.float64), (3,))
    if not (np.isfinite(lengths) & (lengths > 0)).all():
        raise ValueError(f"spacing must be finite and above 0, not {spacing!r}")
    matrix = np.zeros((4, 4))
    matrix[[2, 1, 0], [0, 1, 2]] = lengths
    matrix[3, 3] = 1
    return matrix


def _nearest_rotation(matrix):
    u, _, v = np.linalg.svd(matrix)
    return u @ np.diag([1, 1, np.linalg.det(u @ v)]) @ v


def _parameters(matrix, to_world, shape, lengths):
    """The six parameters of a matrix of indices."""
    centre = np.append((np.array(shape) - 1) / 2, 1)
    translation = (to_world @ (matrix @ centre - centre))[:3]
    # The nearest rotation of positions along the array's axes, then along the world's.
    scaled = np.diag(lengths) @ matrix[:3, :3] @ np.diag(1 / lengths)
    directions = to_world[:3, :3] / lengths
    r = directions @ _nearest_rotation(scaled) @ np.linalg.inv(directions)
    angles = (math.atan2(r[2, 1], r[2, 2]), math.atan2(-r[2, 0], math.hypot(r[2, 1], r[2, 2])),
              math.atan2(r[1, 0], r[0, 0]))
    return np.append(translation, np.degrees(angles))


def _head_of(reference):
    """The voxels that are no air: above a tenth of the way from the 2nd to the 98th percentile."""
    values = reference.astype(np.float32)
    low, high = np.percentile(values[np.isfinite(values)], [2, 98], method="lower")
    return values > low + np.float32(0.1) * (high - low)


def _count_of(volumes):
    """How many volumes there are, or None for an iterator."""
    try:
        return len(volumes)
    except TypeError:
        return None


class _Series:
    """Registers volume after volume."""

    def __init__(self, device, motion, to_world, radius, grid_spacing, bending_weight):
        self._to_world = to_world
        self._lengths = np.linalg.norm(to_world[:3, :3], axis=0)
        self._radius = radius
        self._registrar = _core.VolumeSeriesRegistrar(
            device, motion, [float(length) for length in self._lengths[::-1]], grid_spacing,
            bending_weight)
        self.reference = None

    def set_reference(self, volume):
        self._registrar.set_reference(volume)
        self.reference = volume
        self._head = _head_of(volume)
        self._before = self._parameters_before = None
        self._sum = np.zeros(volume.shape)
        self._counts = np.zeros(volume.shape, np.uint32)
        self._summed = 0

    def add(self, number, volume):
        """Return the volume's row, its matrix, its deformation, the aligned volume and the error.

        Of the third and the last, there may be none.
        """
        nan = float("nan")
        aligned = np.empty_like(volume)
        try:
            found = self._registrar.align(volume, aligned)
        except InvalidImageError as error:
            self._before = self._parameters_before = None
            return (number, "failed", *[nan] * 10), np.full((4, 4), nan), None, volume, error
        matrix = np.array(found["matrix"])[np.ix_([2, 1, 0, 3], [2, 1, 0, 3])]
        deformation = deformation_of(found["deformation"], volume.shape)
        quality = (found["correlation"], found["confidence"])
        if not found["reliable"]:
            self._before = self._parameters_before = None
            return (number, "unreliable", *[nan] * 8, *quality), matrix, None, aligned, None
        parameters = _parameters(matrix, self._to_world, volume.shape, self._lengths)
        displacement = dvars = nan
        if self._before is not None:
            change = np.abs(parameters - self._parameters_before)
            displacement = change[:3].sum() + self._radius * np.radians(change[3:]).sum()
            difference = (aligned[self._head].astype(np.float32).astype(np.float64)
                          - self._before[self._head].astype(np.float32))
            difference = difference[np.isfinite(difference)]  # of voxels that both volumes have
            dvars = math.sqrt(np.mean(difference ** 2)) if difference.size else nan
        self._before, self._parameters_before = aligned, parameters
        known = np.isfinite(aligned)
        self._sum[known] += aligned[known]
        self._counts += known
        self._summed += 1
        row = (number, "ok", *parameters, displacement, dvars, *quality)
        return row, matrix, deformation, aligned, None

    @property
    def mean(self):
        """The mean of the volumes that have a value at a voxel; NaN where none has one."""
        if not self._summed:
            return None
        with np.errstate(invalid="ignore"):
            return (self._sum / self._counts).astype(np.float32)


@documented
def register_series(volumes, *, to="first", motion="rigid", affine=None, spacing=None, radius=50.0,
                    grid_spacing=None, bending_weight=0.5, output=None, device=None,
                    progress=None) -> SeriesRegistration:
    """Register each volume of a series to one of them, and remove the motion.

    The fit of a volume starts from the motion of the one before, and a full search runs only where
    that fails. ``warpalign stack`` does the same for NIfTI files.

    Parameters
    ----------
    volumes : array_like of 4 dimensions, iterable of array_like, or path
        The volumes along the first axis, or a file of them, whose affine matrix or spacing then is
        the default. A volume has 8 to 16384 voxels a side; all have one shape and type. For an
        image of nibabel, ``np.moveaxis(np.asanyarray(image.dataobj), -1, 0)``. Only one volume at a
        time is read, so a memory map or a generator keeps memory small; ``to='mean'`` reads them
        twice.
    to : {'first', 'mean'}, int, array_like or path, optional
        The reference: the first usable volume, the mean of all volumes aligned to the first, the
        volume of this number, or another volume. The default is ``'first'``.
    motion : {'translation', 'rigid', 'similarity', 'affine', 'deformable'}, optional
        The transform to find. The default is ``'rigid'``. ``'deformable'``: an affine transform,
        then a smooth deformation, as of tissue that moves or grows.
    affine : array_like, shape (4, 4), optional
        Maps indices along a volume's axes to millimetres, such as ``image.affine`` of nibabel. The
        parameters are then those along the scanner's axes x (right), y (front) and z (head).
    spacing : float or sequence of 3 floats, optional
        Without ``affine``: the distance between voxels along each axis of a volume, in
        millimetres. x, y and z then are the last, the second and the first axis. The default is 1.
    radius : float, optional
        The radius, in millimetres, of the sphere on which framewise displacement measures
        rotations. The default is 50.
    grid_spacing : float, optional
        For ``motion='deformable'``: the distance between control points, in millimetres. The
        default is 5 voxels along the axis with the smallest spacing.
    bending_weight : float, optional
        For ``motion='deformable'``: the weight of the bending energy against the correlation, 0.01
        to 100. The default is 0.5.
    output : array, optional
        Receives the aligned volumes: ``output[i] = aligned``, for an array or a memory map of the
        series' shape. A volume that is not ``'ok'`` is copied as it is.
    %(device)s
    progress : bool, optional
        Whether to show a progress bar, which needs ``tqdm``. The default is to show one in a
        terminal or a notebook.

    Returns
    -------
    SeriesRegistration
        The motion of each volume.

    Raises
    ------
    TypeError
        A volume has a type that is not supported.
    ValueError
        The value of an option is invalid, or a volume has another shape than the reference.
    warpalign.InvalidImageError
        The reference cannot be registered: it is constant, or has no finite voxel. Other
        volumes of this kind are in ``errors``.
    warpalign.Error
        The computation failed, or the device cannot be opened.

    References
    ----------
    .. [1] S. Baker and I. Matthews, "Lucas-Kanade 20 years on: a unifying framework", International
       Journal of Computer Vision 56, 2004: fits by inverse composition.
    .. [2] J. D. Power et al., "Spurious but systematic correlations in functional connectivity MRI
       networks arise from subject motion", NeuroImage 59, 2012: framewise displacement and DVARS.
    .. [3] D. Rueckert et al., "Nonrigid registration using free-form deformations: application to
       breast MR images", IEEE Trans. Medical Imaging 18, 1999.

    Examples
    --------
    >>> import numpy as np
    >>> import warpalign
    >>> noise = np.random.default_rng(0).random((12, 14, 16))
    >>> head = warpalign.ndimage.zoom(noise, 2)
    >>> series = np.stack([warpalign.ndimage.shift(head, (0, s, 0), mode="mirror")
    ...                    for s in (0, 0.2, 0.5)])
    >>> found = warpalign.register_series(series, spacing=3)
    >>> found.motion["trans_y"].round(1)
    array([0. , 0.6, 1.5])
    """
    if motion not in _MOTIONS:
        raise ValueError(f"motion must be one of {', '.join(_MOTIONS)}, not {motion!r}")
    if affine is not None and spacing is not None:
        raise ValueError("affine gives the spacing already; omit one of the two")
    if is_file(volumes):
        image = opened(volumes)
        volumes = image._series()
        if affine is None and spacing is None:
            affine = image._affine_of_series
            spacing = None if affine is not None else [
                image.spacing[image.axes.index(axis)] for axis in "zyx"]
    radius = float(radius)
    if not 0 < radius < math.inf:
        raise ValueError(f"radius must be above 0 and finite, not {radius}")
    to_world = _to_world(affine, spacing)
    series = _Series(open_device(device), motion, to_world, radius, grid_spacing, bending_weight)
    is_name = isinstance(to, str) and to in ("first", "mean")
    if isinstance(to, str) and not is_name and not os.path.exists(to):
        raise ValueError(f"to must be 'first', 'mean', a number, a volume or the path of one, not "
                         f"{to!r}")
    to_file = is_file(to) and not is_name
    count = _count_of(volumes)
    is_number = not is_name and not to_file and np.ndim(to) == 0
    needed_again = is_name and to == "mean" or is_number
    if count is None and needed_again:
        volumes = list(volumes)
        count = len(volumes)
    if count == 0:
        raise ValueError("there are no volumes")
    iterator = _checked(volumes)
    ahead = []
    if is_name:
        ahead = _use_first(series, iterator)
        if to == "mean":
            for number, volume in enumerate(_checked(volumes)):
                series.add(number, volume)
            series.set_reference(series.mean)
            ahead, iterator = [], _checked(volumes)
    elif is_number:
        number = int(to)
        if not 0 <= number < count:
            raise ValueError(f"to={number}: there are {count} volumes, numbered from 0")
        series.set_reference(as_volume(volumes[number], f"volume {number}"))
    else:
        series.set_reference(as_volume(to, "the reference"))

    rows, matrices, deformations, errors = [], [], [], {}
    with progress_bar(progress, count, "volume") as bar:
        for number, volume in enumerate(_chained(ahead, iterator)):
            if volume.shape != series.reference.shape:
                raise ValueError(f"volume {number} has the shape {volume.shape}, but the reference "
                                 f"has the shape {series.reference.shape}")
            row, matrix, deformation, aligned, error = series.add(number, volume)
            rows.append(row)
            matrices.append(matrix)
            deformations.append(deformation)
            if error is not None:
                errors[number] = error
            if output is not None:
                output[number] = aligned
            bar.update()
    return SeriesRegistration(
        rows, matrices, deformations, errors, series.reference, series.mean)


def _checked(volumes):
    for number, volume in enumerate(volumes):
        yield as_volume(volume, f"volume {number}")


def _chained(ahead, rest):
    yield from ahead
    yield from rest


def _use_first(series, volumes):
    """Make the first usable volume the reference. Returns the volumes that were read."""
    ahead = []
    failure = None
    for volume in volumes:
        ahead.append(volume)
        try:
            series.set_reference(volume)
            return ahead
        except InvalidImageError as error:
            failure = failure or error
    raise failure or ValueError("there are no volumes")
