"""Registration and B-spline warping of images on any GPU or CPU.

``register(reference, moving)`` finds how an image must be rotated, scaled and shifted to lie on
another; :mod:`warpalign.ndimage` has SciPy's interpolation functions. Arrays are NumPy's, and
work is done by the best device of the machine, or by the one named with ``device=``. Arrays that
are on a device already, such as CuPy's, PyTorch's, JAX's or pyopencl's, are taken and returned
there.
"""

from . import _pip_drivers, ndimage
from ._alignment import Alignment, Registration
from ._batch import register_batch
from ._core import version as _version
from ._device_array import DeviceArray, to_device
from ._devices import Backend, Device, DeviceInfo, backends, devices, open_device
from ._errors import (
    BuildError,
    ConfigurationError,
    DeviceError,
    DeviceUnavailableError,
    Error,
    InvalidArgumentError,
    InvalidImageError,
    OutOfMemoryError,
)
from ._local import LocalRegistrar, LocalRegistration, register_local
from ._register import Registrar, register, warm_up
from ._stack import StackRegistration, register_stack
from ._tiles import Tile, tiles
from ._volumes import VolumeRegistrar, VolumeRegistration, register_volume

__version__ = _version()

_pip_drivers.announce_pocl()
_pip_drivers.load_cufft()

__all__ = [
    "Alignment",
    "Backend",
    "BuildError",
    "ConfigurationError",
    "Device",
    "DeviceArray",
    "DeviceError",
    "DeviceInfo",
    "DeviceUnavailableError",
    "Error",
    "InvalidArgumentError",
    "InvalidImageError",
    "LocalRegistrar",
    "LocalRegistration",
    "OutOfMemoryError",
    "Registrar",
    "Registration",
    "StackRegistration",
    "Tile",
    "VolumeRegistrar",
    "VolumeRegistration",
    "__version__",
    "backends",
    "devices",
    "ndimage",
    "open_device",
    "register",
    "register_batch",
    "register_local",
    "register_stack",
    "register_volume",
    "tiles",
    "to_device",
    "warm_up",
]
