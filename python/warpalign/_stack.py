"""Registration of the frames of a stack or a video."""

from typing import Unpack

import numpy as np

from . import _core, ndimage
from ._alignment import Alignment, embedded, parameters_of, registration_of
from ._devices import open_device
from ._errors import Error, InvalidImageError
from ._foreign import as_array
from ._frames import iterate_frames
from ._images import as_image, as_mask, device_for
from ._options import RegistrationOptions, documented, options_of
from ._progress import progress_bar
from ._results import OnDevice
from ._running_mean import RunningMean

# A line of the drift table. Shifts are those of the frame's centre.
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
])


def _line_of(number, alignment, reliable):
    return (number, *alignment.translation, alignment.rotation_deg, alignment.scale,
            alignment.confidence, alignment.correlation, alignment.overlap, reliable,
            alignment.refined)


class StackRegistration(OnDevice):
    """How the frames of a stack lie, each relative to the first.

    It can be pickled, and sent to other processes.

    Attributes
    ----------
    drift : ndarray
        A structured array with a line for each frame: ``frame``, ``shift_row`` and
        ``shift_column`` (where the first frame's centre lies in this one, relative to its centre,
        in pixels), ``rotation_deg`` (counter-clockwise as displayed), ``scale``, ``confidence``,
        ``correlation``, ``overlap``, ``reliable`` and ``refined``.
    matrices : ndarray, shape (frames, 3, 3)
        From pixels of the first frame, (row, column, 1), to pixels of each frame. NaN for frames
        that could not be used.
    errors : dict of int to InvalidImageError
        Why a frame could not be used, by its number.
    """

    def __init__(self, shape, device):
        self._shape = shape
        self._device = device
        self._alignments = []
        self._reliable = []
        self.errors = {}

    def _append(self, alignment, reliable):
        self._alignments.append(alignment)
        self._reliable.append(reliable)

    def __len__(self):
        return len(self._alignments)

    def __getitem__(self, index) -> Alignment:
        return self._alignments[index]

    @property
    def matrices(self):
        return np.stack([alignment.matrix for alignment in self._alignments])

    @property
    def drift(self):
        table = np.zeros(len(self), _DRIFT)
        for i, (alignment, reliable) in enumerate(zip(self._alignments, self._reliable)):
            table[i] = _line_of(i, alignment, reliable)
        return table

    def to_pandas(self):
        """The drift table for pandas.

        Returns
        -------
        pandas.DataFrame
            The columns of ``drift``, with the frame's number as index.

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        import pandas

        return pandas.DataFrame.from_records(self.drift, index="frame")

    def warp(self, frames, *, order=3, mode="constant", cval=0.0):
        """Bring frames onto the first one, one after the other.

        Parameters
        ----------
        frames : iterable of array_like
            The frames that were registered, or others of their shape in their place, with further
            axes (such as channels) after these two. Arrays on the stack's device stay there.
        order : int, optional
            The order of the spline, 0 to 5. The default is 3.
        mode : str, optional
            What lies beyond the edges, as :func:`warpalign.ndimage.affine_transform` takes it.
            The default is ``'constant'``.
        cval : scalar, optional
            The value beyond the edges for ``'constant'`` and ``'grid-constant'``. The default
            is 0.

        Yields
        ------
        ndarray
            Each frame that is ``reliable`` on the first one's grid, of its own dtype and of the
            library of an array on a device; None for each other one.

        Raises
        ------
        ValueError
            There are more frames than were registered, or one has another shape or is on another
            device.
        RuntimeError
            ``order``, ``mode`` or a dtype is not supported (SciPy's message).
        warpalign.Error
            The device cannot do it, or cannot be opened where the result was unpickled.
        """
        for i, frame in enumerate(iterate_frames(frames)):
            if i >= len(self):
                raise ValueError(f"there are more frames than the {len(self)} registered")
            frame = as_array(frame)
            if tuple(frame.shape[:2]) != self._shape:
                raise ValueError(
                    f"frame {i} has the shape {tuple(frame.shape)}, and the first one that was "
                    f"registered {self._shape}")
            if not self._reliable[i]:
                yield None
                continue
            yield ndimage.affine_transform(
                frame, embedded(self._alignments[i].matrix, frame.ndim),
                output_shape=self._shape + tuple(frame.shape[2:]), order=order, mode=mode,
                cval=cval, device=self._opened())

    def __repr__(self):
        return f"<StackRegistration: {len(self)} frames, {sum(self._reliable)} reliable>"

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
        matrix=matrix, motion=found.motion, confidence=found.confidence, correlation=found.correlation,
        significance=found.significance, overlap=found.overlap, refined=found.refined,
        modality=found.modality, proposed_by=found.proposed_by, chance=found.chance,
        **parameters)


def _first():
    return Alignment(matrix=np.eye(3), motion="similarity", rotation_deg=0.0, scale=1.0, translation=(0.0, 0.0),
                     confidence=1.0, correlation=1.0, significance=np.inf, overlap=1.0,
                     refined=False, modality="same", proposed_by=None, chance=None)


def _unusable():
    nan = float("nan")
    return Alignment(matrix=np.full((3, 3), nan), motion="similarity", rotation_deg=nan, scale=nan,
                     translation=(nan, nan), confidence=0.0, correlation=0.0, significance=0.0,
                     overlap=0.0, refined=False, modality="same", proposed_by=None,
                     chance=None)


def check_motion(options):
    if options.get("motion") in ("affine", "homography", "auto"):
        raise ValueError(
            f"stacks are aligned by similarities; motion={options['motion']!r} is for pairs")


# Frames that are in memory at once where they are registered together: as many keep a GPU busy.
_MAX_FRAMES = 32
_MAX_BYTES = 64 << 20


class _Follower:
    """Registers frame after frame; keeps the reference, and never the frames."""

    def __init__(self, first, mask, to, device, options):
        check_motion(options)
        # What frames are registered to changes with every frame, unless it is the first one.
        together = to == "first" and mask is None
        some = max(1, min(_MAX_FRAMES, _MAX_BYTES // first.nbytes)) if together else 1
        self._registrar = _core.FrameRegistrar(device, options_of(options), some)
        self._registrar.set_reference(first, mask)
        self._device = device
        self._mask = mask
        self._to = to
        self._shape = first.shape
        self._first_to_reference = np.eye(3)
        self._mean = None
        if to == "mean":
            self._mean = RunningMean(first.shape, mask, device)
            self._mean.add(first, np.eye(3))

    @property
    def frames_at_once(self):
        """How many frames it gains by seeing at once."""
        return self._registrar.frames_at_once

    def place(self, frames):
        """For each frame, its alignment to the first one, and whether it is reliable; or the
        InvalidImageError that it caused."""
        if self._mask is None:
            results = self._registrar.align(frames)
        else:
            results = [self._align_masked(frame) for frame in frames]
        return [self._placed(frame, found) for frame, found in zip(frames, results)]

    def _align_masked(self, frame):
        try:
            return self._registrar.align_masked(frame, self._mask)
        except InvalidImageError as error:
            return error.with_traceback(None)  # which would hold the frame

    def _placed(self, frame, found):
        if isinstance(found, InvalidImageError):
            return found
        if isinstance(found, Error):
            raise found
        found = registration_of(found, self._shape, self._shape, self._device)
        matrix = found.matrix @ self._first_to_reference
        if found.reliable:
            self._take(frame, matrix)
        return _alignment(matrix, self._shape, found), found.reliable

    def _take(self, frame, matrix):
        if self._to == "previous":
            self._registrar.set_reference(frame, self._mask)
            self._first_to_reference = matrix
        elif self._to == "mean":
            self._mean.add(frame, matrix)
            self._registrar.set_reference(self._mean.mean(), self._mean.mask())


@documented
def register_stack(frames, *, to="first", mask=None, device=None, progress=None,
                   **options: Unpack[RegistrationOptions]) -> StackRegistration:
    """Find how the frames of a stack drift.

    Parameters
    ----------
    frames : array_like or iterable
        A NumPy (memory maps included), Zarr, Dask or h5py array of shape (frames, rows, columns);
        or images one after the other, such as a generator that reads them. As many as 32 frames
        are in memory with ``to='first'``, which are registered together, and no more than 64 MiB of
        them; otherwise one at a time. Chunked arrays are read one row of chunks at a time. All
        frames have the same shape. Frames on a device are registered there, by way of the host.
    to : {'first', 'previous', 'mean'}
        What a frame is registered to: the first one (the default); the last reliable one before
        it, so that content may change on the way but errors add up; the mean of the first and the
        reliable ones before it, in which noise averages out.
    mask : array_like, optional
        Of the frames' shape; 0 where no frame's pixel counts.
    %(device)s
    progress : bool, optional
        Whether to show a bar of tqdm. The default: in a terminal or notebook, where tqdm is.
    %(options)s

    Returns
    -------
    StackRegistration
        Each frame relative to the first. A frame whose pixels cannot be used (constant, NaN) is
        not reliable, and in ``errors``.

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
    if to not in ("first", "previous", "mean"):
        raise ValueError(f"to must be 'first', 'previous' or 'mean', not {to!r}")
    total = len(frames) if hasattr(frames, "__len__") else None
    remaining = iterate_frames(frames)
    try:
        given = next(remaining)
    except StopIteration:
        raise ValueError("there are no frames") from None
    opened = open_device(device_for(given, device))
    first = as_image(given, "frame 0")
    shape = first.shape
    mask = as_mask(mask, shape, "the mask")
    follower = _Follower(first, mask, to, opened, options)
    del given, first  # no frame is kept while the next one is made
    stack = StackRegistration(shape, opened)
    stack._append(_first(), True)
    with progress_bar(progress, total, "frame") as bar:
        bar.update()
        at_once = follower.frames_at_once
        some = []
        for frame in remaining:
            frame = _checked(frame, len(stack) + len(some), shape)
            # The caller may fill the same memory with the next frame.
            some.append(frame if at_once == 1 else frame.copy())
            del frame
            if len(some) == at_once:
                _take(stack, follower, some, bar)
                some = []
        if some:
            _take(stack, follower, some, bar)
    return stack


def _checked(frame, number, shape):
    frame = as_image(frame, f"frame {number}")
    if frame.shape != shape:
        raise ValueError(
            f"frame {number} has the shape {frame.shape}, and the first one {shape}")
    return frame


def _take(stack, follower, frames, bar):
    """Registers the next frames of the stack."""
    for placed in follower.place(frames):
        if isinstance(placed, InvalidImageError):
            stack.errors[len(stack)] = placed
            stack._append(_unusable(), False)
        else:
            stack._append(*placed)
        bar.update()
