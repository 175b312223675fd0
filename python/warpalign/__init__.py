"""Registration and B-spline warping of images on any GPU or CPU.

``register(reference, moving)`` finds how an image must be rotated, scaled and shifted to lie on
another; :mod:`warpalign.ndimage` has SciPy's interpolation functions. Arrays are NumPy's, and
work is done by the best device of the machine, or by the one named with ``device=``.
"""

from ._core import __version__
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

from . import ndimage
