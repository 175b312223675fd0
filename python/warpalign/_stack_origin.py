"""The image to which the frames of a stack are registered: a frame of it, or another image."""

import operator
import os

import numpy as np

from ._errors import InvalidImageError
from ._frames import iterate_frames, rows_of_chunks
from ._images import as_image
from ._nodata import with_nan

# The most frames in memory when frames are registered together, or read ahead to find the first
# usable one: enough to keep a GPU busy.
MAX_FRAMES = 32
MAX_BYTES = 64 << 20
# How many of the next frames are registered to a frame other than the first one, and how many of
# the sharpest frames are tried for to='auto'.
_FRAMES_TO_TRY = 3
_SHARPEST_TO_TRY = 8

FIRST_USABLE = "the first usable frame"
UNCONFIRMED = ("the first frame that is not constant; none of the next frames registers to "
               "another")
SHARPEST = "the sharpest, most textured frame"
NAMED = "named by to"
NONE = "no frame is usable"


class FramesAhead:
    """The frames of a stack in order, some of which are read before their turn.

    Iteration yields images, and the InvalidImageError of each frame that `mark` was called for.
    """

    def __init__(self, frames, nodata=None):
        self._frames = frames
        self._nodata = nodata
        self._remaining = iterate_frames(frames)
        self._ahead = []
        self._pattern = None
        try:
            self.given = next(self._remaining)
        except StopIteration:
            raise ValueError("there are no frames") from None
        first = with_nan(as_image(self.given, "frame 0"), nodata, "frame 0")
        self.shape = first.shape
        self.nbytes = first.nbytes
        self._ahead.append(first.copy())  # the caller may write the next frame to the same memory

    @property
    def limit(self):
        """How many frames with usable pixels may be read ahead."""
        return min(max(MAX_BYTES // self.nbytes, 4), MAX_FRAMES)

    def peek(self, number):
        """Frame `number` before any frame was yielded, or None after the last one."""
        while len(self._ahead) <= number:
            frame = self._read(len(self._ahead))
            if frame is None:
                return None
            self._ahead.append(frame.copy())
            del frame  # do not keep a frame while the caller makes the next one
        return self._ahead[number]

    def some(self, count):
        """Up to `count` frames, spread over a list or an array without chunks, or else the first
        ones: a chunk would be read again for each of its frames. Before any frame was yielded."""
        frames = self._frames
        is_array = getattr(frames, "ndim", None) == 3 and rows_of_chunks(frames) is None
        if not (is_array or isinstance(frames, (list, tuple))):
            peeked = [self.peek(number) for number in range(min(count, self.limit))]
            return [frame for frame in peeked if frame is not None]
        total = frames.shape[0] if is_array else len(frames)
        step = max(total // count, 1)
        numbers = range(0, min(step * count, total), step)
        return [np.ascontiguousarray(self._checked(frames[number], number)) for number in numbers]

    def leave_out(self, pattern):
        """Subtract a FixedPattern from all frames. Before any frame was yielded."""
        self._ahead = [pattern.subtracted(frame) for frame in self._ahead]
        self._pattern = pattern

    def mark(self, number, error):
        """Replace the pixels of a frame, which cannot be used, by the reason."""
        self._ahead[number] = error.with_traceback(None)

    def again(self, what):
        """Iterate over all frames a second time. Raises ValueError for an iterator."""
        if iter(self._frames) is self._frames:
            raise ValueError(f"{what}: the frames must be read twice, but an iterator can be read "
                             "only once; pass an array or a list, or choose one of the first "
                             f"{self.limit} frames")
        for number, frame in enumerate(iterate_frames(self._frames)):
            yield self._checked(frame, number)

    def _read(self, number):
        frame = next(self._remaining, None)
        return None if frame is None else self._checked(frame, number)

    def _checked(self, frame, number):
        frame = as_image(frame, f"frame {number}")
        if frame.shape != self.shape:
            raise ValueError(f"frame {number} has the shape {frame.shape}, but the first frame has "
                             f"{self.shape}")
        frame = with_nan(frame, self._nodata, f"frame {number}")
        return frame if self._pattern is None else self._pattern.subtracted(frame)

    def __iter__(self):
        number = 0
        while self._ahead:
            yield self._ahead.pop(0)
            number += 1
        while True:
            frame = [self._read(number)]
            if frame[0] is None:
                return
            yield frame.pop()  # keeps no reference
            number += 1


def _find_first_usable(frames, follower):
    """Set the follower's origin to the first frame with usable pixels to which one of the next
    frames registers reliably. Returns its number and why it was chosen."""
    fallback = None
    tried = 0
    number = 0
    while tried < frames.limit and (frame := frames.peek(number)) is not None:
        try:
            follower.set_origin(frame, number)
        except InvalidImageError as error:
            frames.mark(number, error)
        else:
            count = frames.limit - 1 if fallback is None else _FRAMES_TO_TRY
            if _another_registers(frames, follower, number, count):
                return number, FIRST_USABLE
            fallback = number if fallback is None else fallback
            tried += 1
        number += 1
    if fallback is None:
        return None, NONE
    follower.set_origin(frames.peek(fallback), fallback)
    return fallback, UNCONFIRMED


def _another_registers(frames, follower, origin, count):
    """Whether one of the next `count` usable frames registers to frame `origin`. Tries the next
    frame first, which suffices in most stacks, and then as many together as is fast."""
    at_once = 1
    number = origin + 1
    while count > 0:
        some = []
        while len(some) < min(at_once, count) and (frame := frames.peek(number)) is not None:
            some.append((number, frame))
            number += 1
        if not some:
            return False
        trials = follower.try_frames(some)
        if True in trials:
            return True
        count -= trials.count(False)
        at_once = follower.frames_at_once
    return False


# Filters of five samples: (1, 2, 1) / 4, its convolution with (1, 0, -1) / 2, and the second
# difference.
_SMOOTH = (0, 0.25, 0.5, 0.25, 0)
_SLOPE = (-0.125, -0.25, 0, 0.25, 0.125)
_SECOND = (0, 1, -2, 1, 0)


def _filtered(image, along, axis):
    length = image.shape[axis] - 4
    parts = [weight * image[(slice(None),) * axis + (slice(start, start + length),)]
             for start, weight in enumerate(along) if weight]
    return sum(parts[1:], parts[0])


def texture_of(image, mask):
    """The mean square gradient of the smoothed image, less what white noise contributes.

    About 0 for noise, 0 for a constant image, and -1 for one with NaN or infinities. The noise is
    estimated from second differences [Immerkaer 1996].
    """
    image = np.asarray(image, np.float64)
    slopes = (_filtered(_filtered(image, _SLOPE, 1), _SMOOTH, 0),
              _filtered(_filtered(image, _SMOOTH, 1), _SLOPE, 0))
    squares = slopes[0]**2 + slopes[1]**2
    differences = np.abs(_filtered(_filtered(image, _SECOND, 1), _SECOND, 0))
    if mask is not None:
        used = np.lib.stride_tricks.sliding_window_view(mask != 0, (5, 5)).all(axis=(2, 3))
        squares, differences = squares[used], differences[used]
    mean = squares.mean() if squares.size else np.nan
    if not np.isfinite(mean):
        return -1.0
    # The standard deviation of the second difference of white noise is 6, and the median magnitude
    # of normal values 0.6745. The variance of both slopes together is 2 (10 / 64) (6 / 16). Noise
    # is overrated by a quarter, so that its accidental structure does not count.
    noise = np.median(differences) / (6 * 0.6745)
    return max(0.0, mean - 1.25 * 2 * (10 / 64) * (6 / 16) * noise**2)


def _find_sharpest(frames, follower, mask):
    textures = [texture_of(frame, mask) for frame in frames.again("to='auto'")]
    order = sorted((n for n, texture in enumerate(textures) if texture > 0),
                   key=lambda n: -textures[n])[:_SHARPEST_TO_TRY]
    wanted = {n + step for n in order for step in (-1, 0, 1)}
    kept = {n: frame.copy() for n, frame in enumerate(frames.again("to='auto'")) if n in wanted}
    for number in order:
        try:
            follower.set_origin(kept[number], number)
        except InvalidImageError:
            continue
        if True in follower.try_frames([(n, kept[n]) for n in (number - 1, number + 1)
                                        if n in kept]):
            return number, SHARPEST
    return _find_first_usable(frames, follower)


def number_of(to):
    """The number of a frame, or None if `to` is an image."""
    if getattr(to, "ndim", 0) > 0 or isinstance(to, (bool, list, tuple)):
        return None
    try:
        return operator.index(to)
    except TypeError:
        return None


def _frame_named(frames, number):
    """Frame `number`. Raises ValueError if the stack ends before it."""
    if number < 0:
        raise ValueError(f"to={number}: the number of a frame is 0 or more")
    count = 0
    if number < frames.limit:
        frame = frames.peek(number)
        if frame is not None:
            return frame
        while frames.peek(count) is not None:
            count += 1
    else:
        for count, frame in enumerate(frames.again(f"to={number}")):
            if count == number:
                return frame
        count += 1
    raise ValueError(f"to={number}: the stack has {count} frames; choose 0 to {count - 1}")


def checked_reference(to, frames):
    """What `to` names: 'first', 'previous', 'mean' or 'auto'; (number, image) for a frame; or
    (None, image). Raises ValueError or TypeError, before anything is registered."""
    if isinstance(to, str) and not os.path.exists(to):
        if to not in ("first", "previous", "mean", "auto"):
            raise ValueError("to must be 'first', 'previous', 'mean', 'auto', the number of a "
                             f"frame, an image or its file, not {to!r}")
        if to == "auto":
            next(frames.again("to='auto'"))  # raises for an iterator
        return to
    number = number_of(to)
    if number is not None:
        return number, _frame_named(frames, number)
    image = as_image(to, "the reference")
    if image.shape != frames.shape:
        raise ValueError(f"the reference has the shape {image.shape}, but the frames have "
                         f"{frames.shape}")
    return None, image


def set_origin(to, frames, follower, mask):
    """Set the follower's origin. `to`: from checked_reference(). Returns the number of the frame,
    or None, and why it was chosen. Raises InvalidImageError if the pixels of the frame or image
    that `to` names cannot be used."""
    if isinstance(to, tuple):
        follower.set_origin(to[1], to[0])
        return to[0], NAMED
    if to == "auto":
        return _find_sharpest(frames, follower, mask)
    return _find_first_usable(frames, follower)
