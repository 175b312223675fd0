"""Pictures for notebooks: overlays, and PNG without a library."""

import struct
import zlib

import numpy as np

_MAX_SIDE = 768


def png(pixels):
    """Encode an image of uint8 and shape (rows, columns, 3)."""
    height, width, _ = pixels.shape
    rows = np.zeros((height, 1 + 3 * width), np.uint8)  # each begins with its filter, none
    rows[:, 1:] = pixels.reshape(height, -1)

    def chunk(name, data):
        checksum = zlib.crc32(name + data)
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", checksum)

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = zlib.compress(rows.tobytes(), 6)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data)
            + chunk(b"IEND", b""))


def _stretched(image):
    """To 0 ... 255, such that few pixels saturate."""
    image = np.nan_to_num(np.asarray(image, np.float32), posinf=0, neginf=0)
    dark, bright = np.percentile(image, (0.5, 99.5))
    if bright <= dark:
        return np.zeros(image.shape, np.uint8)
    return np.clip((image - dark) * (255 / (bright - dark)), 0, 255).astype(np.uint8)


def overlay(reference, moving, matrix, device):
    """The reference in green, the moving image on it in magenta; gray where they agree."""
    from . import ndimage

    reference = np.asarray(reference)
    moving = np.nan_to_num(np.asarray(moving, np.float32), posinf=0, neginf=0)
    step = -(-max(reference.shape) // _MAX_SIDE)
    small = reference[::step, ::step]
    reduced = np.array(matrix) @ np.diag([step, step, 1.0])
    warped = ndimage.affine_transform(
        moving, reduced, output_shape=small.shape, order=1, device=device)
    green, magenta = _stretched(small), _stretched(warped)
    return np.stack([magenta, green, magenta], axis=-1)
