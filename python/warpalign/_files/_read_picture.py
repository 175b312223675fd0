"""Pictures: PNG, JPEG, WebP, BMP and PNM, turned upright as EXIF tells."""

import re
import warnings

import numpy as np

from .._geometry import need
from ._image_file import ImageFile
from ._lazy import LazyArray
from ._refusal import check_level, number_of_scene, refuse

_FRAMED = ("PNG", "WEBP")
_TURNED = range(5, 9)  # EXIF's orientations that exchange rows and columns
# The type and the number of channels of Pillow's modes; others are converted to RGB.
_MODES = {"L": (np.uint8, 1), "I;16": (np.uint16, 1), "I;16B": (np.uint16, 1),
          "I": (np.int32, 1), "F": (np.float32, 1), "RGB": (np.uint8, 3), "RGBA": (np.uint8, 4)}
_CONVERTED = {"1": "L", "LA": "RGBA", "PA": "RGBA", "La": "RGBA", "RGBa": "RGBA", "RGBX": "RGB"}


def _mode(image):
    if image.mode in _MODES:
        return image.mode
    if image.mode == "P":
        return "RGBA" if "transparency" in image.info else "RGB"
    return _CONVERTED.get(image.mode, "RGB")


def _upright(operations, image, mode):
    image = image if image.mode == mode else image.convert(mode)
    return np.asarray(operations.exif_transpose(image))


def _has_long_colours(start):
    """Whether a PNG or PPM has colours of more than 8 bits."""
    if start.startswith(b"\x89PNG"):
        return len(start) > 26 and start[24] == 16 and start[25] in (2, 6)
    if start[:2] in (b"P3", b"P6"):
        numbers = re.sub(rb"#[^\n]*", b"", start).split()
        return len(numbers) > 3 and numbers[3].isdigit() and int(numbers[3]) > 255
    return False


def _warn_of_lost_bits(path, start):
    """Pillow reads 8 of the 16 bits of colours."""
    if _has_long_colours(start):
        warnings.warn(f"{path} has colours of 16 bits, of which the upper 8 are read",
                      stacklevel=5)


def read(path, scene, level):
    pillow = need("PIL.Image", "pillow", f"reading {path}")
    operations = need("PIL.ImageOps", "pillow", f"reading {path}")
    number_of_scene(scene, [""])
    check_level(level, 1)
    with open(path, "rb") as file:
        _warn_of_lost_bits(path, file.read(512))
    try:
        with pillow.open(path) as image:
            mode, frames = _mode(image), getattr(image, "n_frames", 1)
            size, orientation = image.size, image.getexif().get(0x0112, 1)
            info, frames = dict(image.info), frames if image.format in _FRAMED else 1
            exif = image.getexif()
    except pillow.DecompressionBombError as error:
        refuse(f"it is too large ({error}); set PIL.Image.MAX_IMAGE_PIXELS to read it")
    kind, channels = _MODES[mode]
    if mode == "I" and image.format == "PPM":  # PGM of 16 bits
        kind = np.uint16
    columns, rows = size[::-1] if orientation in _TURNED else size

    def whole():
        with pillow.open(path) as image:
            if frames == 1:
                return _upright(operations, image, mode).astype(kind, copy=False)
            found = []
            for number in range(frames):
                image.seek(number)
                found.append(_upright(operations, image, mode))
            return np.stack(found)

    shape = (rows, columns) + ((channels,) if channels > 1 else ())
    axes = ("y", "x") + (("c",) if channels > 1 else ())
    if frames > 1:
        shape, axes = (frames, *shape), ("t", *axes)
    if 0x0112 in exif:
        del exif[0x0112]  # the pixels are upright now
    kept = {name: info[name] for name in ("dpi", "icc_profile") if name in info}
    if len(exif):
        kept["exif"] = exif.tobytes()
    return ImageFile(path, "picture", LazyArray.of_whole(shape, kind, whole), axes,
                     channels=("red", "green", "blue", "alpha")[:channels] if channels > 1 else (),
                     metadata={"mode": mode, "info": info}, georeference=kept)
