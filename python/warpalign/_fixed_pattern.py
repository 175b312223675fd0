"""The pattern that is fixed to the sensor, over the frames of a stack."""

import numpy as np

from . import _core
from ._errors import InvalidImageError
from ._options import options_of

# How many frames suffice, and how many bytes of them as float32 are held at once.
_USUAL_FRAMES = 12
_FEWEST_FRAMES = 6
_MAX_BYTES = 128 << 20

ONLY_PATTERN = "shows nothing but a pattern that is fixed to the sensor"


class FixedPattern:
    """What a sensor adds to every frame of a stack.

    Attributes
    ----------
    offsets : ndarray of float32, shape (rows, columns)
        What it adds to each pixel, in the frames' units; 0 where nothing was found.
    rms : float
        The root mean square of the offsets.
    frames : int
        From how many frames it was found.
    scene : bool
        Whether the frames show anything else. If not, there is nothing to register.
    clear : bool
        Whether it is separated from the scene. If the scene moves too little for that, no frame is
        reliable.
    reference_gain : float or None
        If ``to`` is an image, by what factor the pattern was subtracted from it: 1 for an image of
        the same camera with the same settings, 0 for one that does not show it.
    """

    def __init__(self, offsets, rms, frames, scene, clear, reference_gain=None):
        self.offsets = offsets
        self.rms = rms
        self.frames = frames
        self.scene = scene
        self.clear = clear
        self.reference_gain = reference_gain

    def subtracted(self, frame, gain=1):
        """A frame less the offsets, in its own dtype: integers are rounded and saturated."""
        # Not subtract_sensor_pattern() of the library: users may pass any dtype, and many frames at
        # once. Halves become even here, as NumPy rounds, and there they are rounded away from 0.
        offsets = self.offsets if gain == 1 else np.float32(gain) * self.offsets
        cleaned = frame - offsets
        if frame.dtype.kind in "iu":
            limits = np.iinfo(frame.dtype)
            cleaned = np.clip(np.rint(frame - offsets.astype(np.float64)), limits.min, limits.max)
        return cleaned.astype(frame.dtype)

    def subtracted_if_shown(self, image, mask):
        """An image that is no frame, less the offsets as far as it shows them, and by what factor;
        `mask` is 0 where pixels are ignored, or None."""
        gain = _core.sensor_pattern_gain(self.offsets, image, mask)
        return (image if gain == 0 else self.subtracted(image, gain)), gain

    def __repr__(self):
        return f"<FixedPattern: rms {self.rms:.3g}, from {self.frames} frames>"


def checked_choice(fixed_pattern, fast):
    """Whether to look for the pattern. Raises ValueError."""
    if fixed_pattern is None:
        return not fast
    if fixed_pattern not in ("auto", "off"):
        raise ValueError(f"fixed_pattern must be 'auto' or 'off', not {fixed_pattern!r}")
    if fixed_pattern == "auto" and fast:
        raise ValueError("fixed_pattern='auto': fast=True does not support it; omit one of them")
    return fixed_pattern == "auto"


def frames_needed(shape):
    """How many frames of a shape to look at."""
    pixels = shape[0] * shape[1]
    return min(max(_MAX_BYTES // (4 * pixels), _FEWEST_FRAMES), _USUAL_FRAMES)


def pattern_of(frames, device, mask, options):
    """The pattern in a list of frames, or None."""
    try:
        found = _core.find_sensor_pattern(device, frames, options_of(options), mask)
    except InvalidImageError:
        return None
    if found is None:
        return None
    offsets = np.frombuffer(found[0], np.float32).reshape(frames[0].shape)
    return FixedPattern(offsets, *found[1:])


def find_fixed_pattern(frames, device, mask, options):
    """The pattern in some of the frames that are ahead, FramesAhead, or None."""
    return pattern_of(frames.some(frames_needed(frames.shape)), device, mask, options)
