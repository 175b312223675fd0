"""NIfTI and the other formats of nibabel."""

import numpy as np

from .._geometry import Geometry, need
from ._image_file import ImageFile
from ._lazy import LazyArray
from ._refusal import check_level, number_of_scene, refuse

_AXES = ("x", "y", "z", "t", "c")


def read(path, scene, level):
    nibabel = need("nibabel", "nifti", f"reading {path}")
    number_of_scene(scene, [""])
    check_level(level, 1)
    image = nibabel.load(path)
    if len(image.shape) < 2:
        refuse(f"it has the shape {image.shape}")
    axes, shape = list(_AXES[:len(image.shape)]), list(image.shape)
    if len(shape) > len(_AXES):
        refuse(f"it has {len(shape)} axes; up to 5 are supported")
    proxy = image.dataobj
    plain = getattr(proxy, "slope", 1.0) == 1.0 and getattr(proxy, "inter", 0.0) == 0.0
    dtype = np.dtype(image.get_data_dtype())
    if dtype.names:  # colours
        refuse("its voxels are colours; numbers are supported")
    if plain and not str(path).endswith(("gz", "bz2", "zst")):
        array = np.asanyarray(proxy).T  # a memory map
    else:
        array = LazyArray(shape[::-1], dtype if plain else np.float64,
                          lambda index: np.asarray(proxy[tuple(index[::-1])]).T)
    length, time = _units_of(image)
    to_millimetres = np.diag([length, length, length, 1.0])
    geometry = Geometry._of_ras(image.shape, to_millimetres @ np.asarray(image.affine, np.float64))
    zooms = [float(zoom) for zoom in image.header.get_zooms()]
    zooms[:3] = [zoom * length for zoom in zooms[:3]]
    if len(shape) == 2:
        geometry = Geometry(geometry.shape[1:], spacing=geometry.spacing[:2])
    return ImageFile(path, "NIfTI", array, axes[::-1], spacing=dict(zip(axes, zooms)),
                     units={**dict.fromkeys("xyz", "millimeter"), "t": time},
                     geometry=geometry, metadata={"header": image.header, "affine": image.affine},
                     georeference=image.header)


def _units_of(image):
    """The unit of length in millimetres, and the name of the unit of time."""
    if not hasattr(image.header, "get_xyzt_units"):
        return 1.0, None
    length, time = image.header.get_xyzt_units()
    return ({"meter": 1000.0, "micron": 0.001}.get(length, 1.0),
            {"sec": "second", "msec": "millisecond", "usec": "microsecond"}.get(time))
