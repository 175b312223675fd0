"""Registers the frames of a Dask array."""

import os

import dask
import numpy as np

from .._devices import open_device
from .._errors import InvalidImageError
from .._files._open import is_file
from .._fixed_pattern import ONLY_PATTERN, checked_choice, frames_needed, pattern_of
from .._images import as_image, as_mask
from .._options import documented, options_of
from .._stack import _DRIFT, _Follower, _first, _line_of, _unusable, check_motion
from .._stack_origin import number_of
from ._blocks import (
    Part, array_of_tasks, as_dask, bound, component_of, delayed_task, device_name, frames_as_dask,
    put_together)
from ._missing import divided
from ._transforms import checked_rule

# A row of the drift table: that of warpalign.register_stack, the frame's matrix and its error.
_TABLE = np.dtype([*_DRIFT.descr, ("matrix", np.float64, (3, 3)), ("error", "U160")])


def _line(number, alignment, reliable, ambiguous=False, error=""):
    return (*_line_of(number, alignment, reliable, ambiguous), alignment.matrix, error[:160])


def _pattern(blocks, slices, mask, options, device):
    """The pattern that is fixed to the sensor in some frames, or None."""
    frames = put_together(blocks, slices)
    images = [as_image(frame, f"frame {i}") for i, frame in enumerate(frames)]
    return pattern_of(images, open_device(device), mask, options)


def _registered(frames, reference, pattern, start, first, mask, options, device):
    """Register the frames of one chunk. Return their rows of the drift table, and the transform of
    each, or None for one that could not be used."""
    table, transforms = np.zeros(len(frames), _TABLE), np.full(len(frames), None)
    if pattern is not None and not pattern.scene:
        for i in range(len(frames)):
            table[i] = _line(start + i, _unusable(), False,
                             error=f"frame {start + i}: {ONLY_PATTERN}")
        return table, transforms
    reference = as_image(reference, "the reference")
    if pattern is not None:
        reference = (pattern.subtracted(reference) if first >= 0
                     else pattern.subtracted_if_shown(reference, mask)[0])
    is_clear = pattern is None or pattern.clear
    follower = _Follower(reference.shape, reference.nbytes, mask, None, open_device(device),
                         options, in_order=False)
    follower.set_origin(reference, None)
    if start <= first < start + len(frames):
        table[first - start] = _line(first, _first(), True)
        transforms[first - start] = _first().transform
    others = [i for i in range(len(frames)) if start + i != first]
    for begin in range(0, len(others), follower.frames_at_once):
        some = others[begin:begin + follower.frames_at_once]
        images = [as_image(frames[i], f"frame {start + i}") for i in some]
        if pattern is not None:
            images = [pattern.subtracted(image) for image in images]
        aligned = follower.align(some, images)
        for i, found in zip(some, aligned):
            if isinstance(found, InvalidImageError):
                table[i] = _line(start + i, _unusable(), False, error=str(found))
            else:
                alignment, registration = found
                table[i] = _line(start + i, alignment, registration.reliable and is_clear,
                                 registration.ambiguous)
                transforms[i] = (registration.deformation or alignment).transform
    return table, transforms


def _aligned(frames, lines, transforms, shape, fill, options):
    """Warp the frames of one chunk to the reference's grid. Returns them and their weights."""
    aligned = np.full((len(frames), *shape), fill, frames.dtype)
    shares = np.zeros(aligned.shape if options["weights"] else 0, np.float32)
    for i, (frame, line, transform) in enumerate(zip(frames, lines, transforms)):
        if line["reliable"]:
            found = transform.warp(frame, output_shape=shape, output=aligned[i], **options)
            if options["weights"]:
                shares[i] = found[1]
    return aligned, shares


class StackDrift:
    """The transforms of the frames of a Dask array relative to the reference, computed lazily.

    Attributes
    ----------
    drift : dask.array.Array of shape (frames,)
        A structured array with a row for each frame. Its fields are those of
        :attr:`warpalign.StackRegistration.drift`; ``matrix``, which maps pixels of the reference,
        (row, column, 1), to pixels of the frame (NaN if the frame could not be used); and
        ``error``, the reason why a frame could not be used.
    transforms : dask.array.Array of shape (frames,)
        For each frame, the :class:`warpalign.Transform` from the reference, or None if the frame
        could not be used. With ``motion='deformable'``, those of reliable frames include the
        deformation, by default 0.6 bytes for each pixel; ``drift`` describes the affine transform
        before it.
    fixed_pattern : dask.delayed.Delayed or None
        The pattern that is fixed to the sensor and was left out of the registration: its
        ``compute()`` returns ``offsets``, ``rms``, ``frames``, ``scene`` and ``clear`` as
        :attr:`warpalign.StackRegistration.fixed_pattern` does, or None if there is no pattern. None
        with ``fixed_pattern='off'``. :meth:`warp` takes the frames as they are.
    """

    def __init__(self, drift, transforms, shape, device, fixed_pattern=None):
        self.drift = drift
        self.transforms = transforms
        self.fixed_pattern = fixed_pattern
        self._shape = shape
        self._device = device

    def warp(self, frames, *, order=3, mode="constant", cval=0.0, fill=0, missing="ignore",
             nodata=None, weights=False):
        """Warp frames to the reference, one task for each chunk.

        Parameters
        ----------
        frames : dask.array.Array or array_like, shape (frames, rows, columns)
            The frames that were registered, or as many others of their shape in the same order.
        order : int, optional
            The order of the spline, 0 to 5. The default is 3.
        mode : str, optional
            How to extend a frame beyond its edges, as in
            :func:`warpalign.ndimage.affine_transform`. The default is ``'constant'``.
        cval : scalar, optional
            The value beyond the edges for ``'constant'`` and ``'grid-constant'``. The default is 0.
        fill : scalar, optional
            The value of all pixels of the frames that are not reliable. The default is 0.
        missing : {'ignore', 'spread'}, optional
            What missing pixels do; see :func:`warpalign.ndimage.affine_transform`. The default is
            ``'ignore'``: the result is missing where too little of the frame is known.
        nodata : scalar, optional
            With ``missing='ignore'``: a value that stands for a missing pixel, in the frames and in
            the result. The default is NaN.
        weights : bool, optional
            With ``missing='ignore'``: whether to also return how much of each result's support is
            known. The default is False.

        Returns
        -------
        dask.array.Array
            The frames on the reference's grid, in chunks of whole frames.
        weights : dask.array.Array of float32
            With ``weights=True``: the known share of each result's support, from 0 to 1; 0 in
            frames that are not reliable.

        Raises
        ------
        ValueError
            The number of frames or their shape differs from that of the registered frames; or no
            pixel can have the value `nodata`, or the options for missing pixels contradict each
            other. When the result is computed: all pixels of a reliable frame are missing.

        Examples
        --------
        >>> import dask.array
        >>> import numpy as np
        >>> import warpalign.dask
        >>> image = np.random.default_rng(0).random((96, 128)).cumsum(0).cumsum(1) % 50
        >>> frames = dask.array.stack([np.roll(image, 2 * i, axis=1) for i in range(3)])
        >>> stack = warpalign.dask.register_stack(frames, motion="translation")
        >>> stack.warp(frames).compute().shape
        (3, 96, 128)
        """
        array = frames_as_dask(frames)
        if array.ndim != 3 or array.shape[0] != self.drift.shape[0]:
            raise ValueError(
                f"{self.drift.shape[0]} frames were registered, but frames has the shape "
                f"{array.shape}")
        if array.shape[1:] != self._shape:
            raise ValueError(
                f"frames of the shape {self._shape} were registered, but these have the shape "
                f"{array.shape[1:]}")
        array = array.rechunk({0: self.drift.chunks[0], 1: -1, 2: -1})
        checked_rule(missing, nodata, weights, array, array.dtype, order, True)
        options = {"order": order, "mode": mode, "cval": cval, "missing": missing, "nodata": nodata,
                   "weights": bool(weights), "device": self._device}

        def task(number, _region):
            return (bound(_aligned, shape=self._shape, fill=fill, options=options),
                    (array.name, *number), (self.drift.name, number[0]),
                    (self.transforms.name, number[0]))

        chunks = (array.chunks[0], (self._shape[0],), (self._shape[1],))
        pairs = array_of_tasks("aligned", task, chunks, array.dtype,
                               [array, self.drift, self.transforms], (fill, tuple(options.items())))
        return divided(pairs, weights)

    def persist(self, **keywords):
        """Register the frames now, and keep the drift table and the transforms in memory.

        They and the pattern of the sensor are small; frames are not kept. Without this call, each
        computation of :attr:`drift`, of :attr:`transforms` or of the result of :meth:`warp`
        registers the frames again.

        Parameters
        ----------
        **keywords
            Arguments of ``dask.persist``, such as ``scheduler``.

        Returns
        -------
        StackDrift
            A copy with a computed drift table and computed transforms. With ``distributed``, the
            workers may still be computing them.

        Raises
        ------
        TypeError
            The pixels are not real numbers.
        ValueError
            The frames are too small.
        warpalign.Error
            The computation failed.

        Examples
        --------
        >>> import dask.array
        >>> import numpy as np
        >>> import warpalign.dask
        >>> image = np.random.default_rng(0).random((96, 128)).cumsum(0).cumsum(1) % 50
        >>> frames = dask.array.stack([np.roll(image, 2 * i, axis=1) for i in range(3)])
        >>> stack = warpalign.dask.register_stack(frames, motion="translation").persist()
        >>> int(stack.drift.compute()["reliable"].sum()), stack.warp(frames).compute().shape
        (3, (3, 96, 128))
        """
        drift, transforms, pattern = dask.persist(self.drift, self.transforms, self.fixed_pattern,
                                                  **keywords)
        return StackDrift(drift, transforms, self._shape, self._device, pattern)

    def __repr__(self):
        return f"<StackDrift: {self.drift.shape[0]} frames>"


def _reference_of(frames, to):
    """The reference as a Dask array of one chunk, and the number of its frame (-1: not a frame)."""
    if isinstance(to, str) and not os.path.exists(to):
        if to != "first":
            raise ValueError(
                f"to must be 'first', the number of a frame or an image, not {to!r}: frames must "
                "be independent tasks, so they cannot depend on the frames before them")
        return frames[0].rechunk(-1), 0
    number = number_of(to)
    if number is not None:
        if not 0 <= number < frames.shape[0]:
            raise ValueError(f"to={number}: the stack has {frames.shape[0]} frames; choose 0 to "
                             f"{frames.shape[0] - 1}")
        return frames[number].rechunk(-1), number
    reference = as_dask(as_image(to, "the reference") if is_file(to) else to).rechunk(-1)
    if reference.shape != frames.shape[1:]:
        raise ValueError(
            f"the reference has the shape {reference.shape}, but frames have {frames.shape[1:]}")
    return reference, -1


def _find_pattern(array, mask, options, device):
    """The task that finds the pattern of the sensor, as a Delayed."""
    count = min(array.shape[0], frames_needed(array.shape[1:]))
    part = Part(array, tuple(slice(0, length) for length in (count, *array.shape[1:])))
    task = bound(_pattern, slices=part.slices, mask=mask, options=options, device=device)
    return delayed_task("fixed-pattern", task, [part.keys], [array],
                        (mask, tuple(sorted(options.items())), device, count))


@documented
def register_stack(frames, *, to="first", mask=None, fixed_pattern=None, device=None, **options):
    """Find how the frames of a Dask array drift, one task for each chunk of frames.

    Parameters
    ----------
    frames : dask.array.Array or array_like, shape (frames, rows, columns)
        The frames. A Zarr array keeps its chunks; chunks that divide frames are merged.
    to : {'first'}, int or array_like, optional
        The reference of all frames: the first frame (the default), the frame of this number, or an
        image of their shape, such as a mean of frames. Frames are registered independently of each
        other, so the first frame must be usable.
    mask : array_like, optional
        A mask of the frames' shape; 0 for pixels to ignore in all frames.
    fixed_pattern : {'auto', 'off'}, optional
        ``'auto'`` (the default; ``'off'`` with ``fast=True``): find the pattern that is fixed to
        the sensor while the scene moves, such as column noise and hot pixels, and leave it out of
        the registration (:attr:`StackDrift.fixed_pattern`). One task finds it in the first 12
        frames, fewer of large ones, before all others.
    device : str, optional
        The device that tasks compute on: a name that :func:`warpalign.open_device` accepts in the
        process that runs them.
    %(options)s

    Returns
    -------
    StackDrift
        The drift table as a Dask array. Its method ``warp`` removes the drift of frames.

    %(raises)s

    %(reference)s

    Examples
    --------
    >>> import dask.array
    >>> import numpy as np
    >>> import warpalign.dask
    >>> image = np.random.default_rng(0).random((96, 128)).cumsum(0).cumsum(1) % 50
    >>> frames = dask.array.stack([np.roll(image, shift, axis=1) for shift in (0, 1, 3)])
    >>> stack = warpalign.dask.register_stack(frames, motion="translation")
    >>> stack.drift.compute()["shift_column"].round()
    array([0., 1., 3.])
    """
    array = frames_as_dask(frames)
    if array.ndim != 3:
        raise ValueError(f"frames must be an array of 3 axes, not of shape {array.shape}")
    if array.shape[0] == 0:
        raise ValueError("there are no frames")
    check_motion(options)
    options_of(options)  # raises for unknown options before any task runs
    array = array.rechunk({1: -1, 2: -1})
    reference, first = _reference_of(array, to)
    mask = as_mask(mask, array.shape[1:], "the mask")
    device = device_name(device)
    pattern = None
    if checked_choice(fixed_pattern, options.get("fast", False)):
        pattern = _find_pattern(array, mask, options, device)
    pattern_key = None if pattern is None else pattern.key
    starts = np.cumsum((0, *array.chunks[0])).tolist()

    def task(number, _region):
        index = number[0]
        return (bound(_registered, start=starts[index], first=first, mask=mask, options=options,
                      device=device),
                (array.name, index, 0, 0), (reference.name, 0, 0), pattern_key)

    needed = [array, reference] if pattern is None else [array, reference, pattern]
    found = array_of_tasks("registered", task, (array.chunks[0],), object, needed,
                           (mask, tuple(sorted(options.items())), device, first))
    return StackDrift(component_of(found, 0, "drift", _TABLE),
                      component_of(found, 1, "transforms", object), array.shape[1:], device,
                      pattern)
