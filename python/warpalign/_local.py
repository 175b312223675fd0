"""Registration of motion that varies within the image."""

import math
import operator
import threading
from dataclasses import dataclass

import numpy as np

from . import _core, ndimage
from ._core import Device
from ._devices import open_device
from ._docs import warps
from ._foreign import warpable
from ._images import as_image, device_for
from ._options import documented
from ._results import OnDevice
from ._transform import Transform
from .ndimage._missing import default_for
from .ndimage._planes import displaced_planes

# The record of a window. Positions and shifts are in pixels, rows first.
_SHIFT = np.dtype([
    ("centre_row", np.float64),
    ("centre_column", np.float64),
    ("shift_row", np.float64),
    ("shift_column", np.float64),
    ("uncertainty", np.float64),
    ("correlation", np.float64),
    ("significance", np.float64),
    ("reliable", np.bool_),
    ("outlier", np.bool_),
])
# The order of a record's numbers in the extension module, x first.
_NUMBERS = ("centre_column", "centre_row", "shift_column", "shift_row", "uncertainty",
            "correlation", "significance", "reliable", "outlier")


@dataclass(frozen=True, eq=False, repr=False)
class LocalRegistration(OnDevice):
    """The displacement field between two images.

    It can be pickled and sent to other processes.

    Attributes
    ----------
    field : ndarray, shape (2, rows, columns), or None
        The displacement of each pixel of the reference, in pixels, along rows and columns: the
        content at ``(row, column)`` of the reference is at
        ``(row, column) + field[:, row, column]`` of the moving image. None if no window has a
        reliable shift.
    transform : Transform or None
        The field as a :class:`Transform`: composed, inverted, applied to points, saved.
    field_xy : ndarray, shape (2, rows, columns), or None
        The same along x and y, as ``warpalign register --field`` writes it.
    shifts : ndarray, shape (windows along rows, windows along columns)
        A structured array with a record for each window: its centre (``centre_row``,
        ``centre_column``), its shift (``shift_row``, ``shift_column``), which is the mean motion
        within the window, the ``uncertainty`` of the shift (a standard deviation in pixels),
        ``correlation``, ``significance``, ``reliable``, and ``outlier`` (reliable, but left out
        because it disagrees with its neighbours).
    reliable : bool
        Whether the field uses at least one window in twenty.
    mean : tuple of 2 floats
        The mean displacement along rows and columns, in pixels; NaN without a field.
    spread : float
        The root mean square distance of the displacements from their mean, in pixels.
    rms : float
        The root mean square distance between the shifts that the field uses and the field at the
        centres of their windows, in pixels. If the field is curved, it exceeds 0 even without
        noise, because a shift is the mean motion within its window.
    """

    field: np.ndarray | None
    shifts: np.ndarray
    _device: Device

    @property
    def transform(self):
        return None if self.field is None else Transform.displacement(self.field)

    @property
    def field_xy(self):
        return None if self.field is None else self.field[::-1]

    @property
    def _used(self):
        return self.shifts["reliable"] & ~self.shifts["outlier"]

    @property
    def reliable(self):
        return self.field is not None and 20 * int(self._used.sum()) >= self.shifts.size

    @property
    def mean(self):
        if self.field is None:
            return math.nan, math.nan
        rows, columns = self.field.mean(axis=(1, 2), dtype=np.float64)
        return float(rows), float(columns)

    @property
    def spread(self):
        if self.field is None:
            return math.nan
        return float(np.sqrt(self.field.var(axis=(1, 2), dtype=np.float64).sum()))

    @property
    def rms(self):
        if self.field is None:
            return math.nan
        used = self.shifts[self._used]
        centres = np.stack([used["centre_row"], used["centre_column"]])
        row_errors, column_errors = (
            ndimage.map_coordinates(along, centres, order=1, mode="nearest", device=self._opened())
            - used[name]
            for along, name in zip(self.field, ("shift_row", "shift_column")))
        return float(np.sqrt(np.mean(row_errors**2 + column_errors**2)))

    @warps
    def warp(self, image, *, order=3, mode="constant", cval=0.0, missing=None, nodata=None,
             weights=False, precision="single", antialias=False, labels=False):
        """Warp the moving image, or another image of its shape, to the reference.

        Parameters
        ----------
        image : array_like
            An image of the moving image's shape, optionally followed by further axes such as
            channels, or the path of a file with its axes in any order. A two-dimensional array on
            the registration's device stays there; an array with further axes is copied through the
            host.
        %(warping)s
        %(antialias)s
        %(labels)s

        Returns
        -------
        ndarray
            The warped image, of the image's shape and dtype. An image on a device gives an array of
            the same library.
        weights : ndarray of float32
            With ``weights=True``: the known share of each result's support, from 0 to 1.

        Raises
        ------
        ValueError
            The image has another shape than the moving image or is on another device, or there is
            no field; or all samples are missing, or no sample can have the value `nodata`; or
            `antialias` is True for an order of 0, or on a device that lacks double precision.
        RuntimeError
            ``order``, ``mode`` or a dtype is not supported (SciPy's message).
        warpalign.Error
            The computation failed, or the device of an unpickled result cannot be opened here.
        """
        if self.field is None:
            raise ValueError("there is no field: no window has a reliable shift")
        image, nodata = warpable(image, nodata, missing)
        shape = self.field.shape[1:]
        if tuple(image.shape[:2]) != shape:
            raise ValueError(
                f"image must have the moving image's shape {shape}, not {tuple(image.shape)}")
        positions = np.indices(shape, dtype=np.float64 if precision == "double" else np.float32)
        positions += self.field
        return displaced_planes(
            image, positions, order=order, mode=mode, cval=cval,
            missing=default_for(missing, image, labels), nodata=nodata, weights=weights,
            precision=precision, antialias=antialias, labels=labels, device=self._opened())

    def __repr__(self):
        counts = f"{int(self._used.sum())} of {self.shifts.size} windows used"
        if self.field is None:
            return f"<LocalRegistration: no field; {counts}>"
        warning = "" if self.reliable else ", not reliable"
        return (f"<LocalRegistration: mean displacement {self.mean[0]:.3f}, {self.mean[1]:.3f}; "
                f"spread {self.spread:.3f}; {counts}{warning}>")


def _pair(value, what):
    """Convert one number or two to (rows, columns)."""
    try:
        values = [operator.index(value)] * 2
    except TypeError:
        values = [operator.index(one) for one in value]
    if len(values) != 2:
        raise ValueError(f"{what} must be one number or (rows, columns), not {value!r}")
    return values


def _settings(window, stride, max_shift, smoothness):
    settings = _core.LocalSettings()
    settings.height, settings.width = _pair(window, "window")
    if min(settings.height, settings.width) < 1:
        raise ValueError(f"window must be 16 to 4096 pixels a side, not {window!r}")
    if stride is not None:
        settings.stride_y, settings.stride_x = _pair(stride, "stride")
        if min(settings.stride_y, settings.stride_x) < 1:
            raise ValueError(f"stride must be at least 1 pixel, not {stride!r}")
    if max_shift is not None:
        if not max_shift > 0:
            raise ValueError(f"max_shift must be above 0, not {max_shift!r}")
        settings.max_shift = max_shift
    if not (smoothness > 0 and math.isfinite(smoothness)):
        raise ValueError(f"smoothness must be a number above 0, not {smoothness!r}")
    settings.smoothness = smoothness
    return settings


def _grey(image, what):
    image = as_image(image, what)
    return image if image.dtype in (np.uint8, np.uint16) else image.astype(np.float32, copy=False)


class LocalRegistrar:
    """Finds local motion between one reference and images of its shape.

    A registrar keeps plans, memory and the reference between calls. Calls from several threads wait
    for each other.

    Parameters
    ----------
    %(device)s
    window : int or (int, int), optional
        The side of a window, or its rows and columns, 16 to 4096 pixels. A shift is the mean motion
        within a window: large windows miss motion that varies within them, small windows are less
        certain. The default is 128.
    stride : int or (int, int), optional
        The distance between windows in pixels. The default is half a window.
    max_shift : float, optional
        The largest shift along rows or columns, in pixels. The default, half a window, is the
        largest that can be found.
    smoothness : float, optional
        The weight of the field's curvature relative to the windows' shifts, a factor. The default
        is 2.

    Raises
    ------
    TypeError
        An option has a wrong type.
    ValueError
        The value of an option is invalid.
    warpalign.Error
        The device cannot be opened.

    References
    ----------
    .. [1] J. Westerweel and F. Scarano, "Universal outlier detection for PIV data", Experiments in
       Fluids 39, 2005; P. H. C. Eilers and B. D. Marx, "Flexible smoothing with B-splines and
       penalties", Statistical Science 11, 1996.

    Examples
    --------
    >>> import numpy as np
    >>> import warpalign
    >>> image = warpalign.ndimage.zoom(np.random.default_rng(0).random((48, 64)), 3)
    >>> registrar = warpalign.LocalRegistrar(window=48)
    >>> registrar.set_reference(image)
    >>> found = registrar.align(np.roll(image, 2, axis=1))
    >>> [abs(round(float(shift))) for shift in np.median(found.field, axis=(1, 2))]
    [0, 2]
    """

    def __init__(self, device=None, *, window=128, stride=None, max_shift=None, smoothness=2):
        self._settings = _settings(window, stride, max_shift, smoothness)
        self._device = open_device(device)
        self._lock = threading.Lock()  # guards the members below
        self._reference = None
        self._registrars = {}  # by the dtype of the moving images

    @property
    def device(self):
        """The device that the registrar computes on."""
        return self._device

    @documented
    def set_reference(self, image) -> None:
        """Set the reference image.

        Parameters
        ----------
        image : array_like, shape (rows, columns)
            A single-channel image of any real type, at least as large as a window. The registrar
            copies it. An array on a device is copied to the host.

        %(raises)s
        """
        reference = _grey(image, "the reference")
        height, width = reference.shape
        if height < self._settings.height or width < self._settings.width:
            raise ValueError(
                f"the reference of shape {reference.shape} is smaller than a window of "
                f"{self._settings.height} x {self._settings.width}")
        reference = reference.copy()  # uploaded later; the caller may overwrite it before that
        with self._lock:
            self._registrars = {}
            self._reference = reference

    def _registrar(self, dtype):
        registrar = self._registrars.get(dtype)
        if registrar is None:
            reference = self._reference
            registrar = _core.WindowRegistrar(
                self._device, dtype.name, *reference.shape, self._settings)
            same = reference.dtype == dtype
            registrar.set_reference(reference if same else reference.astype(np.float32))
            self._registrars[dtype] = registrar
        return registrar

    @documented
    def align(self, moving) -> LocalRegistration:
        """Find the displacement field from the reference to an image.

        Parameters
        ----------
        moving : array_like, shape (rows, columns)
            The moving image, of the reference's shape. Its type may differ.

        Returns
        -------
        LocalRegistration
            The displacement field, even if it is not ``reliable``.

        %(raises)s
        """
        image = _grey(moving, "the moving image")
        with self._lock:
            return self._aligned(image)

    def _aligned(self, image):
        if self._reference is None:
            raise ValueError("no reference is set; call set_reference first")
        if image.shape != self._reference.shape:
            raise ValueError(
                f"the moving image must have the reference's shape {self._reference.shape}, not "
                f"{image.shape}")
        registrar = self._registrar(image.dtype)
        numbers = np.empty((registrar.rows, registrar.columns, len(_NUMBERS)))
        field = np.empty((2, *image.shape), np.float32)
        found = registrar.align(image, numbers, field)
        shifts = np.empty(numbers.shape[:2], _SHIFT)
        for i, name in enumerate(_NUMBERS):
            shifts[name] = numbers[..., i]
        return LocalRegistration(field=field[::-1].copy() if found else None, shifts=shifts,
                                 _device=self._device)


documented(LocalRegistrar)


@documented
def register_local(reference, moving, *, window=128, stride=None, max_shift=None, smoothness=2,
                   device=None) -> LocalRegistration:
    """Find a displacement field between two images, for motion that varies within them.

    The function registers overlapping windows, drops those that disagree with their neighbours,
    and fits a smooth displacement field (cubic B-splines) to the shifts of the others, weighted by
    their uncertainty. It then measures the remaining motion within the windows through the field,
    up to three times.

    Parameters
    ----------
    reference, moving : array_like, shape (rows, columns)
        Single-channel images of any real type, of the same shape, at least as large as a window, or
        the paths of their files.
    window : int or (int, int), optional
        The side of a window, or its rows and columns, 16 to 4096 pixels. A shift is the mean motion
        within a window: large windows miss motion that varies within them, small windows are less
        certain. The default is 128.
    stride : int or (int, int), optional
        The distance between windows in pixels. The default is half a window.
    max_shift : float, optional
        The largest shift along rows or columns, in pixels. The default, half a window, is the
        largest that can be found.
    smoothness : float, optional
        The weight of the field's curvature relative to the windows' shifts, a factor. The default
        is 2.
    %(device)s

    Returns
    -------
    LocalRegistration
        The displacement field, even if it is not ``reliable``.

    %(raises)s

    References
    ----------
    .. [1] J. Westerweel and F. Scarano, "Universal outlier detection for PIV data", Experiments in
       Fluids 39, 2005; P. H. C. Eilers and B. D. Marx, "Flexible smoothing with B-splines and
       penalties", Statistical Science 11, 1996.

    Examples
    --------
    >>> import numpy as np
    >>> import warpalign
    >>> image = warpalign.ndimage.zoom(np.random.default_rng(0).random((48, 64)), 3)
    >>> positions = np.indices(image.shape, np.float32)
    >>> positions[1] += np.sin(positions[0] / 40)
    >>> moving = warpalign.ndimage.map_coordinates(image, positions, mode="mirror")
    >>> found = warpalign.register_local(image, moving, window=48)
    >>> found.reliable
    True
    >>> found.warp(moving).shape
    (144, 192)
    """
    registrar = LocalRegistrar(device_for(reference, device), window=window, stride=stride,
                               max_shift=max_shift, smoothness=smoothness)
    registrar.set_reference(reference)
    return registrar.align(moving)
