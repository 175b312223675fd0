"""Overlay pictures for notebooks, and a PNG encoder."""

import struct
import zlib

import numpy as np

_MAX_SIDE = 768


def png(pixels):
    """Encode an image of uint8 and shape (rows, columns, 3)."""
    height, width, _ = pixels.shape
    rows = np.zeros((height, 1 + 3 * width), np.uint8)  # each row begins with its filter type, 0
    rows[:, 1:] = pixels.reshape(height, -1)

    def chunk(name, data):
        checksum = zlib.crc32(name + data)
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", checksum)

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = zlib.compress(rows.tobytes(), 6)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data)
            + chunk(b"IEND", b""))


def _stretched(image, common):
    """Scale an image to 0 ... 255 so that few pixels of the overlap saturate."""
    sample = image[common]
    dark, bright = np.percentile(sample, (0.5, 99.5)) if sample.size else (0, 0)
    gain = 255 / (bright - dark) if bright > dark else 0
    return np.clip(np.nan_to_num((image - dark) * gain), 0, 255).astype(np.uint8)


def overlay(reference, moving, matrix, device):
    """Overlay the reference in green and the warped moving image in magenta; gray if equal."""
    from .ndimage._planes import transform_planes

    step = -(-max(reference.shape) // _MAX_SIDE)
    green = np.asarray(reference[::step, ::step], np.float32)
    reduced = matrix @ np.diag([step, step, 1.0])
    magenta = transform_planes(
        np.asarray(moving, np.float32), reduced, green.shape, order=1, cval=np.nan, device=device)
    common = np.isfinite(green) & np.isfinite(magenta)
    green, magenta = _stretched(green, common), _stretched(magenta, common)
    return np.stack([magenta, green, magenta], axis=-1)
