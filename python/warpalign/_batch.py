"""Registration of many pairs."""

from typing import Unpack

from . import _core
from ._alignment import Registration, registration_of
from ._devices import Device, open_device
from ._errors import Error
from ._images import as_image, as_mask
from ._options import RegistrationOptions, documented, options_of
from ._progress import progress_bar


def _pair_arrays(pair, index):
    """(reference, moving, reference's mask or None, moving's mask or None)."""
    if len(pair) not in (2, 4):
        raise ValueError(
            f"pair {index} must be (reference, moving) or (reference, moving, reference's mask, "
            f"moving image's mask), and has {len(pair)} parts")
    reference = as_image(pair[0], f"the reference of pair {index}")
    moving = as_image(pair[1], f"the moving image of pair {index}")
    masks = pair[2:] or (None, None)
    return (reference, moving,
            as_mask(masks[0], reference.shape, f"the reference's mask of pair {index}"),
            as_mask(masks[1], moving.shape, f"the moving image's mask of pair {index}"))


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
        and uploaded while another is computed.
    on_error : {'raise', 'return'}
        Whether the first pair that cannot be registered ends the batch with its exception, or the
        exception takes the place of that pair's result.
    progress : bool, optional
        Whether to show a bar of tqdm. The default: in a terminal or notebook, where tqdm is.
    %(options)s

    Returns
    -------
    list of Registration
        In the order of the pairs.

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
    if devices is None or isinstance(devices, (str, Device)):
        devices = [devices]
    opened = [open_device(device) for device in devices]
    results: list = [None] * len(pairs)
    shapes = {}

    def source(index):
        arrays = _pair_arrays(pairs[index], index)
        shapes[index] = arrays[0].shape, arrays[1].shape
        return arrays

    with progress_bar(progress, len(pairs), "pair") as bar:

        def sink(index, result, device):
            if isinstance(result, Error):
                if on_error == "raise":
                    result.add_note(f"This is about pair {index}.")
                    raise result
                results[index] = result
            else:
                results[index] = registration_of(result, *shapes.pop(index), opened[device])
            bar.update()

        _core.register_pairs(opened, len(pairs), source, sink, made, streams)
    return results
