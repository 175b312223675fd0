"""The base class of registration results, which keeps the device that they compute on."""

import copy

from ._core import Device
from ._devices import reopened


class OnDevice:
    """A result that warps images on the device that registered them.

    Copies within the process share that device. A pickle stores the device's id; after unpickling,
    the first use opens the device with this id. The field ``_device`` is a Device or such an id.
    """

    # Fields that copies share and pickles omit: they may be on the device, and large.
    _SHARED = ("_device", "_images")

    def _opened(self) -> Device:
        """The device. Raises DeviceUnavailableError if it cannot be opened here."""
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
