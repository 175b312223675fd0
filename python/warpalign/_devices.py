"""Lists the available devices, and keeps the opened ones."""

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
    """Set the function that open_device calls to find the device of an array.

    The module that handles other libraries' arrays calls this when it is imported. It imports this
    module; an import in the other direction would be circular.
    """
    global _device_of_array
    _device_of_array = function


def _note_fork():
    """Record in a child process whether its parent had opened a device: drivers do not survive
    a fork."""
    global _forked_from_user, _lock
    _lock = threading.Lock()  # a thread that exists only in the parent may hold the parent's lock
    _forked_from_user = _forked_from_user or bool(_opened)


os.register_at_fork(after_in_child=_note_fork)


def backends() -> list[Backend]:
    """List the backends and their devices.

    Returns
    -------
    list of Backend
        Each backend has the attributes ``name``, ``available``, ``reason`` (why it is not
        available) and ``devices``.

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
        Each device has the attributes ``id``, ``backend``, ``name``, ``platform``, ``driver``,
        ``kind`` and ``memory_bytes``. The GPUs of a backend come first. If the list is empty, see
        :func:`backends` for the reason.

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
    """Open a device, or return the one that is already open under this name.

    Parameters
    ----------
    device : Device, str or array, optional
        An opened device, which is returned as it is; a name, as :class:`Device` takes it; or an
        array on a device (CuPy, PyTorch, pyopencl), which selects the device that it is on. By
        default, the environment variable ``WARPALIGN_DEVICE`` or the configuration file names the
        device; if neither does, the best device of the machine is opened.

    Returns
    -------
    Device
        The opened device. The same name always gives the same object.

    Raises
    ------
    DeviceUnavailableError
        There is no such device, or this process was forked from one that had opened a device.

    Examples
    --------
    >>> import warpalign
    >>> warpalign.open_device() is warpalign.open_device()
    True
    """
    if _forked_from_user:
        raise DeviceUnavailableError(
            "this process was forked from one that had opened a device, and the driver works only "
            "in that one; set multiprocessing's start method to 'spawn' or 'forkserver'")
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
    """Return the device with this id: one that is open already, under any name, or a new one.

    Raises DeviceUnavailableError as open_device does.
    """
    if not _forked_from_user:
        with _lock:
            for opened in _opened.values():
                if opened.id == name:
                    return opened
    return open_device(name)


# Close devices at exit, while their drivers are still loaded.
atexit.register(_opened.clear)
