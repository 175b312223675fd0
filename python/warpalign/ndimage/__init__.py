"""B-spline interpolation of arrays, with the interface of ``scipy.ndimage``.

Each function takes what SciPy's takes, and `device` by keyword. NumPy arrays go in and come out;
arrays on a device, such as CuPy's, PyTorch's or a :class:`warpalign.DeviceArray`, stay there.
Arithmetic is in single precision, also where arrays are float64.
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
