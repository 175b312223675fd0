"""Writes pictures: PNG, JPEG, WebP and BMP."""

import numpy as np

from .._geometry import need

_CHANNELS = {".png": (1, 3, 4), ".jpg": (1, 3), ".jpeg": (1, 3), ".webp": (3, 4), ".bmp": (1, 3)}


def picture(path, pixels):
    """Write an image of 8 bits a channel, or a gray PNG of 16."""
    pillow = need("PIL.Image", "pillow", "writing pictures")
    array, names = pixels.ordered(("y", "x", "c"))
    ending = path.suffix.lower()
    channels = array.shape[2] if "c" in names else 1
    wide = ending == ".png" and channels == 1 and array.dtype == np.uint16
    if array.dtype != np.uint8 and not wide:
        raise ValueError(f"{ending} holds pixels of uint8{' or gray uint16' * (ending == '.png')}, "
                         f"not {array.dtype}; convert them, or write .tif")
    if ending == ".webp" and channels == 1:
        array, channels = np.stack([array.reshape(array.shape[:2])] * 3, axis=2), 3
    if channels not in _CHANNELS[ending]:
        raise ValueError(f"{ending} holds {', '.join(map(str, _CHANNELS[ending]))} channels, not "
                         f"{channels}")
    array = array[..., 0] if channels == 1 and array.ndim == 3 else array
    kept = dict(pixels.image._georeference or {}) if pixels.image.format == "picture" else {}
    options = {name: value for name, value in kept.items()
               if (name, ending) not in ((("exif", ".bmp")), ("icc_profile", ".bmp"))}
    if channels == 1:
        options.pop("icc_profile", None)  # it may be one of colours
    if ending in (".jpg", ".jpeg"):
        options |= {"quality": 95, "subsampling": 0}
    if ending == ".webp":
        options["lossless"] = True
    pillow.fromarray(np.ascontiguousarray(array)).save(path, **options)
