"""Registration and B-spline warping of images on any GPU or CPU.

``register(reference, moving)`` finds the rotation, scale and translation between two images;
:mod:`warpalign.ndimage` provides SciPy's interpolation functions. Functions take NumPy arrays and
compute on the best device of the machine, or on the one named by ``device=``. They also take
arrays that already live on a device (CuPy, PyTorch, JAX, pyopencl), and return the result there.
"""

from . import _pip_drivers, ndimage
from ._agreement import local_agreement
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
from ._files._image_file import ImageFile
from ._files._open import open_file as open
from ._files._tile_file import TileFile, open_tiles
from ._flat_field import flat_field
from ._geometry import Geometry
from ._local import LocalRegistrar, LocalRegistration, register_local
from ._mosaic import Mosaic, MosaicPair, StageModel, TileDistortion, mosaic
from ._panorama import Panorama, PanoramaCamera, PanoramaPair, panorama
from ._point_errors import PointErrors
from ._register import Registrar, register, warm_up
from ._series import SeriesRegistration, register_series
from ._stack import StackRegistration, register_stack
from ._template import Template, build_template
from ._tiles import Tile, tiles
from ._deformation import Deformation
from ._transform import Transform
from ._volumes import VolumeRegistrar, VolumeRegistration, register_volume

__version__ = _version()

_pip_drivers.set_driver()
_pip_drivers.load_cufft()

__all__ = [
    "Alignment",
    "Backend",
    "BuildError",
    "ConfigurationError",
    "Deformation",
    "Device",
    "DeviceArray",
    "DeviceError",
    "DeviceInfo",
    "DeviceUnavailableError",
    "Error",
    "Geometry",
    "ImageFile",
    "InvalidArgumentError",
    "InvalidImageError",
    "LocalRegistrar",
    "LocalRegistration",
    "Mosaic",
    "MosaicPair",
    "OutOfMemoryError",
    "Panorama",
    "PanoramaCamera",
    "PanoramaPair",
    "PointErrors",
    "Registrar",
    "Registration",
    "SeriesRegistration",
    "StackRegistration",
    "StageModel",
    "Template",
    "TileDistortion",
    "Tile",
    "TileFile",
    "Transform",
    "VolumeRegistrar",
    "VolumeRegistration",
    "__version__",
    "backends",
    "build_template",
    "devices",
    "flat_field",
    "local_agreement",
    "mosaic",
    "ndimage",
    "open",
    "open_device",
    "open_tiles",
    "panorama",
    "register",
    "register_batch",
    "register_local",
    "register_series",
    "register_stack",
    "register_volume",
    "tiles",
    "to_device",
    "warm_up",
]
