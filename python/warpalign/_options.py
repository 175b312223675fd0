"""The options of image registration and their description in docstrings."""

import re
import textwrap
from typing import Literal, TypedDict

import numpy as np

from . import _core
from ._docs import filled
from ._initial import INITIAL, INITIAL_OF_FRAMES, INITIAL_OF_PAIRS


class RegistrationOptions(TypedDict, total=False):
    """The keyword options of all functions that register images."""

    fast: bool
    refine: bool
    motion: Literal["similarity", "rigid", "rotation", "translation", "affine", "homography",
                    "auto", "deformable"]
    modality: Literal["same", "other", "auto"]
    search: Literal["fast", "standard", "thorough"]
    min_scale: float
    max_scale: float
    min_angle: float
    max_angle: float
    max_shift: float | tuple[float, float]
    candidates: int
    spectrum: Literal["grey", "gradient"]
    window: Literal["hann", "none"]
    spectrum_exponent: float
    log_polar_sigma: float
    collect_timings: bool
    max_threads: int
    grid_spacing: float
    bending_weight: float


# The limits along y and x, which a pair of numbers for max_shift sets.
MAX_SHIFT_ALONG = ("max_shift_y", "max_shift_x")

_OPTIONS = """\
    **options
        fast : bool, default False
            Use the Fourier-Mellin pipeline of [1]_: one correlation peak, without verification or
            refinement. Options marked (*) must then keep their defaults.
        refine : bool, default True
            Refine the result at full resolution, to thousandths of a pixel.
        motion : str
            The transform to find: ``'similarity'``, ``'rigid'``, ``'rotation'``,
            ``'translation'``, ``'affine'``, ``'homography'``, ``'auto'`` or ``'deformable'``. ``'similarity'`` (the default): rotation, scale and translation.
            ``'rigid'``: rotation and translation. ``'rotation'``: rotation about the centres.
            ``'translation'``: translation only. ``'affine'``: parallel lines stay parallel.
            ``'homography'``: straight lines stay straight. ``'auto'``: a similarity, unless an
            affine transform or a homography fits significantly better. ``'deformable'``: an affine
            transform, then a smooth deformation. With ``initial`` and ``modality='same'``, the
            affine transform is that one, and the deformation is judged by the correlation that it
            reaches. Stacks take the first four and ``'deformable'``. (*)
        modality : {'same', 'other', 'auto'}
            How the images are compared. ``'same'`` (the default): by intensities; brightness and
            contrast may differ. ``'other'``: by gradient orientations; contrast may be reversed or
            unrelated, as between MRI weightings, stains, infrared and visible light, or a map and
            a photograph. ``'auto'``: by intensities and, if that gives no reliable result, by
            gradient orientations. (*)
        search : {'fast', 'standard', 'thorough'}
            The effort for difficult pairs. ``'fast'``: log-polar spectra only. ``'standard'`` (the
            default): one proposer after the other, until a result is conclusive. ``'thorough'``:
            all proposers, on finer grids. (*)
        min_scale, max_scale : float, default 1/8 and 8
            Limits of the scale. (*)
        min_angle, max_angle : float, default -180 and 180
            Limits of the rotation, in degrees. (*)
        max_shift : float or (float, float), default 0
            The largest length of the translation, or its largest extents along rows and columns, in
            pixels; 0: no limit. (*)
        candidates : int, default 1
            The number of alignments to return, 1 to 10. From 2 on, the search also looks for the
            next best alignments and returns them as ``runners_up``. (*)
        spectrum : {'grey', 'gradient'}
            The signal whose log-polar spectra give rotation and scale: intensities (``'grey'``, the
            default) or the gradient magnitude. (*)
        window : {'hann', 'none'}
            The window function applied before Fourier transforms. The default is ``'hann'``.
        spectrum_exponent : float, default 0.3
            The power to which the magnitude of the spectrum is raised.
        log_polar_sigma : float, default 0.3
            The standard deviation of the Gaussian weight of the log-polar correlation, in units of
            the Nyquist frequency; 0: no weight.
        collect_timings : bool, default False
            Measure the device time of each stage. Registration is slower then."""

_REFERENCE = """\
    References
    ----------
    .. [1] B. S. Reddy and B. N. Chatterji, "An FFT-based technique for translation, rotation,
       and scale-invariant image registration", IEEE Transactions on Image Processing 5(8), 1996.
       The documentation's page "How a registration works" describes the other steps."""

_DEVICE = """\
    device : Device or str, optional
        The device to compute on; see :func:`warpalign.open_device`."""

_RAISES = """\
    Raises
    ------
    TypeError
        An option is unknown, or the pixels are not real numbers.
    ValueError
        A shape or the value of an option is invalid (:class:`InvalidArgumentError` if the library
        detects it), or the pixels are constant or all missing (:class:`InvalidImageError`).
    warpalign.Error
        The computation failed; for example, the device has too little memory."""

_NODATA = """\
    nodata : scalar, optional
        A value that stands for a missing pixel or voxel. Such samples are ignored, as NaN and
        infinities always are."""


def _described():
    """The description of all options: _OPTIONS, and the library's help text for any others."""
    parts = [_OPTIONS]
    for option in _core.registration_options():
        name = option["name"]
        documented = re.search(rf"^        (\w+, )*{name}\b.*:", _OPTIONS, re.MULTILINE)
        if documented or name in MAX_SHIFT_ALONG:
            continue
        kind = type(option["default"]).__name__
        text = textwrap.fill(option["help"] + ".", 88, initial_indent=" " * 12,
                             subsequent_indent=" " * 12)
        parts.append(f"        {name} : {kind}, default {option['default']!r}\n{text}")
    return "\n".join(parts)


def documented(function, **more):
    """Fill in the parts of a docstring that registration functions share, and those of `more`."""
    return filled(function, {
        "options": _described(), "reference": _REFERENCE, "device": _DEVICE, "raises": _RAISES,
        "nodata": _NODATA, "initial": INITIAL, "initial_of_pairs": INITIAL_OF_PAIRS,
        "initial_of_frames": INITIAL_OF_FRAMES, **more})


def _members(name, value):
    """The members of the library's options that an option sets, with their values."""
    if name != "max_shift" or np.ndim(value) == 0:
        return [(name, value)]
    if np.shape(value) != (2,):
        raise ValueError(
            f"max_shift must be a number, or two for rows and columns, not {value!r}")
    return [(member, float(number))
            for member, number in zip(MAX_SHIFT_ALONG, value, strict=True)]


def options_of(given):
    """The library's options. Raises TypeError for an unknown option or a value of a wrong type."""
    options = _core.RegistrationOptions()
    for name, value in given.items():
        if name not in RegistrationOptions.__annotations__:
            raise TypeError(
                f"there is no option {name!r} (choose from: "
                f"{', '.join(RegistrationOptions.__annotations__)})")
        try:
            for member, number in _members(name, value):
                setattr(options, member, number)
        except TypeError:
            raise TypeError(f"invalid value {value!r} for the option {name!r}") from None
    return options
