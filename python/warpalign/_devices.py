"""Devices: what there is, and those that are open."""

import atexit
import os
import threading

from . import _core
from ._core import Backend, Device, DeviceInfo
from ._errors import DeviceUnavailableError

__all__ = ["Backend", "Device", "DeviceInfo", "backends", "devices", "open_device"]

_opened: dict[str, Device] = {}
_lock = threading.Lock()
_forked_from_user = False


def _device_of_array(array):
    raise TypeError(f"device must be a name or a Device, not {type(array).__name__}")


def set_device_of_array(function):
    """Set the function with which open_device finds the device of an array.

    The module that knows other libraries' arrays calls it: it needs this module, not the reverse.
    """
    global _device_of_array
    _device_of_array = function


def _note_fork():
    """In a child process: drivers that the parent has loaded are of no use here."""
    global _forked_from_user, _lock
    _lock = threading.Lock()  # the parent's may be held by a thread that is not here
    _forked_from_user = _forked_from_user or bool(_opened)


os.register_at_fork(after_in_child=_note_fork)


def backends() -> list[Backend]:
    """List the backends with their devices, and why one is not available.

    Returns
    -------
    list of Backend
        Each has ``name``, ``available``, ``reason`` and ``devices``.

    Raises
    ------
    ConfigurationError
        The configuration file cannot be read, or contains an unknown key or value.

    Examples
    --------
    >>> import warpalign
    >>> [backend.name for backend in warpalign.backends()]
    ['cuda', 'opencl']
    """
    return _core.backends()


def devices() -> list[DeviceInfo]:
    """List the devices of all backends, without opening them.

    Returns
    -------
    list of DeviceInfo
        Each has ``id``, ``backend``, ``name``, ``platform``, ``driver``, ``kind`` and
        ``memory_bytes``. Within a backend GPUs come first. If the list is empty,
        :func:`backends` says why.

    Raises
    ------
    ConfigurationError
        The configuration file cannot be read, or contains an unknown key or value.

    Examples
    --------
    >>> import warpalign
    >>> all(device.memory_bytes > 0 for device in warpalign.devices())
    True
    """
    return [device for backend in backends() for device in backend.devices]


def open_device(device: "Device | str | None" = None) -> Device:
    """Open a device, or return the one that was opened under this name before.

    Parameters
    ----------
    device : Device, str or array, optional
        An opened device, which is returned; a name as :class:`Device` takes it; or an array on a
        device, such as CuPy's, PyTorch's or pyopencl's, for the device that it is on. Without it,
        the device is that of the environment variable ``WARPALIGN_DEVICE`` or of the
        configuration file, or else the best one here.

    Returns
    -------
    Device
        The same object whenever the name is the same.

    Raises
    ------
    DeviceUnavailableError
        There is no such device, or this process was forked from one that had opened one.

    Examples
    --------
    >>> import warpalign
    >>> warpalign.open_device() is warpalign.open_device()
    True
    """
    if _forked_from_user:
        raise DeviceUnavailableError(
            "this process was forked from one that had opened a device, whose driver works there "
            "only; let multiprocessing start processes by 'spawn' or 'forkserver'")
    if isinstance(device, Device):
        return device
    if device is not None and not isinstance(device, str):
        return _device_of_array(device)
    name = device or ""
    with _lock:
        if name not in _opened:
            _opened[name] = Device(name)
        return _opened[name]


def reopened(name) -> Device:
    """The device of this id: the one that is open already, whatever it was opened as, or a new one.

    Raises DeviceUnavailableError as open_device does.
    """
    if not _forked_from_user:
        with _lock:
            for opened in _opened.values():
                if opened.id == name:
                    return opened
    return open_device(name)


# Devices are closed while their drivers are still there.
atexit.register(_opened.clear)
