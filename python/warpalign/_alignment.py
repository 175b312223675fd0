"""Results of registrations."""

import base64
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ._axes import embedded, swap_axes
from ._core import Device
from ._foreign import to_numpy, warpable
from ._results import OnDevice
from ._deformation import Deformation, deformation_of
from ._docs import warps
from ._transform import Transform


class NullTest(NamedTuple):
    """The null test of a correlation: how it compares with the correlations of wrong poses.

    Attributes
    ----------
    deviations : float
        The z-score of the correlation: its value in standard deviations of the correlations of
        wrong poses.
    by_chance : float
        The z-score that the best wrong pose exceeds once in 10 000 searches.
    rival : float
        The second-best ratio: the z-score of the best other candidate, as a fraction of
        ``deviations``. Near 1, the result is ambiguous.
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
        Maps pixels of the reference, (row, column, 1), to pixels of the moving image.
        :func:`warpalign.ndimage.affine_transform` and SciPy's take it to warp the moving image to
        the reference. If ``motion`` is ``'homography'``, divide the mapped coordinates by their
        last component, and warp images with :meth:`Registration.warp`.
    matrix_xy : ndarray, shape (3, 3)
        The same matrix for (x, y, 1), as OpenCV and scikit-image take it.
    transform : Transform
        The same as a :class:`Transform`: composed, inverted, applied to points, saved.
    motion : str
        The kind of transform: ``'similarity'``, ``'rigid'``, ``'rotation'``, ``'translation'``,
        ``'affine'``, ``'homography'`` or ``'deformable'``. With ``motion='auto'``, the one that was chosen. It is
        ``'similarity'`` if an affine transform or a homography could not be fitted.
    rotation_deg : float
        Rotation in degrees; positive if the content of the moving image is rotated
        counter-clockwise as displayed. For an affine transform or a homography, rotation, scale
        and translation are those of the nearest similarity about the centre of the reference.
    scale : float
        Scale factor; above 1 if the content is larger in the moving image.
    translation : tuple of 2 floats
        The position of the reference's centre in the moving image, relative to the centre of the
        moving image, in pixels: (rows, columns).
    translation_xy : tuple of 2 floats
        The same as (x, y).
    confidence : float
        0 to 1: how far the result exceeds what wrong poses reach by chance. It is calibrated on
        related and unrelated pairs, but is not a probability. A result is ``reliable`` from 0.5.
    correlation : float
        The normalized correlation over the overlap; with ``fast``, the height of the peak.
    significance : float
        ``atanh(correlation)`` times the square root of the number of coarse pixels in the overlap;
        with ``fast``, the height of the peak in standard deviations of that of unrelated images.
    overlap : float
        The fraction of the reference that the moving image covers; 0 with ``fast``.
    refined : bool
        Whether the refinement converged.
    modality : {'same', 'other'}
        What the search compared: intensities (``'same'``) or gradient orientations
        (``'other'``).
    proposed_by : str
        The proposer that found the pose: correlation over shifts (``'shifts'``), log-polar spectra
        (``'log-polar'``), a grid of rotations and scales (``'grid'``), template matching of patches
        (``'windows'``), gradient orientations (``'gradient-field'``), feature matching under
        simulated tilts (``'features'``), point sources (``'points'``), or the argument ``initial``
        (``'initial'``). None for the first frame of a stack.
    chance : NullTest or None
        The null test of the correlation. None with ``fast``, and if the result is conclusive
        without it.
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
    chance: NullTest | None

    @property
    def matrix_xy(self):
        return swap_axes(self.matrix)

    @property
    def transform(self):
        # Rounding may leave a matrix further from its model than a Transform allows.
        kind = "homography" if self.motion == "homography" else "affine"
        return getattr(Transform, kind)(self.matrix)

    @property
    def translation_xy(self):
        return self.translation[::-1]


def alignment_fields(found):
    """The fields of an Alignment from the extension module's dictionary."""
    names = ("motion", "rotation_deg", "scale", "confidence", "correlation", "significance",
             "overlap", "refined", "modality", "proposed_by")
    fields = {name: found[name] for name in names}
    fields["chance"] = None if found["chance"] is None else NullTest(*found["chance"])
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
    """The best alignment of two images: an :class:`Alignment` with further attributes.

    Results can be pickled and sent to other processes. An unpickled result has no picture.

    Attributes
    ----------
    reliable : bool
        Whether ``confidence`` is at least 0.5.
    ambiguous : bool
        Whether the images match at other shifts about as well, which alone keeps ``confidence``
        below 0.5. This is the shift of the smallest motion among those that match equally well;
        ``runners_up`` has others, whatever ``candidates`` is.
    period : tuple of tuples of 2 floats
        For an ambiguous result the vectors (rows, columns) by which the texture repeats itself, in
        pixels of the reference, the shortest first: two of a lattice, one of stripes, or none.
    undetermined_direction : tuple of 2 floats or None
        For an ambiguous result the unit vector (rows, columns) in the reference along which
        structure such as parallel lines leaves the shift open.
    runners_up : tuple of Alignment
        The next best alignments, not refined. Empty unless the option ``candidates`` is above 1.
    tried : tuple of str
        The proposers that ran, in order of first use; see ``proposed_by``.
    places_searched : float
        The number of trials: how many independent poses (translations, angles and scales) the
        search could have taken for the right one; 0 with ``fast``.
    timings : dict of str to float
        Device time of each stage in milliseconds. Empty unless ``collect_timings`` is set.
    reference_shape, moving_shape : tuple of 2 ints
        Shapes of the images.
    deformation : Deformation or None
        With ``motion='deformable'``, the deformation of a reliable result, which :attr:`transform`
        and :meth:`warp` include; ``matrix`` and others describe the affine transform before it.
    missing : tuple of 2 ints
        How many pixels of the reference and of the moving image were ignored because they are NaN,
        infinite or equal to ``nodata``.
    """

    reliable: bool
    ambiguous: bool
    period: tuple[tuple[float, float], ...]
    undetermined_direction: tuple[float, float] | None
    runners_up: tuple[Alignment, ...]
    tried: tuple[str, ...]
    places_searched: float
    timings: dict[str, float]
    reference_shape: tuple[int, int]
    moving_shape: tuple[int, int]
    _device: Device
    deformation: Deformation | None = None
    missing: tuple[int, int] = (0, 0)
    _images: tuple | None = None  # the pair, for its picture
    _geometries: tuple = (None, None)  # of the reference and the moving image

    @property
    def transform(self):
        found = super().transform if self.deformation is None else self.deformation.transform
        return with_geometries(found, self._geometries)

    @warps
    def warp(self, image, *, order=3, mode="constant", cval=0.0, missing=None, nodata=None,
             weights=False, precision="single", antialias=False, labels=False, output=None):
        """Warp the moving image, or another image of its shape, to the reference.

        Parameters
        ----------
        image : array_like
            An image of shape ``moving_shape``, optionally followed by further axes such as
            channels, or the path of a file with its axes in any order. An array on the
            registration's device stays there; only for a homography, an array with further axes is
            copied through the host.
        %(warping)s
        %(antialias)s
        %(labels)s
        output : array or dtype, optional
            The array in which to place the result, or its dtype.

        Returns
        -------
        ndarray
            The warped image, of shape ``reference_shape`` plus the further axes and the image's
            dtype. An image on a device gives an array of the same library.
        weights : ndarray of float32
            With ``weights=True``: the known share of each result's support, from 0 to 1.

        Raises
        ------
        ValueError
            The image has another shape than ``moving_shape``, or is on another device; or all its
            samples are missing, or no sample can have the value `nodata`; or `antialias` is True
            for an order of 0, or for a homography or a deformation on a device that lacks double
            precision.
        RuntimeError
            ``order``, ``mode`` or a dtype is not supported (SciPy's message).
        warpalign.Error
            The computation failed, or the device of an unpickled result cannot be opened here.
        """
        from . import ndimage
        from .ndimage._missing import default_for
        from .ndimage._planes import transform_planes

        image, nodata = warpable(image, nodata, missing)
        if tuple(image.shape[:2]) != self.moving_shape:
            raise ValueError(
                f"image must have the moving image's shape {self.moving_shape}, not {image.shape}")
        options = {"output": output, "order": order, "mode": mode, "cval": cval,
                   "missing": default_for(missing, image, labels), "nodata": nodata,
                   "weights": weights, "antialias": antialias, "labels": labels,
                   "precision": precision, "device": self._opened()}
        if self.deformation is not None:
            return self.transform.warp(image, output_shape=self.reference_shape, **options)
        if self.motion == "homography":
            return transform_planes(image, self.matrix, self.reference_shape, **options)
        return ndimage.affine_transform(
            image, embedded(self.matrix, image.ndim),
            output_shape=self.reference_shape + tuple(image.shape[2:]), **options)

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

        None if the result does not keep the images.
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


def with_geometries(transform, geometries):
    """A transform that knows the geometry of both images, if both are known."""
    if any(geometry is None for geometry in geometries):
        return transform
    return Transform._of(transform._core, *geometries, transform._shape)


def _rows_first(vector):
    return None if vector is None else tuple(vector[::-1])


def registration_of(found, reference_shape, moving_shape, device):
    """A Registration from the extension module's dictionary."""
    return Registration(
        **alignment_fields(found),
        reliable=found["reliable"],
        ambiguous=found["ambiguous"],
        period=tuple(tuple(vector[::-1]) for vector in found["period"]),
        undetermined_direction=_rows_first(found["undetermined_direction"]),
        runners_up=tuple(Alignment(**alignment_fields(other)) for other in found["runners_up"]),
        tried=tuple(found["tried"]),
        places_searched=found["places_searched"],
        timings=dict(found["timings"]),
        reference_shape=tuple(reference_shape),
        moving_shape=tuple(moving_shape),
        deformation=deformation_of(found["deformation"], reference_shape),
        missing=tuple(found["missing"]),
        _device=device,
    )
