"""Registration of many pairs."""

from typing import Unpack

from . import _core
from ._alignment import Registration, registration_of
from ._devices import Device, open_device
from ._errors import Error, InvalidArgumentError
from ._foreign import is_on_device
from ._images import as_image, as_mask, device_for
from ._options import RegistrationOptions, documented, options_of
from ._progress import progress_bar
from ._register import Registrar


def _parts(pair, index):
    """(reference, moving, reference's mask or None, moving's mask or None)."""
    if len(pair) not in (2, 4):
        raise ValueError(
            f"pair {index} must be (reference, moving) or (reference, moving, reference's mask, "
            f"moving image's mask), and has {len(pair)} parts")
    return tuple(pair) + (None, None) * (len(pair) == 2)


def _pair_arrays(pair, index):
    """The same in host memory."""
    pair = _parts(pair, index)
    reference = as_image(pair[0], f"the reference of pair {index}")
    moving = as_image(pair[1], f"the moving image of pair {index}")
    return (reference, moving,
            as_mask(pair[2], reference.shape, f"the reference's mask of pair {index}"),
            as_mask(pair[3], moving.shape, f"the moving image's mask of pair {index}"))


# The library refuses such a pair, and goes on with the next one.
_NO_PAIR = (None, None, None, None)


class _Pairs:
    """The pairs, of which the first has been looked at: what makes them is asked for each once."""

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
        """An array of the first pair, if it is on a device, or None."""
        if self._first is None:
            return None
        return next((part for part in self._first[:2] if is_on_device(part)), None)


# What may be wrong with a pair: with its pixels, or with its arrays.
_PAIRS_OWN = (Error, ValueError, TypeError, NotImplementedError)


def _with_note(error, index):
    error.add_note(f"This is about pair {index}.")
    return error


def _kept(error):
    """The exception without its traceback, which would hold the pair's arrays."""
    return error.with_traceback(None)


def _register_on_device(pairs, device, on_error, bar, options):
    """One pair after the other where the arrays are, in order with what the caller does there."""
    registrar = Registrar(device, **options)
    results = []
    for index in range(len(pairs)):
        pair = pairs[index]
        try:
            reference, moving, reference_mask, moving_mask = _parts(pair, index)
            registrar.set_reference(reference, reference_mask)
            results.append(registrar.align(moving, moving_mask))
        except _PAIRS_OWN as error:
            if on_error == "raise":
                raise _with_note(error, index)
            results.append(_kept(error))
        bar.update()
    return results


@documented
def register_batch(pairs, *, devices=None, streams=2, on_error="raise", progress=None,
                   **options: Unpack[RegistrationOptions]) -> list[Registration]:
    """Register many pairs of images, on one or several devices.

    Parameters
    ----------
    pairs : sequence or iterable
        Of (reference, moving), or of (reference, moving, reference's mask, moving image's mask)
        with None for no mask; images as :func:`register` takes them. What has a length and is
        indexed is read pair by pair, when a device is ready for one, by several threads.
    devices : Device or str, or a sequence of them, optional
        The default is one device, as for :func:`register`. Of several, faster ones do more.
    streams : int, optional
        Pairs in work at once on each device, 1 to 64. With 2, which is the default, one is read
        and uploaded while another is computed. Arrays on a device are registered there one pair
        after the other, in order with the caller's stream, without copies.
    on_error : {'raise', 'return'}
        Whether the first pair that cannot be registered ends the batch with its exception, or the
        exception takes the place of that pair's result: for pixels that cannot be used, for arrays
        of a wrong shape or type, and for failures of the device. What `pairs` itself raises when it
        is read, such as an OSError, always ends the batch.
    progress : bool, optional
        Whether to show a bar of tqdm. The default: in a terminal or notebook, where tqdm is.
    %(options)s

    Returns
    -------
    list of Registration
        In the order of the pairs. With ``on_error='return'``, exceptions among them.

    %(raises)s
    %(mask_on_device)s

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
    if devices is None or isinstance(devices, (str, Device)):
        devices = [devices]
    pairs = _Pairs(pairs)
    on_device = pairs.device()
    if on_device is not None and len(devices) == 1:
        if not 1 <= streams <= 64:
            raise InvalidArgumentError(f"streams must be 1 to 64, not {streams}")
        with progress_bar(progress, len(pairs), "pair") as bar:
            return _register_on_device(
                pairs, device_for(on_device, devices[0]), on_error, bar, options)
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
        return arrays

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
