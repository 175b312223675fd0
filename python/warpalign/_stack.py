"""Registration of the frames of a stack or a video."""

from typing import Unpack

import numpy as np

from . import _core, ndimage
from ._alignment import Alignment, parameters_of, registration_of
from ._axes import embedded
from ._devices import open_device
from ._errors import Error, InvalidImageError
from ._fixed_pattern import ONLY_PATTERN, checked_choice, find_fixed_pattern
from ._docs import warps
from ._files._open import is_file
from ._files._open import opened as opened_file
from ._foreign import warpable
from ._frames import iterate_frames
from ._images import as_mask, device_for
from ._initial import Repeated, check_initial, initial_matrices, numbers_xy
from ._nodata import with_nan
from ._options import RegistrationOptions, documented, options_of
from ._progress import progress_bar
from ._results import OnDevice
from ._running_mean import RunningMean
from ._stack_origin import (
    MAX_BYTES, MAX_FRAMES, NAMED, NONE, FramesAhead, checked_reference, set_origin)
from .ndimage._missing import default_for

# A row of the drift table. Shifts are those of the frame's centre.
_DRIFT = np.dtype([
    ("frame", np.int64),
    ("shift_row", np.float64),
    ("shift_column", np.float64),
    ("rotation_deg", np.float64),
    ("scale", np.float64),
    ("confidence", np.float64),
    ("correlation", np.float64),
    ("overlap", np.float64),
    ("reliable", np.bool_),
    ("refined", np.bool_),
    ("ambiguous", np.bool_),
])


def _line_of(number, alignment, reliable, ambiguous):
    return (number, *alignment.translation, alignment.rotation_deg, alignment.scale,
            alignment.confidence, alignment.correlation, alignment.overlap, reliable,
            alignment.refined, ambiguous)


class StackRegistration(OnDevice):
    """The transform of each frame of a stack, relative to the reference.

    It can be pickled and sent to other processes.

    Attributes
    ----------
    drift : ndarray
        A structured array with a row for each frame. Its fields are ``frame``, ``shift_row`` and
        ``shift_column`` (the position of the reference's centre in this frame, relative to the
        centre of this frame, in pixels), ``rotation_deg`` (counter-clockwise as displayed),
        ``scale``, ``confidence``, ``correlation``, ``overlap``, ``reliable``, ``refined`` and
        ``ambiguous`` (the frame matches its reference at other shifts as well, and the frame before
        it does not tell which one is right).
    matrices : ndarray, shape (frames, 3, 3)
        For each frame, the matrix that maps pixels of the reference, (row, column, 1), to pixels
        of this frame. NaN for frames that could not be used.
    transforms : tuple of Transform or None
        The same as transforms; None for frames that could not be used.
    deformations : tuple of Deformation or None
        With ``motion='deformable'``, for each frame that is reliable, except the reference, its
        deformation, which ``transforms`` and :meth:`warp` include; ``matrices`` and ``drift``
        describe the affine transform before it. Otherwise None.
    errors : dict of int to InvalidImageError
        For each frame that could not be used, by its number, the reason.
    periods : dict of int to tuple of tuples
        For each ambiguous frame, by its number, ``Registration.period``.
    undetermined_directions : dict of int to tuple of 2 floats
        For each ambiguous frame with structure along one direction, by its number, that direction
        as a unit vector, ``Registration.undetermined_direction``.
    reference : int or None
        The number of the frame from which the matrices lead: 0, unless it cannot be used or ``to``
        names another one. None if ``to`` is an image, or if no frame is usable.
    reference_reason : str
        Why it is the reference, such as ``'the first usable frame'``.
    fixed_pattern : FixedPattern or None
        The pattern that is fixed to the sensor and was left out of the registration:
        ``offsets`` (float32, of a frame's shape, in the frames' units), their root mean square
        ``rms``, the number of ``frames`` from which it was found, ``scene``, whether the frames
        show anything else, ``clear``, whether the pattern is separated from the scene (if the scene
        moves too little for that, no frame is reliable), and ``reference_gain``, by what factor it
        was subtracted from the image that ``to`` names: 1 if the image shows it as the frames do, 0
        if it does not, None if ``to`` names none. :meth:`warp` takes the frames as they are.
    """

    def __init__(self, shape, device, reference, reason):
        self._shape = shape
        self._device = device
        self.reference = reference
        self.reference_reason = reason
        self.fixed_pattern = None
        self._alignments = []
        self._reliable = []
        self._ambiguous = []
        self._deformations = []
        self.errors = {}
        self.periods = {}
        self.undetermined_directions = {}

    def _append(self, alignment, found=None):
        """`found`: the Registration of the frame, or None for one that was not registered."""
        number = len(self)
        self._alignments.append(alignment)
        is_clear = self.fixed_pattern is None or self.fixed_pattern.clear
        self._reliable.append(number == self.reference if found is None
                              else found.reliable and is_clear)
        self._ambiguous.append(found is not None and found.ambiguous)
        self._deformations.append(None if found is None else found.deformation)
        if self._ambiguous[-1]:
            self.periods[number] = found.period
            if found.undetermined_direction is not None:
                self.undetermined_directions[number] = found.undetermined_direction

    def __len__(self):
        return len(self._alignments)

    def __getitem__(self, index) -> Alignment:
        return self._alignments[index]

    @property
    def matrices(self):
        return np.stack([alignment.matrix for alignment in self._alignments])

    @property
    def transforms(self):
        return tuple(deformation.transform if deformation is not None
                     else alignment.transform if np.isfinite(alignment.matrix).all() else None
                     for alignment, deformation in zip(self._alignments, self._deformations))

    @property
    def deformations(self):
        return tuple(self._deformations)

    @property
    def drift(self):
        table = np.zeros(len(self), _DRIFT)
        columns = zip(self._alignments, self._reliable, self._ambiguous)
        for i, line in enumerate(columns):
            table[i] = _line_of(i, *line)
        return table

    def to_pandas(self):
        """Convert the drift table to a pandas DataFrame.

        Returns
        -------
        pandas.DataFrame
            The fields of ``drift`` as columns, with the frame's number as index.

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        import pandas

        return pandas.DataFrame.from_records(self.drift, index="frame")

    @warps
    def warp(self, frames, *, order=3, mode="constant", cval=0.0, missing=None, nodata=None,
             weights=False, precision="single", antialias=False, labels=False):
        """Warp frames to the reference, one after the other.

        Parameters
        ----------
        frames : iterable of array_like
            The frames that were registered, or as many others of their shape in the same order.
            They may have further axes, such as channels, after these two. Arrays on the stack's
            device stay there.
        %(warping)s
        %(antialias)s
        %(labels)s

        Yields
        ------
        ndarray
            For each frame whose registration is ``reliable``, the frame on the reference's grid,
            with its own dtype; a frame on a device gives an array of the same library. None
            for any other frame. With ``weights=True``, each is a tuple: the frame, and the known
            share of each pixel's support, from 0 to 1.

        Raises
        ------
        ValueError
            There are more frames than were registered, or a frame has another shape or is on
            another device; or all its samples are missing, or none can have the value `nodata`; or
            `antialias` is True for an order of 0.
        RuntimeError
            ``order``, ``mode`` or a dtype is not supported (SciPy's message).
        warpalign.Error
            The computation failed, or the device of an unpickled result cannot be opened here.
        """
        for i, frame in enumerate(iterate_frames(frames)):
            if i >= len(self):
                raise ValueError(f"there are more frames than the {len(self)} registered")
            frame, absent = warpable(frame, nodata, missing)
            if tuple(frame.shape[:2]) != self._shape:
                raise ValueError(
                    f"frame {i} has the shape {tuple(frame.shape)}, but the registered frames have "
                    f"the shape {self._shape}")
            if not self._reliable[i]:
                yield None
                continue
            options = {"order": order, "mode": mode, "cval": cval,
                       "missing": default_for(missing, frame, labels), "nodata": absent,
                       "weights": weights, "precision": precision, "antialias": antialias,
                       "labels": labels, "device": self._opened()}
            if self._deformations[i] is not None:
                yield self._deformations[i].transform.warp(
                    frame, output_shape=self._shape, **options)
                continue
            yield ndimage.affine_transform(
                frame, embedded(self._alignments[i].matrix, frame.ndim),
                output_shape=self._shape + tuple(frame.shape[2:]), **options)

    def __repr__(self):
        to = "" if self.reference == 0 else f", to {self._reference_text()}"
        return f"<StackRegistration: {len(self)} frames, {sum(self._reliable)} reliable{to}>"

    def _reference_text(self):
        if self.reference is not None:
            return f"frame {self.reference} ({self.reference_reason})"
        return "an image" if self.reference_reason == NAMED else "nothing"

    def _repr_html_(self):
        shown = self.drift[:200]
        head = "".join(f"<th>{name}</th>" for name in shown.dtype.names)
        rows = "".join(
            "<tr>" + "".join(f"<td>{_text_of(value)}</td>" for value in line.item()) + "</tr>"
            for line in shown)
        more = "" if len(self) == len(shown) else f"<p>and {len(self) - len(shown)} more</p>"
        return f"<table><tr>{head}</tr>{rows}</table>{more}"


def _text_of(value):
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _alignment(matrix, shape, found):
    parameters = parameters_of(matrix, shape, shape)
    return Alignment(
        matrix=matrix, motion=found.motion, confidence=found.confidence,
        correlation=found.correlation, significance=found.significance, overlap=found.overlap,
        refined=found.refined, modality=found.modality, proposed_by=found.proposed_by,
        chance=found.chance, **parameters)


def _first():
    return Alignment(matrix=np.eye(3), motion="similarity", rotation_deg=0.0, scale=1.0,
                     translation=(0.0, 0.0), confidence=1.0, correlation=1.0,
                     significance=np.inf, overlap=1.0, refined=False, modality="same",
                     proposed_by=None, chance=None)


def _unusable():
    nan = float("nan")
    return Alignment(matrix=np.full((3, 3), nan), motion="similarity", rotation_deg=nan, scale=nan,
                     translation=(nan, nan), confidence=0.0, correlation=0.0, significance=0.0,
                     overlap=0.0, refined=False, modality="same", proposed_by=None,
                     chance=None)


def check_motion(options):
    """Raise ValueError for motions that stacks do not have."""
    motion = options.get("motion")
    if motion in ("affine", "homography", "auto"):
        raise ValueError("stacks are aligned by similarities and deformations; "
                         f"motion={motion!r} is for pairs")


class _Follower:
    """Registers frame after frame. It keeps the reference, but no other frames.

    `nbytes`: of a frame. `to`: "previous" or "mean"; anything else is a fixed reference.
    `in_order`: whether the frames follow each other, so that the motion of one tells that of the
    next one where a frame matches at several shifts. `near`: the initial transform or None
    for each frame, by its number, from initial_matrices(); or None.
    """

    def __init__(self, shape, nbytes, mask, to, device, options, in_order=True, near=None):
        check_motion(options)
        if to == "previous" and options.get("motion") == "deformable":
            raise ValueError("frames are deformed to one image or to the mean, not to='previous'")
        # Only with a fixed reference can frames be registered together.
        together = to not in ("previous", "mean") and mask is None and near is None
        some = max(1, min(MAX_FRAMES, MAX_BYTES // nbytes)) if together else 1
        self._options = options_of(options)
        self._registrar = _core.FrameRegistrar(device, self._options, some)
        self._near = near
        self._device = device
        self._mask = mask
        self._to = to
        self._shape = shape
        self._in_order = in_order
        self._tried = {}
        self._origin = None

    def set_origin(self, image, number):
        """Start from this image: matrices lead from it. `number`: of its frame, or None. Raises
        InvalidImageError if its pixels cannot be used."""
        self._registrar.set_reference(image, self._mask)
        self._origin = number
        self._origin_to_reference = np.eye(3)
        self._from_origin = np.eye(3)  # to the origin of the initial transforms
        if number is not None and isinstance(self._near, list) and self._near[number] is not None:
            self._from_origin = np.linalg.inv(self._near[number])
        # The last reliable frame, if it is known where the next one may be.
        self._origin_to_last = np.eye(3) if self._in_order and number is not None else None
        self._last = number
        self._mean = None
        if self._to == "mean":
            self._mean = RunningMean(self._shape, self._mask, self._device)
            self._mean.add(image, np.eye(3))

    def try_frames(self, numbered):
        """Register numbered frames to the origin, before any other call of align(), which then
        uses the results. Returns for each whether it matches, or None if it cannot be used."""
        results = self._registered(*zip(*numbered))
        self._tried.update({(self._origin, number): found
                            for (number, _), found in zip(numbered, results)})
        return [None if isinstance(found, Exception) else found["reliable"] or found["ambiguous"]
                for found in results]

    def _registered(self, numbers, frames):
        results = [self._tried.get((self._origin, number)) for number in numbers]
        missing = [frame for frame, found in zip(frames, results) if found is None]
        if self._near is not None:
            new = (self._align_near(number, frame)
                   for number, frame, found in zip(numbers, frames, results) if found is None)
        elif self._mask is None:
            new = iter(self._registrar.align(missing) if missing else ())
        else:
            new = (self._align_masked(frame) for frame in missing)
        return [next(new) if found is None else found for found in results]

    @property
    def frames_at_once(self):
        """How many frames align() should receive at a time."""
        return self._registrar.frames_at_once

    def align(self, numbers, frames):
        """Return for each frame its alignment to the origin and its Registration to the reference,
        or the InvalidImageError that it caused."""
        results = self._registered(numbers, frames)
        for number in numbers:
            self._tried.pop((self._origin, number), None)
        return [self._alignment_of(number, frame, found)
                for number, frame, found in zip(numbers, frames, results)]

    def _initial_of(self, number):
        """The initial transform of a frame from the reference, or None if there is none."""
        if self._near is None or self._near[number] is None:
            return None
        matrix = self._near[number] @ self._from_origin
        matrix = matrix @ np.linalg.inv(self._origin_to_reference)
        try:
            check_initial(matrix, self._options, self._shape, self._shape, "")
        except ValueError:
            return None  # only from another frame, for which it was checked, the limits accept it
        return matrix

    def _align_near(self, number, frame):
        matrix = self._initial_of(number)
        try:
            if matrix is not None:
                return self._registrar.align_near(frame, self._mask, numbers_xy(matrix))
            if self._mask is None:
                return self._registrar.align([frame])[0]
            return self._registrar.align_masked(frame, self._mask)
        except InvalidImageError as error:
            return error.with_traceback(None)  # a traceback would keep the frame alive

    def _align_masked(self, frame):
        try:
            return self._registrar.align_masked(frame, self._mask)
        except InvalidImageError as error:
            return error.with_traceback(None)  # a traceback would keep the frame alive

    def _align_next(self, number, frame):
        """Register a frame near the last reliable one."""
        prior = self._origin_to_last @ np.linalg.inv(self._origin_to_reference)
        swapped = prior[[1, 0]][:, [1, 0, 2]]  # of (x, y, 1)
        return self._registrar.align_next(
            frame, self._mask, swapped.ravel().tolist(), abs(number - self._last))

    def _alignment_of(self, number, frame, found):
        # Frames that were registered without the one before.
        if (isinstance(found, dict) and found["ambiguous"]
                and self._origin_to_last is not None and self._initial_of(number) is None):
            found = self._align_next(number, frame)
        if isinstance(found, InvalidImageError):
            return found
        if isinstance(found, Error):
            raise found
        found = registration_of(found, self._shape, self._shape, self._device)
        matrix = found.matrix @ self._origin_to_reference
        if found.reliable and self._in_order:
            self._origin_to_last = matrix
            self._last = number
        # The chain and the mean begin at the origin.
        if found.reliable and number >= (self._origin or 0):
            self._take(frame, matrix, found.deformation)
        if found.ambiguous:
            self._origin_to_last = None  # where the frames are from here on is not known
        return _alignment(matrix, self._shape, found), found

    def _take(self, frame, matrix, deformation):
        if self._to == "previous":
            self._registrar.set_reference(frame, self._mask)
            self._origin_to_reference = matrix
        elif self._to == "mean":
            if deformation is None:
                self._mean.add(frame, matrix)
            else:
                self._mean.add_deformed(frame, deformation.transform)
            self._registrar.set_reference(self._mean.mean(), self._mean.mask())


def _checked_initial(initial, total, to, shape, options):
    """The initial transforms of the frames, or None. Raises ValueError."""
    made = options_of(options)
    near = initial_matrices(initial, total, made.motion, "frames")
    last = None
    for number, matrix in enumerate([] if near is None else [near[0]] if isinstance(near, Repeated)
                                    else near):
        if matrix is None:
            continue
        chained = isinstance(to, str) and to == "previous" and last is not None
        check_initial(matrix @ np.linalg.inv(last) if chained else matrix, made, shape, shape,
                      f"the initial transform of frame {number}")
        last = matrix
    return near


@documented
def register_stack(frames, *, to="first", mask=None, nodata=None, initial=None, fixed_pattern=None,
                   device=None, progress=None,
                   **options: Unpack[RegistrationOptions]) -> StackRegistration:
    """Find how the frames of a stack drift.

    Parameters
    ----------
    frames : array_like or iterable
        A NumPy (memory maps included), Zarr, Dask or h5py array of shape (frames, rows, columns),
        or an iterable of images or of their paths, such as a generator that reads them; or the path
        of a file that :func:`warpalign.open` reads. All frames have the same
        shape. With a fixed reference and no mask, up to 32 frames (at most 64 MiB) are in memory
        and registered together; otherwise, one frame at a time. While the first usable frame is
        not found, up to 32 frames are read ahead. Chunked arrays are read one row of
        chunks at a time. Frames on a device are copied to the host and registered on their device.
    to : {'first', 'previous', 'mean', 'auto'}, int or array_like
        The reference of each frame. ``'first'`` (the default): the first usable frame, which is
        frame 0 unless it is constant or noise: one of the next frames must register to it.
        ``'previous'``: the last reliable frame before it; content may change over time, but errors
        add up. ``'mean'``: the mean of the first usable frame and the reliable frames before it,
        which averages out noise. ``'auto'``: the sharpest, most textured frame; the frames are read
        several times, so they cannot come from an iterator. An int: the frame of that number. An
        array: another image of the frames' shape.
    mask : array_like, optional
        A mask of the frames' shape; 0 for pixels to ignore in all frames.
    %(nodata)s
    %(initial_of_frames)s
    fixed_pattern : {'auto', 'off'}, optional
        ``'auto'`` (the default; ``'off'`` with ``fast=True``): find the pattern that is fixed to
        the sensor while the scene moves, such as column noise and hot pixels, and leave it out of
        the registration (:attr:`StackRegistration.fixed_pattern`). It is found in 12 frames that
        are spread over an array or a list, or in the first 12 of an array in chunks or any other
        iterable, which are read ahead.
    %(device)s
    progress : bool, optional
        Whether to show a tqdm progress bar. By default, it is shown in terminals and notebooks if
        tqdm is installed.
    %(options)s

    Returns
    -------
    StackRegistration
        The transform of each frame relative to the reference. With ``motion='deformable'``, it
        holds a B-spline of each frame, by default 0.6 bytes for each pixel. A frame whose pixels
        cannot be used (constant, NaN) is not reliable, and ``errors`` has the reason.

    %(raises)s

    %(reference)s

    Examples
    --------
    >>> import numpy as np
    >>> import warpalign
    >>> image = np.random.default_rng(0).random((96, 128)).cumsum(0).cumsum(1) % 50
    >>> frames = [np.roll(image, shift, axis=1) for shift in (0, 1, 3)]
    >>> stack = warpalign.register_stack(frames, motion="translation")
    >>> stack.drift["shift_column"].round()
    array([0., 1., 3.])
    """
    if is_file(frames):
        frames = opened_file(frames)._frames()
    total = len(frames) if hasattr(frames, "__len__") else None
    ahead = FramesAhead(frames, nodata)
    opened = open_device(device_for(ahead.given, device))
    del ahead.given  # do not keep a frame while the caller makes the next one
    mask = as_mask(mask, ahead.shape, "the mask")
    near = _checked_initial(initial, total, to, ahead.shape, options)
    reference = checked_reference(to, ahead)
    if isinstance(reference, tuple) and reference[0] is None:
        reference = None, with_nan(reference[1], nodata, "the reference")
    with_pattern = checked_choice(fixed_pattern, options.get("fast", False))
    follower = _Follower(ahead.shape, ahead.nbytes, mask,
                         reference if isinstance(to, str) else None,
                         opened, options, near=near)
    pattern = find_fixed_pattern(ahead, opened, mask, options) if with_pattern else None
    if pattern is not None:
        ahead.leave_out(pattern)
        if isinstance(reference, tuple):
            reference = reference[0], _reference_without(pattern, *reference, mask)
    if pattern is None or pattern.scene:
        number, reason = set_origin(reference, ahead, follower, mask)
    else:
        number, reason = None, NONE
    stack = StackRegistration(ahead.shape, opened, number, reason)
    stack.fixed_pattern = pattern
    with progress_bar(progress, total, "frame") as bar:
        at_once = follower.frames_at_once
        some = []
        for frame in ahead:
            # The caller may write the next frame to the same memory.
            some.append(frame if at_once == 1 or isinstance(frame, Exception) else frame.copy())
            if pattern is not None and not pattern.scene:
                some[-1] = InvalidImageError(f"frame {len(stack) + len(some) - 1}: {ONLY_PATTERN}")
            del frame
            if len(some) == at_once:
                _take(stack, follower, some, bar)
                some = []
        if some:
            _take(stack, follower, some, bar)
    return stack


def _reference_without(pattern, number, image, mask):
    """The image that `to` names, less the pattern if it is frame `number` or shows the pattern."""
    if number is not None:
        return pattern.subtracted(image)
    image, pattern.reference_gain = pattern.subtracted_if_shown(image, mask)
    return image


def _take(stack, follower, frames, bar):
    """Register the next frames of the stack. An exception takes the place of an unusable frame."""
    numbers = range(len(stack), len(stack) + len(frames))
    usable = [(number, frame) for number, frame in zip(numbers, frames)
              if number != stack.reference and not isinstance(frame, Exception)]
    aligned = iter(follower.align(*zip(*usable)) if usable else ())
    for number, frame in zip(numbers, frames):
        if number == stack.reference:
            stack._append(_first())
        else:
            _append(stack, frame if isinstance(frame, Exception) else next(aligned))
        bar.update()


def _append(stack, aligned):
    if isinstance(aligned, InvalidImageError):
        stack.errors[len(stack)] = aligned
        stack._append(_unusable())
    else:
        stack._append(*aligned)
