"""Results of registrations."""

import base64
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ._core import Device
from ._foreign import as_array, to_numpy
from ._results import OnDevice


def swap_axes(matrix):
    """A homogeneous 3 x 3 matrix on (x, y, 1) from one on (row, column, 1), and the reverse."""
    return np.asarray(matrix)[np.ix_([1, 0, 2], [1, 0, 2])]


class Chance(NamedTuple):
    """A correlation against what wrong places reach by chance.

    Attributes
    ----------
    deviations : float
        By how many standard deviations it differs from 0.
    by_chance : float
        What the best of all wrong places reaches once in 10 000 searches.
    rival : float
        Deviations of the best other place that was found, as a fraction of these.
    """

    deviations: float
    by_chance: float
    rival: float


@dataclass(frozen=True, eq=False)
class Alignment:
    """One possible alignment of two images.

    Attributes
    ----------
    matrix : ndarray, shape (3, 3)
        From pixels of the reference, (row, column, 1), to pixels of the moving image. It is what
        :func:`warpalign.ndimage.affine_transform` (and SciPy's) takes to bring the moving image
        onto the reference. Of a homography, the result is divided by its last number, and
        :meth:`Registration.warp` brings the image onto the reference.
    matrix_xy : ndarray, shape (3, 3)
        The same for (x, y, 1), as OpenCV and scikit-image take it.
    motion : {'similarity', 'rigid', 'rotation', 'translation', 'affine', 'homography'}
        What the matrix is. With ``motion='auto'`` it is what was chosen. A similarity where affine
        or homography was asked for means that these could not be fitted.
    rotation_deg : float
        In degrees, as are the two below, of the similarity that is nearest about the reference's
        centre. Positive: the moving image's content is rotated counter-clockwise as displayed.
    scale : float
        Above 1: the content is larger in the moving image.
    translation : tuple of 2 floats
        Where the reference's centre lies in the moving image, relative to its centre, in pixels:
        (rows, columns).
    translation_xy : tuple of 2 floats
        The same as (x, y).
    confidence : float
        0 to 1: how far the result is above what wrong places reach by chance. Calibrated on
        unrelated pairs, but not a probability; from 0.5 on a result is ``reliable``.
    correlation : float
        The normalized correlation over the overlap; with ``fast``, the height of the peak.
    significance : float
        The correlation in standard deviations of that of unrelated images.
    overlap : float
        Fraction of the reference in common; 0 with ``fast``.
    refined : bool
        Whether the refinement converged.
    modality : {'same', 'other'}
        Whether grey levels were compared, or directions of edges.
    proposed_by : {'shifts', 'log-polar', 'grid', 'windows', 'gradient-field', 'features'}
        What found the place: a correlation of shifts, of spectra in log-polar coordinates, of
        images on a grid of rotations and scales, of windows, or of directions of edges, or local
        features of simulated views. None for a stack's first frame.
    chance : Chance or None
        The correlation against that of wrong places; None where it is beyond doubt without, and
        with ``fast``.
    """

    matrix: np.ndarray
    motion: str
    rotation_deg: float
    scale: float
    translation: tuple[float, float]
    confidence: float
    correlation: float
    significance: float
    overlap: float
    refined: bool
    modality: str
    proposed_by: str | None
    chance: Chance | None

    @property
    def matrix_xy(self):
        return swap_axes(self.matrix)

    @property
    def translation_xy(self):
        return self.translation[::-1]


def embedded(matrix, ndim):
    """The transform of the first two axes of an array of `ndim` axes, of which the others stay."""
    whole = np.eye(ndim + 1)
    whole[:2, :2] = matrix[:2, :2]
    whole[:2, -1] = matrix[:2, 2]
    return whole


def alignment_fields(found):
    """The fields of an Alignment from the extension module's dictionary."""
    names = ("motion", "rotation_deg", "scale", "confidence", "correlation", "significance",
             "overlap", "refined", "modality", "proposed_by")
    fields = {name: found[name] for name in names}
    fields["chance"] = None if found["chance"] is None else Chance(*found["chance"])
    fields["matrix"] = swap_axes(np.array(found["matrix"]).reshape(3, 3))
    fields["translation"] = tuple(found["translation"][::-1])
    return fields


def parameters_of(matrix, reference_shape, moving_shape):
    """Rotation, scale and translation of a similarity, given in array axes."""
    a, b = matrix[1, 1], matrix[1, 0]
    d, e = matrix[0, 1], matrix[0, 0]
    cosine, sine = (a + e) / 2, (b - d) / 2
    centre = (np.array(reference_shape) - 1) / 2
    landing = matrix[:2, :2] @ centre + matrix[:2, 2] - (np.array(moving_shape) - 1) / 2
    return {
        "rotation_deg": math.degrees(math.atan2(sine, cosine)),
        "scale": math.hypot(cosine, sine),
        "translation": (float(landing[0]), float(landing[1])),
    }


@dataclass(frozen=True, eq=False, repr=False)
class Registration(OnDevice, Alignment):
    """The best alignment of two images; an :class:`Alignment` with what follows.

    Results can be pickled, and sent to other processes; what is unpickled has no picture.

    Attributes
    ----------
    reliable : bool
        Whether ``confidence`` is at least 0.5.
    runners_up : tuple of Alignment
        The next best alignments, not refined; empty unless ``candidates`` asked for them.
    tried : tuple of str
        What has looked for places, in order of first use; see ``proposed_by``.
    places_searched : float
        How many independent wrong places (coordinates, angles and scales) the search might have
        taken for the right one; 0 with ``fast``.
    timings : dict of str to float
        Device time of each stage in milliseconds; empty unless ``collect_timings`` asked for it.
    reference_shape, moving_shape : tuple of 2 ints
        Shapes of the images.
    """

    reliable: bool
    runners_up: tuple[Alignment, ...]
    tried: tuple[str, ...]
    places_searched: float
    timings: dict[str, float]
    reference_shape: tuple[int, int]
    moving_shape: tuple[int, int]
    _device: Device
    _images: tuple | None = None  # the pair, for its picture

    def warp(self, image, *, order=3, mode="constant", cval=0.0, output=None):
        """Bring the moving image, or another of its shape, onto the reference.

        Parameters
        ----------
        image : array_like
            Of shape ``moving_shape``, with further axes (such as channels) after these two. Arrays
            on the registration's device stay there, but for homographies of arrays with further
            axes, which go by way of the host.
        order : int, optional
            The order of the spline, 0 to 5. The default is 3.
        mode : str, optional
            What lies beyond the edges, as :func:`warpalign.ndimage.affine_transform` takes it.
            The default is ``'constant'``.
        cval : scalar, optional
            The value beyond the edges for ``'constant'`` and ``'grid-constant'``. The default
            is 0.
        output : array or dtype, optional
            The array in which to place the result, or its dtype.

        Returns
        -------
        ndarray
            Of shape ``reference_shape`` and the further axes, of the image's dtype; of the library
            of an image on a device.

        Raises
        ------
        ValueError
            The image has another shape, or is on another device.
        RuntimeError
            ``order``, ``mode`` or a dtype is not supported (SciPy's message).
        warpalign.Error
            The device cannot do it, or cannot be opened where the result was unpickled.
        """
        from . import ndimage
        from .ndimage._planes import transform_planes

        image = as_array(image)
        if tuple(image.shape[:2]) != self.moving_shape:
            raise ValueError(
                f"image must have the moving image's shape {self.moving_shape}, not {image.shape}")
        if self.motion == "homography":
            return transform_planes(
                image, self.matrix, self.reference_shape, output=output, order=order, mode=mode,
                cval=cval, device=self._opened())
        return ndimage.affine_transform(
            image, embedded(self.matrix, image.ndim),
            output_shape=self.reference_shape + tuple(image.shape[2:]), output=output, order=order,
            mode=mode, cval=cval, device=self._opened())

    def _rows(self):
        rows, columns = self.translation
        return [
            ("motion", self.motion),
            ("rotation", f"{self.rotation_deg:.4f}\N{DEGREE SIGN}"),
            ("scale", f"{self.scale:.6f}"),
            ("translation (rows, columns)", f"{rows:.3f}, {columns:.3f}"),
            ("confidence", f"{self.confidence:.3f}" + ("" if self.reliable else ", not reliable")),
        ]

    def __repr__(self):
        return "<Registration: " + "; ".join(f"{name} {text}" for name, text in self._rows()) + ">"

    def _repr_png_(self):
        """The reference in green and the warped moving image in magenta, as a PNG.

        None where the images were not kept.
        """
        if self._images is None:
            return None
        from ._picture import overlay, png

        reference, moving = (to_numpy(image) for image in self._images)
        return png(overlay(reference, moving, self.matrix, self._opened()))

    def _repr_html_(self):
        cells = "".join(f"<tr><th>{name}</th><td>{text}</td></tr>" for name, text in self._rows())
        picture = self._repr_png_()
        image = ""
        if picture is not None:
            data = base64.b64encode(picture).decode()
            image = f'<img alt="overlay" src="data:image/png;base64,{data}">'
        return f"<div><table>{cells}</table>{image}</div>"


def registration_of(found, reference_shape, moving_shape, device):
    """A Registration from the extension module's dictionary."""
    return Registration(
        **alignment_fields(found),
        reliable=found["reliable"],
        runners_up=tuple(Alignment(**alignment_fields(other)) for other in found["runners_up"]),
        tried=tuple(found["tried"]),
        places_searched=found["places_searched"],
        timings=dict(found["timings"]),
        reference_shape=tuple(reference_shape),
        moving_shape=tuple(moving_shape),
        _device=device,
    )
