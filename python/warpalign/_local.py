"""Registration where motion differs within the image."""

import math
import operator
import threading
from dataclasses import dataclass

import numpy as np

from . import _core, ndimage
from ._core import Device
from ._devices import open_device
from ._foreign import as_array, to_numpy
from ._images import as_image, device_for
from ._options import documented
from ._results import OnDevice
from .ndimage._planes import displaced_planes

# A window's line. Places and shifts are those of pixels, rows first.
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
# The order of a line's numbers in the extension module, x first.
_NUMBERS = ("centre_column", "centre_row", "shift_column", "shift_row", "uncertainty",
            "correlation", "significance", "reliable", "outlier")


@dataclass(frozen=True, eq=False, repr=False)
class LocalRegistration(OnDevice):
    """How the content of an image has moved, everywhere.

    It can be pickled, and sent to other processes.

    Attributes
    ----------
    field : ndarray, shape (2, rows, columns), or None
        The displacement at each pixel of the reference, in pixels, along rows and along columns:
        the moving image shows at ``(row, column) + field[:, row, column]`` what the reference
        shows at ``(row, column)``. None where no window has a reliable shift.
    field_xy : ndarray, shape (2, rows, columns), or None
        The same along x and along y, as ``warpalign register --field`` writes it.
    shifts : ndarray, shape (windows along rows, windows along columns)
        A structured array with the window's centre (``centre_row``, ``centre_column``), its
        ``shift_row`` and ``shift_column``, the ``uncertainty`` of these (a standard deviation in
        pixels), ``correlation``, ``significance``, ``reliable``, and ``outlier``: reliable, but
        left out since it does not agree with those around it. A shift is the mean motion of its
        window.
    reliable : bool
        Whether at least one window of twenty counts for the field.
    mean : tuple of 2 floats
        The mean displacement along rows and columns, in pixels; NaN without a field.
    spread : float
        The root mean square distance of the displacements from their mean, in pixels.
    rms : float
        The root mean square distance of the shifts that count from the field at the windows'
        centres, in pixels. Where the field is bent it is not 0 without noise either, since a shift
        is the mean motion of its window.
    """

    field: np.ndarray | None
    shifts: np.ndarray
    _device: Device

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
        places = np.stack([used["centre_row"], used["centre_column"]])
        off_rows, off_columns = (
            ndimage.map_coordinates(along, places, order=1, mode="nearest", device=self._opened())
            - used[name]
            for along, name in zip(self.field, ("shift_row", "shift_column")))
        return float(np.sqrt(np.mean(off_rows**2 + off_columns**2)))

    def warp(self, image, *, order=3, mode="constant", cval=0.0):
        """Bring the moving image, or another of its shape, onto the reference.

        Parameters
        ----------
        image : array_like
            Of the moving image's shape, with further axes (such as channels) after these two.
            Arrays on the registration's device stay there, but for those with further axes, which
            go by way of the host.
        order : int, optional
            The order of the spline, 0 to 5. The default is 3.
        mode : str, optional
            What lies beyond the edges, as :func:`warpalign.ndimage.map_coordinates` takes it.
            The default is ``'constant'``.
        cval : scalar, optional
            The value beyond the edges for ``'constant'`` and ``'grid-constant'``. The default
            is 0.

        Returns
        -------
        ndarray
            Of the image's shape and dtype; of the library of an image on a device.

        Raises
        ------
        ValueError
            The image has another shape or is on another device, or there is no field.
        RuntimeError
            ``order``, ``mode`` or a dtype is not supported (SciPy's message).
        warpalign.Error
            The device cannot do it, or cannot be opened where the result was unpickled.
        """
        if self.field is None:
            raise ValueError("there is no field: no window has a reliable shift")
        image = as_array(image)
        shape = self.field.shape[1:]
        if tuple(image.shape[:2]) != shape:
            raise ValueError(
                f"image must have the moving image's shape {shape}, not {tuple(image.shape)}")
        places = np.indices(shape, dtype=np.float32) + self.field
        return displaced_planes(
            image, places, order=order, mode=mode, cval=cval, device=self._opened())

    def __repr__(self):
        counts = f"{int(self._used.sum())} of {self.shifts.size} windows count"
        if self.field is None:
            return f"<LocalRegistration: no field; {counts}>"
        doubt = "" if self.reliable else ", not reliable"
        return (f"<LocalRegistration: mean displacement {self.mean[0]:.3f}, {self.mean[1]:.3f}; "
                f"spread {self.spread:.3f}; {counts}{doubt}>")


def _pair(value, what):
    """(rows, columns) of one number or two."""
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
    image = as_image(to_numpy(image), what)
    return image if image.dtype in (np.uint8, np.uint16) else image.astype(np.float32, copy=False)


class LocalRegistrar:
    """Finds local motion between one reference and images of its shape.

    Keeps plans, memory and the reference between calls. Calls of several threads wait for each
    other.

    Parameters
    ----------
    %(device)s
    window : int or (int, int), optional
        Side of a window, 16 to 4096 pixels, or rows and columns. Motion that changes to and fro
        within a window is averaged; smaller windows are less certain. The default is 128.
    stride : int or (int, int), optional
        Pixels from one window to the next. The default is half a window.
    max_shift : float, optional
        The largest shift along rows or columns, in pixels; the default, half a window, is the most
        that can be found.
    smoothness : float, optional
        Factor by which the field's curvature counts against the windows' shifts. The default is 2.

    Raises
    ------
    TypeError
        An option is of a wrong type.
    ValueError
        An option's value is wrong.
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
        self._lock = threading.Lock()  # on what follows
        self._reference = None
        self._registrars = {}  # by the type of the images

    @property
    def device(self):
        """The device that registers."""
        return self._device

    @documented
    def set_reference(self, image) -> None:
        """Set the reference.

        Parameters
        ----------
        image : array_like, shape (rows, columns)
            Grey levels of any real type, with sides of at least a window. They are copied; arrays
            on a device are brought to the host.

        %(raises)s
        """
        reference = _grey(image, "the reference")
        height, width = reference.shape
        if height < self._settings.height or width < self._settings.width:
            raise ValueError(
                f"the reference of shape {reference.shape} is smaller than a window of "
                f"{self._settings.height} x {self._settings.width}")
        reference = reference.copy()  # it is uploaded later, when the caller may have refilled it
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
        """Find where the reference's pixels are in an image.

        Parameters
        ----------
        moving : array_like, shape (rows, columns)
            Of the reference's shape; its type may differ.

        Returns
        -------
        LocalRegistration
            Also where it is not ``reliable``.

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
    """Find motion between two images that differs within them.

    Overlapping windows are registered all at once, those that do not agree with their neighbours
    are left out, and a smooth displacement field (cubic B-splines) is fitted to the others by
    their uncertainty. What motion is left within the windows is then measured again through the
    field, up to three times.

    Parameters
    ----------
    reference, moving : array_like, shape (rows, columns)
        Grey levels of any real type, of one shape, with sides of at least a window.
    window : int or (int, int), optional
        Side of a window, 16 to 4096 pixels, or rows and columns. Motion that changes to and fro
        within a window is averaged; smaller windows are less certain. The default is 128.
    stride : int or (int, int), optional
        Pixels from one window to the next. The default is half a window.
    max_shift : float, optional
        The largest shift along rows or columns, in pixels; the default, half a window, is the most
        that can be found.
    smoothness : float, optional
        Factor by which the field's curvature counts against the windows' shifts. The default is 2.
    %(device)s

    Returns
    -------
    LocalRegistration
        Also where it is not ``reliable``.

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
    >>> bent = np.indices(image.shape, np.float32)
    >>> bent[1] += np.sin(bent[0] / 40)
    >>> moving = warpalign.ndimage.map_coordinates(image, bent, mode="mirror")
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
