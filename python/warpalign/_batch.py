"""Registration of many pairs."""

from typing import Unpack

from . import _core
from ._alignment import Registration, registration_of
from ._devices import Device, open_device
from ._errors import Error, InvalidArgumentError
from ._foreign import is_on_device
from ._images import as_image, as_mask, device_for, read
from ._initial import check_initial, initial_matrices, numbers_xy
from ._options import RegistrationOptions, documented, options_of
from ._progress import progress_bar
from ._register import Registrar


def _parts(pair, index):
    """Return (reference, moving, reference's mask or None, moving image's mask or None)."""
    if len(pair) not in (2, 4):
        raise ValueError(
            f"pair {index} must be (reference, moving) or (reference, moving, reference's mask, "
            f"moving image's mask), not a sequence of length {len(pair)}")
    return tuple(pair) + (None, None) * (len(pair) == 2)


def _pair_arrays(pair, index):
    """The parts of a pair as arrays in host memory."""
    pair = _parts(pair, index)
    names = f"the reference of pair {index}", f"the moving image of pair {index}"
    read_parts = [read(image, mask, as_image, name)[:2]
                  for image, mask, name in zip(pair[:2], pair[2:], names)]
    reference, moving = (as_image(image, name) for (image, _), name in zip(read_parts, names))
    return (reference, moving,
            as_mask(read_parts[0][1], reference.shape, f"the reference's mask of pair {index}"),
            as_mask(read_parts[1][1], moving.shape, f"the moving image's mask of pair {index}"))


# The library refuses such a pair and continues with the next one.
_NO_PAIR = (None, None, None, None, None)


class _Pairs:
    """Reads each pair once from a sequence, although device() looks at the first pair early."""

    def __init__(self, pairs):
        self._pairs = pairs
        self._first = pairs[0] if len(pairs) > 0 else None

    def __len__(self):
        return len(self._pairs)

    def __getitem__(self, index):
        if index > 0:
            return self._pairs[index]
        first, self._first = self._first, None
        return first

    def device(self):
        """An array of the first pair that is on a device, or None."""
        if self._first is None:
            return None
        return next((part for part in self._first[:2] if is_on_device(part)), None)


# Exceptions that concern one pair: its pixels or its arrays.
_PAIR_ERRORS = (Error, ValueError, TypeError, NotImplementedError)


def _with_note(error, index):
    error.add_note(f"This error concerns pair {index}.")
    return error


def _kept(error):
    """The exception without its traceback, which would keep the pair's arrays alive."""
    return error.with_traceback(None)


def _check_initial(near, pairs, options):
    """Check the initial transforms of pairs in memory before any pair is registered. The others
    are checked when their pair is read."""
    if near is None or not isinstance(pairs, (list, tuple)):
        return
    for index, (matrix, pair) in enumerate(zip(near, pairs)):
        shapes = [getattr(image, "shape", ()) for image in pair[:2]]
        if matrix is not None and all(len(shape) == 2 and min(shape) > 0 for shape in shapes):
            check_initial(matrix, options, *shapes, f"the initial transform of pair {index}")


def _register_on_device(pairs, near, device, on_error, bar, options):
    """Register one pair after the other on the arrays' device, ordered with the caller's stream."""
    registrar = Registrar(device, **options)
    results = []
    for index in range(len(pairs)):
        pair = pairs[index]
        try:
            reference, moving, reference_mask, moving_mask = _parts(pair, index)
            registrar.set_reference(reference, reference_mask)
            results.append(registrar.align(moving, moving_mask, initial=near and near[index]))
        except _PAIR_ERRORS as error:
            if on_error == "raise":
                raise _with_note(error, index)
            results.append(_kept(error))
        bar.update()
    return results


@documented
def register_batch(pairs, *, initial=None, devices=None, streams=2, on_error="raise",
                   progress=None, **options: Unpack[RegistrationOptions]) -> list[Registration]:
    """Register many pairs of images, on one or several devices.

    Of 128 pairs or more, neighbours of one shape and type are registered together, by similarities
    and rigid motions. That is several times as fast, and differs from single registrations by
    thousandths of a pixel.

    Parameters
    ----------
    pairs : sequence or iterable
        Tuples (reference, moving) or (reference, moving, reference's mask, moving image's mask),
        where a mask may be None. Images are as for :func:`register`, or paths. Several threads read
        a sequence (an object with a length and an index) pair by pair, when a device is ready.
    %(initial_of_pairs)s
    devices : Device or str, or a sequence of them, optional
        The devices to use. Of several devices, faster ones register more pairs. The default is
        one device, as for :func:`register`.
    streams : int, optional
        The number of pairs that each device processes at a time, 1 to 64. The default is 2: one
        pair is read and uploaded while another one is computed. 4 are faster for thousands of pairs
        on a GPU. Pairs of arrays on a device are registered there one after the other, ordered with
        the caller's stream, without copies.
    on_error : {'raise', 'return'}
        What to do if a pair cannot be registered because of its pixels, the shape or type of its
        arrays, or a failure of the device. ``'raise'`` (the default) ends the batch with the
        exception; ``'return'`` puts the exception in the list of results and continues. An
        exception that `pairs` raises while it is read, such as an OSError, always ends the batch.
    progress : bool, optional
        Whether to show a tqdm progress bar. By default, it is shown in terminals and notebooks if
        tqdm is installed.
    %(options)s

    Returns
    -------
    list of Registration
        The results in the order of the pairs. With ``on_error='return'``, the list has an
        exception for each pair that failed.

    %(raises)s

    %(reference)s

    Examples
    --------
    >>> import numpy as np
    >>> import warpalign
    >>> image = np.random.default_rng(0).random((96, 128)).cumsum(0).cumsum(1) % 50
    >>> pairs = [(image, np.roll(image, shift, axis=1)) for shift in (2, 7)]
    >>> [round(found.translation[1]) for found in warpalign.register_batch(pairs)]
    [2, 7]
    """
    if on_error not in ("raise", "return"):
        raise ValueError(f"on_error must be 'raise' or 'return', not {on_error!r}")
    made = options_of(options)
    if not (hasattr(pairs, "__len__") and hasattr(pairs, "__getitem__")):
        pairs = list(pairs)
    near = initial_matrices(initial, len(pairs), made.motion, "pairs")
    _check_initial(near, pairs, made)
    if devices is None or isinstance(devices, (str, Device)):
        devices = [devices]
    pairs = _Pairs(pairs)
    on_device = pairs.device()
    if on_device is not None and len(devices) == 1:
        if not 1 <= streams <= 64:
            raise InvalidArgumentError(f"streams must be 1 to 64, not {streams}")
        with progress_bar(progress, len(pairs), "pair") as bar:
            return _register_on_device(
                pairs, near, device_for(on_device, devices[0]), on_error, bar, options)
    opened = [open_device(device) for device in devices]
    results: list = [None] * len(pairs)
    shapes, faults = {}, {}

    def source(index):
        pair = pairs[index]
        try:
            arrays = _pair_arrays(pair, index)
        except (ValueError, TypeError) as error:
            if on_error == "raise":
                raise
            faults[index] = _kept(error)
            return _NO_PAIR
        shapes[index] = arrays[0].shape, arrays[1].shape
        return (*arrays, numbers_xy(near and near[index]))

    with progress_bar(progress, len(pairs), "pair") as bar:

        def sink(index, result, device):
            if index in faults:
                results[index] = faults.pop(index)
            elif isinstance(result, Error):
                if on_error == "raise":
                    raise _with_note(result, index)
                results[index] = result
            else:
                results[index] = registration_of(result, *shapes.pop(index), opened[device])
            bar.update()

        _core.register_pairs(opened, len(pairs), source, sink, made, streams)
    return results
