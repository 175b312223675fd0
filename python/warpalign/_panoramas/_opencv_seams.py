"""Blends photographs along seams, by OpenCV's stitching module."""

from dataclasses import replace

import numpy as np

from .._geometry import need
from ._rendering import Spline, coordinates, strips

_SEAM_PIXELS = 1e5  # of a photograph while its seams are searched, as OpenCV's stitcher takes


def opencv():
    """The module cv2. Raises ImportError that says how to get it."""
    cv2 = need("cv2", "opencv", "seams='opencv'")
    if not hasattr(cv2, "detail_GraphCutSeamFinder"):
        raise ImportError("seams='opencv' needs OpenCV's stitching module, which this build of cv2 "
                          "does not have: pip install 'warpalign[opencv]'")
    return cv2


def check(dtype):
    """Raise unless OpenCV is there and takes the pixels."""
    opencv()
    if dtype != np.uint8:
        raise ValueError(f"seams='opencv' needs photographs of uint8, not {dtype}; choose "
                         "seams='feather'")


def _piece(layout, frame, spline, gain, rows, columns):
    """A box of the panorama from one photograph: float32 with 3 channels, and its mask."""
    shape = (rows.stop - rows.start, columns.stop - columns.start)
    image, mask = np.zeros((*shape, 3), np.float32), np.zeros(shape, np.uint8)
    for part in strips(rows, columns):
        at, weight = coordinates(layout, frame, spline.shape, part, columns)
        inside = slice(part.start - rows.start, part.stop - rows.start)
        image[inside] = np.clip(gain * spline.at(at), 0, 255)  # gray becomes 3 equal channels
        mask[inside] = 255 * (weight > 0)
    return image, mask


def _reduced(layout, factor):
    return replace(layout, scale=layout.scale / factor, left=layout.left / factor,
                   top=layout.top / factor,
                   shape=tuple(max(1, round(length / factor)) for length in layout.shape))


def render(layout, frames, read, gains, channels, dtype, device, advance):
    """The panorama cut at seams by minimal cuts of a graph, and blended in bands of frequency.

    Parameters and result: see _rendering.render(); `dtype` is uint8.
    """
    cv2 = opencv()
    typical = np.median([np.prod([edge.stop - edge.start for edge in box])
                         for frame in frames for box in layout.boxes(frame)])
    factor = max(1.0, np.sqrt(typical / _SEAM_PIXELS))
    small = _reduced(layout, factor)
    pieces, images, corners, masks = [], [], [], []
    for number, frame in enumerate(frames):
        spline = Spline(read(number), device)
        for rows, columns in small.boxes(frame):
            image, mask = _piece(small, frame, spline, gains[number], rows, columns)
            pieces.append((number, rows, columns))
            images.append(image)
            corners.append((columns.start, rows.start))
            masks.append(mask)
    found = cv2.detail_GraphCutSeamFinder("COST_COLOR").find(images, corners, masks)
    seams = [mask.get() if hasattr(mask, "get") else mask for mask in found]
    # What each photograph contributes, of the whole reduced panorama.
    blender = cv2.detail_MultiBandBlender()
    blender.prepare((0, 0, layout.shape[1], layout.shape[0]))
    for number, frame in enumerate(frames):
        spline = Spline(read(number), device)
        chosen = np.zeros(small.shape, np.uint8)
        for (owner, rows, columns), seam in zip(pieces, seams):
            if owner == number:
                chosen[rows, columns] = np.maximum(chosen[rows, columns], seam)
        chosen = cv2.dilate(chosen, np.ones((3, 3), np.uint8))
        for rows, columns in layout.boxes(frame):
            image, mask = _piece(layout, frame, spline, gains[number], rows, columns)
            at = np.meshgrid(*(np.float32(np.arange(edge.start, edge.stop) / factor)
                               for edge in (columns, rows)))
            mask &= cv2.remap(chosen, *at, cv2.INTER_NEAREST, borderMode=cv2.BORDER_REPLICATE)
            blender.feed(np.rint(image).astype(np.int16), mask, (columns.start, rows.start))
        advance()
    image, mask = blender.blend(None, None)
    image, mask = (part.get() if hasattr(part, "get") else part for part in (image, mask))
    image = np.clip(image, 0, 255).astype(np.uint8)
    image[mask == 0] = 0
    return image if channels == 3 else image[..., 0].copy()
