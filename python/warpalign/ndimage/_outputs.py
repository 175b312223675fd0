"""The caller's output arrays on a device."""

from .._foreign import OwnKind, kind_of


def output_on(array, output):
    """The caller's output array as a DeviceArray; it must be on the device of `array`."""
    kind = kind_of(output)
    expected = array._kind or OwnKind
    if _type_of(kind) is not _type_of(expected):
        raise TypeError(
            f"the output must be an array of the input's library on {array.device.id}, not "
            f"{type(output).__name__}")
    given = kind.output(output, array)
    if given.device is not array.device:
        raise ValueError(
            f"the output is on {given.device.id}, but the input is on {array.device.id}")
    return given


def _type_of(kind):
    return kind if isinstance(kind, type) else type(kind)
