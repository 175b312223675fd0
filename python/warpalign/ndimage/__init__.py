"""B-spline interpolation of arrays, with the interface of ``scipy.ndimage``.

Each function takes the arguments of SciPy's function, and `device` by keyword. NumPy arrays give
NumPy arrays; arrays on a device (CuPy, PyTorch, :class:`warpalign.DeviceArray`) give arrays there.
Arithmetic is in single precision, even for float64 arrays, unless ``precision="double"``.
"""

from ._interpolation import (
    affine_transform,
    geometric_transform,
    map_coordinates,
    rotate,
    shift,
    spline_filter,
    spline_filter1d,
    zoom,
)
from ._patch import patch

__all__ = [
    "affine_transform",
    "geometric_transform",
    "map_coordinates",
    "patch",
    "rotate",
    "shift",
    "spline_filter",
    "spline_filter1d",
    "zoom",
]
