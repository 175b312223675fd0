"""Options of registrations, and their description in docstrings."""

import re
import textwrap
from typing import Literal, TypedDict

from . import _core


class RegistrationOptions(TypedDict, total=False):
    """The options that every registration of images takes by keyword."""

    fast: bool
    refine: bool
    motion: Literal["similarity", "rigid", "rotation", "translation", "affine", "homography",
                    "auto"]
    modality: Literal["same", "other", "auto"]
    search: Literal["fast", "standard", "thorough"]
    min_scale: float
    max_scale: float
    min_angle: float
    max_angle: float
    max_shift: float
    candidates: int
    spectrum: Literal["grey", "gradient"]
    window: Literal["hann", "none"]
    spectrum_exponent: float
    log_polar_sigma: float
    collect_timings: bool
    max_threads: int


_OPTIONS = """\
    **options
        fast : bool, default False
            Use the pipeline of the registration paper [1]_: one peak, no verification and no
            refinement. Options marked (*) must then keep their defaults.
        refine : bool, default True
            Refine to thousandths of a pixel, at full resolution.
        motion : {'similarity', 'rigid', 'rotation', 'translation', 'affine', 'homography', 'auto'}
            What may differ: rotation, scale and translation (the default); rotation and
            translation; rotation about the centres; translation. An affine transform keeps
            parallel lines parallel, a homography lines straight; ``'auto'`` takes these only
            where they explain the pair significantly better than a similarity. Stacks take
            the first four. (*)
        modality : {'same', 'other', 'auto'}
            Whether the same things look alike in both images (the default), but for brightness
            and contrast. ``'other'``: contrast may be reversed or unrelated, as between MRI
            weightings, stains, infrared and visible light, or a map and a photograph; directions
            of edges are compared. ``'auto'``: the second where the first leads to no reliable
            result. (*)
        search : {'fast', 'standard', 'thorough'}
            How much is tried where a pair is difficult: log-polar spectra only; one thing after
            the other, until a result is convincing (the default); everything, on finer grids. (*)
        min_scale, max_scale : float, default 1/8 and 8
            Limits of the scale. (*)
        min_angle, max_angle : float, default -180 and 180
            Limits of the rotation, in degrees. (*)
        max_shift : float, default 0
            The longest translation, in pixels; 0: any. (*)
        candidates : int, default 1
            With 2 to 10, further alignments are searched, and given as ``runners_up``. (*)
        spectrum : {'grey', 'gradient'}
            What rotation and scale are found from: grey levels (the default) or their
            gradient. (*)
        window : {'hann', 'none'}
            The window applied before Fourier transforms. The default is ``'hann'``.
        spectrum_exponent : float, default 0.3
            Power of the spectrum's magnitude.
        log_polar_sigma : float, default 0.3
            Width of the Gaussian weight of the log-polar correlation, in units of the Nyquist
            frequency; 0: no weight.
        collect_timings : bool, default False
            Measure the device time of each stage; slower."""

_REFERENCE = """\
    References
    ----------
    .. [1] B. S. Reddy and B. N. Chatterji, "An FFT-based technique for translation, rotation,
       and scale-invariant image registration", IEEE Transactions on Image Processing 5(8), 1996;
       what is done beyond it is described in the documentation, "How a registration works"."""

_DEVICE = """\
    device : Device or str, optional
        Where to compute; see :func:`warpalign.open_device`."""

_RAISES = """\
    Raises
    ------
    TypeError
        An option is not known, or the pixels are no real numbers.
    ValueError
        A shape or an option's value is wrong (:class:`InvalidArgumentError` where the library
        found it), or the pixels cannot be used: constant, NaN (:class:`InvalidImageError`).
    warpalign.Error
        The device cannot do it."""

_MASK_ON_DEVICE = """\
    NotImplementedError
        A mask was given for an image or a volume on a device."""


def _described():
    """The options' documentation: what stands above, and the library's sentence for others."""
    parts = [_OPTIONS]
    for option in _core.registration_options():
        name = option["name"]
        if re.search(rf"^        (\w+, )*{name}\b.*:", _OPTIONS, re.MULTILINE):
            continue
        kind = type(option["default"]).__name__
        text = textwrap.fill(option["help"] + ".", 88, initial_indent=" " * 12,
                             subsequent_indent=" " * 12)
        parts.append(f"        {name} : {kind}, default {option['default']!r}\n{text}")
    return "\n".join(parts)


def documented(function, **more):
    """Fill in the parts that docstrings share: those of all registrations, and `more`."""
    if function.__doc__ is not None:  # python -OO has none
        function.__doc__ = re.sub(
            r"( *)%\((\w+)\)s", lambda place: _part(place, more), function.__doc__)
    return function


def _part(place, more):
    parts = {"options": _described(), "reference": _REFERENCE, "device": _DEVICE, "raises": _RAISES,
             "mask_on_device": _MASK_ON_DEVICE, **more}
    return textwrap.indent(textwrap.dedent(parts[place[2]]), place[1])


def options_of(given):
    """The library's options. Raises TypeError for one that is not known, or of a wrong type."""
    options = _core.RegistrationOptions()
    for name, value in given.items():
        if name not in RegistrationOptions.__annotations__:
            raise TypeError(f"there is no option {name!r} of registrations")
        try:
            setattr(options, name, value)
        except TypeError:
            raise TypeError(f"the option {name!r} cannot be {value!r}") from None
    return options
