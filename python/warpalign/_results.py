"""What results of registrations have in common: the device that they go on computing on."""

import copy

from ._core import Device
from ._devices import reopened


class OnDevice:
    """A result that warps on the device that found it.

    Copies within the process share that device. A pickle has its id instead, and the device of this
    id is opened where the result is unpickled, when it is first used. The field ``_device`` is a
    Device, or such an id.
    """

    # Fields that copies share, and pickles leave out: they may be on the device, and large.
    _SHARED = ("_device", "_images")

    def _opened(self) -> Device:
        """The device. Raises DeviceUnavailableError where it cannot be opened here."""
        return reopened(self._device) if isinstance(self._device, str) else self._device

    def __getstate__(self):
        state = {name: None if name in self._SHARED else value
                 for name, value in vars(self).items()}
        state["_device"] = self._device.id if isinstance(self._device, Device) else self._device
        return state

    def __copy__(self):
        return self._copied(lambda value: value)

    def __deepcopy__(self, memo):
        return self._copied(lambda value: copy.deepcopy(value, memo))

    def _copied(self, how):
        new = object.__new__(type(self))
        vars(new).update((name, value if name in self._SHARED else how(value))
                         for name, value in vars(self).items())
        return new
