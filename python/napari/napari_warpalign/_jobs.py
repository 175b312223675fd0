"""The computations of the widgets, without Qt. They run in threads."""

from dataclasses import dataclass, field

import numpy as np

import warpalign
from warpalign import ndimage

from ._placing import pixel_sizes

_LUMINANCE = np.array([0.2126, 0.7152, 0.0722])  # ITU-R BT.709
_EQUAL = 1e-6
# Motions that keep lengths, which must therefore be those of the world.
_RIGID = ("translation", "rigid", "rotation")


class Cancelled(Exception):
    """The user cancelled."""


@dataclass
class Picture:
    """An image or a volume of a layer: its array, which may be lazy, and its place in the world.

    `colours`: whether the last axis holds colours.
    """

    array: object
    world: np.ndarray
    colours: bool = False

    @property
    def ndim(self):
        return len(self.world) - 1

    def read(self):
        """The pixels, with colours."""
        return np.asarray(self.array)

    def gray(self, pixels):
        """The pixels as a registration takes them."""
        if not self.colours:
            return pixels
        gray = pixels[..., :3] @ _LUMINANCE
        return np.rint(gray).astype(pixels.dtype) if pixels.dtype.kind in "iu" else gray


@dataclass
class Pair:
    """What a registration of two layers starts from.

    `start`: 'search', 'layers' (the places of the layers in the world), or 'points', for which
    `points` are pixels of the reference and of the moving image.
    """

    reference: Picture
    moving: Picture
    motion: str = "similarity"
    modality: str = "same"
    start: str = "search"
    points: tuple = ()
    options: dict = field(default_factory=dict)


@dataclass
class Registered:
    """The result for a pair, in pixels of the layers.

    `matrix`: the affine matrix from the reference to the moving image; None for a homography or a
    deformation. `shift`: where the reference's centre lies, relative to that of the moving image.
    """

    found: object
    transform: object
    matrix: np.ndarray | None
    shift: np.ndarray
    aligned: np.ndarray | None = None
    residuals: np.ndarray | None = None


def _square(pixels, world, size):
    """The image with square pixels of a size, and the matrix from them to its own pixels."""
    factors = size / pixel_sizes(world)
    if np.abs(factors - 1).max() < _EQUAL:
        return pixels, np.eye(len(world))
    shape = [max(16, round(length / factor)) for length, factor in zip(pixels.shape, factors)]
    # Larger pixels are means of what they cover.
    sigma = [max(0.0, factor - 1) / 2 for factor in factors]
    if any(sigma):
        pixels = _smoothed(np.asarray(pixels, np.float32), sigma)
    matrix = np.diag([*factors, 1.0])
    return ndimage.affine_transform(np.asarray(pixels, np.float32), matrix,
                                    output_shape=tuple(shape), mode="mirror"), matrix


def _smoothed(array, sigma):
    """A Gaussian along each axis."""
    for axis, width in enumerate(sigma):
        if width <= 0:
            continue
        radius = int(np.ceil(3 * width))
        weights = np.exp(-0.5 * (np.arange(-radius, radius + 1) / width)**2)
        weights /= weights.sum()
        padded = np.pad(array, [(radius, radius) if i == axis else (0, 0)
                                for i in range(array.ndim)], mode="symmetric")
        array = sum(weight * np.take(padded, range(k, k + array.shape[axis]), axis=axis)
                    for k, weight in enumerate(weights)).astype(np.float32)
    return array


def _sizes(pair):
    """The sizes of square pixels in which both images are compared."""
    fixed, moved = (pixel_sizes(picture.world) for picture in (pair.reference, pair.moving))
    if pair.motion in _RIGID:
        return (fixed.min(),) * 2
    return fixed.min(), moved.min()


def _initial(pair, fixed, moved):
    """The transform that a registration starts from, for pixels of `fixed` and `moved` (matrices to
    the pixels of the layers), or None."""
    if pair.start == "layers":
        matrix = np.linalg.inv(pair.moving.world) @ pair.reference.world
        return np.linalg.inv(moved) @ matrix @ fixed
    if pair.start == "points":
        reference, moving = pair.points
        if len(reference) != len(moving) or not len(reference):
            raise ValueError(f"the layers of points have {len(reference)} and {len(moving)} "
                             "points: give as many in both, in the same order")
        return tuple((points - matrix[:-1, -1]) @ np.linalg.inv(matrix[:-1, :-1]).T
                     for points, matrix in ((reference, fixed), (moving, moved)))
    return None


def _registered(pair, reference, moving):
    if pair.reference.ndim == 3:
        initial = _initial(pair, np.eye(4), np.eye(4))
        found = warpalign.register_volume(
            reference, moving, motion=pair.motion, modality=pair.modality, initial=initial,
            spacing=pixel_sizes(pair.reference.world),
            moving_spacing=pixel_sizes(pair.moving.world), **pair.options)
        return found, np.eye(4), np.eye(4)
    size, other = _sizes(pair)
    reference, fixed = _square(reference, pair.reference.world, size)
    moving, moved = _square(moving, pair.moving.world, other)
    found = warpalign.register(reference, moving, motion=pair.motion, modality=pair.modality,
                               initial=_initial(pair, fixed, moved), **pair.options)
    return found, fixed, moved


def register(pair, *, aligned=False, residuals=False, cancelled=lambda: False):
    """Register a pair. Raises Cancelled between the steps if `cancelled()`."""
    pixels = [picture.read() for picture in (pair.reference, pair.moving)]
    grays = [picture.gray(one) for picture, one in zip((pair.reference, pair.moving), pixels)]
    _stop_if(cancelled)
    found, fixed, moved = _registered(pair, *grays)
    _stop_if(cancelled)
    affine = warpalign.Transform.affine
    transform = found.transform
    if not (np.allclose(fixed, np.eye(len(fixed))) and np.allclose(moved, np.eye(len(moved)))):
        transform = affine(moved) @ transform @ affine(np.linalg.inv(fixed))
    matrix = transform.matrix if found.deformation is None else None
    if matrix is not None and not np.allclose(matrix[-1], np.eye(len(matrix))[-1]):
        matrix = None
    shape = grays[0].shape
    centres = [(np.array(gray.shape) - 1) / 2 for gray in grays]
    result = Registered(found, transform, matrix,
                        transform.points(centres[:1])[0] - centres[1])
    if found.reliable and (aligned or matrix is None):
        result.aligned = transform.warp(pixels[1], output_shape=shape)
        _stop_if(cancelled)
    if found.reliable and residuals:
        result.residuals = _residuals(grays[0], transform.warp(
            grays[1].astype(np.float32), output_shape=shape, cval=np.nan, missing="spread"))
    return result


def _residuals(reference, aligned):
    """The difference after the gain and offset that fit best; NaN where the images do not
    overlap."""
    reference = np.asarray(reference, np.float64)
    common = np.isfinite(aligned) & np.isfinite(reference)
    if common.sum() < 2:
        return np.full(reference.shape, np.nan, np.float32)
    gain, offset = np.polyfit(aligned[common], reference[common], 1)
    return (reference - (gain * aligned + offset)).astype(np.float32)


def _stop_if(cancelled):
    if cancelled():
        raise Cancelled


class _WatchedFrames:
    """Frames that report each that is read, and raise Cancelled once the user wants that."""

    def __init__(self, frames, progress, cancelled):
        self._frames, self._progress, self._cancelled = frames, progress, cancelled

    def __len__(self):
        return len(self._frames)

    def __iter__(self):
        for number in range(len(self._frames)):
            _stop_if(self._cancelled)
            frame = np.asarray(self._frames[number])
            self._progress(number + 1)
            yield frame


def register_stack(frames, *, to="first", motion="translation", progress=lambda number: None,
                   cancelled=lambda: False):
    """Find the drift of frames, an array of shape (frames, rows, columns), NumPy's or lazy."""
    watched = _WatchedFrames(frames, progress, cancelled)
    return warpalign.register_stack(watched, to=to, motion=motion, progress=False)


def corrected(frames, stack, *, progress=lambda number: None, cancelled=lambda: False):
    """The frames without their drift; unreliable frames stay as they are.

    Of a Dask array, the result is one, too, which warps a frame when it is shown.
    """
    shape = tuple(frames.shape[1:])
    transforms = [transform if reliable else None for transform, reliable in
                  zip(stack.transforms, stack.drift["reliable"])]
    if hasattr(frames, "dask"):
        return _corrected_lazily(frames, transforms)
    result = np.empty(frames.shape, frames.dtype)
    for number, transform in enumerate(transforms):
        _stop_if(cancelled)
        result[number] = _warped(np.asarray(frames[number]), transform, shape)
        progress(number + 1)
    return result


def _warped(frame, transform, shape):
    return frame if transform is None else transform.warp(frame, output_shape=shape)


def _corrected_lazily(frames, transforms):
    import dask.array

    def warp(block, block_info):
        first = block_info[0]["array-location"][0][0]
        return np.stack([_warped(frame, transforms[first + number], frame.shape)
                         for number, frame in enumerate(block)])

    frames = frames.rechunk({0: 1, 1: -1, 2: -1})
    return dask.array.map_blocks(warp, frames, dtype=frames.dtype, meta=np.empty((0, 0, 0),
                                                                                 frames.dtype))
