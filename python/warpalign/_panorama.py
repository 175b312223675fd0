"""Panoramas: photographs of a hand-held camera, joined to one picture."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ._axes import swap_axes
from ._devices import Device, open_device
from ._errors import Error
from ._panoramas import _opencv_seams, _rendering
from ._panoramas._gains import estimate_gains
from ._panoramas._layout import lay_out
from ._panoramas._pairs import Matcher
from ._panoramas._photographs import Photographs
from ._panoramas._search import PairSearch
from ._panoramas._surfaces import SURFACES
from ._progress import progress_bar
from ._results import OnDevice

_MODELS = ("auto", "rotation", "homography")
_PROJECTIONS = ("auto", *SURFACES)
_SEAMS = {"feather": _rendering.render, "opencv": _opencv_seams.render}


class PanoramaPair(NamedTuple):
    """Two photographs that were registered to each other.

    Attributes
    ----------
    reference, moving : int
        The numbers of the photographs.
    outcome : {'used', 'failed', 'unreliable', 'ambiguous', 'contradicted', 'apart'}
        Whether the pair determines cameras, and why not. ``'apart'``: it is accepted, but nothing
        connects it to the photographs that are placed.
    reason : str
        Why the pair is left out; empty if it is used.
    confidence : float
        The confidence of the registration, 0 to 1.
    correlation : float
        The correlation of the registration.
    residual : float
        The root mean square distance between the pair's homography and that of the cameras, in
        pixels of the moving photograph, over their overlap; NaN unless the pair was accepted and
        both photographs are placed.
    """

    reference: int
    moving: int
    outcome: str
    reason: str
    confidence: float
    correlation: float
    residual: float


class PanoramaCamera(NamedTuple):
    """The camera of a photograph.

    Attributes
    ----------
    rotation : ndarray, shape (3, 3), or None
        Maps directions in the panorama's axes (x to the right, y down, z towards the panorama's
        middle) to those in the camera's axes. None for the model ``'homography'``.
    focal_length : float or None
        In pixels of the photograph. The principal point is the photograph's centre. None for the
        model ``'homography'``.
    matrix : ndarray, shape (3, 3)
        Maps pixels of the photograph :attr:`Panorama.reference`, (row, column, 1), to pixels of
        this one, up to a factor.
    gain : float
        The factor of the photograph's gray levels in the panorama, which evens out the exposures.
    """

    rotation: np.ndarray | None
    focal_length: float | None
    matrix: np.ndarray
    gain: float


@dataclass(frozen=True, eq=False)
class Panorama(OnDevice):
    """The cameras of photographs and the picture that they make; :func:`panorama` makes it.

    Attributes
    ----------
    image : ndarray or None
        The panorama, of the type of the photographs; 0 where none lies. None without `fuse`.
    shape : tuple of 2 ints
        Its size: (rows, columns).
    cameras : list of PanoramaCamera or None
        The camera of each photograph; None for those that are not placed.
    pairs : list of PanoramaPair
        All pairs that were registered.
    placed : ndarray of bool, shape (n,)
        Which photographs are part of the panorama: the most that used pairs connect.
    left_out : list of str
        The names of the others: their paths, or ``'image 3'``.
    reference : int
        The photograph with the most used pairs.
    model : {'rotation', 'homography'}
        Whether the camera rotates about its centre, or the photographs show one plane.
    projection : {'spherical', 'cylindrical', 'planar'}
        What the picture shows.
    field_of_view : tuple of 2 floats, or None
        The angles that the picture covers, in degrees: (vertical, horizontal). None for the model
        ``'homography'``.
    """

    image: np.ndarray | None
    shape: tuple[int, int]
    cameras: list
    pairs: list
    placed: np.ndarray
    left_out: list
    reference: int
    model: str
    projection: str
    field_of_view: tuple[float, float] | None
    _layout: object = field(repr=False)
    _frames: list = field(repr=False)
    _shapes: list = field(repr=False)
    _device: Device = field(repr=False)

    def __repr__(self):
        used = sum(pair.outcome == "used" for pair in self.pairs)
        return (f"<Panorama: {int(self.placed.sum())} of {len(self.placed)} photographs, "
                f"{used} of {len(self.pairs)} pairs used; {self.model}, {self.projection}, "
                f"{self.shape[0]} x {self.shape[1]}>")

    def locate(self, index, points):
        """Where points of a photograph lie in the panorama.

        Parameters
        ----------
        index : int
            The number of the photograph.
        points : array_like, shape (..., 2)
            Pixels of the photograph, (row, column).

        Returns
        -------
        ndarray of float64, of the shape of `points`
            Pixels of the panorama, (row, column).

        Raises
        ------
        ValueError
            The photograph is not placed, or the last axis of `points` is not of length 2.
        """
        points = np.asarray(points, float)
        if points.shape[-1:] != (2,):
            raise ValueError(f"points has the shape {points.shape}, but its last axis must be of "
                             "length 2: row and column")
        if not self.placed[index]:
            raise ValueError(f"photograph {index} is not placed")
        frame = self._frames[int(self.placed[:index % len(self.placed)].sum())]
        centred = (points - (np.array(self._shapes[index]) - 1) / 2)[..., ::-1]
        rays = np.concatenate([centred, np.ones((*centred.shape[:-1], 1))], axis=-1)
        directions = rays @ np.linalg.inv(frame.matrix).T
        return self._layout.pixels(self._layout.surface.of_directions(directions))

    def fuse(self, images, *, seams="feather", progress=None):
        """Join photographs, or others that the same cameras took, to one picture.

        Each photograph is resampled once, by its cubic spline. Its gray levels are multiplied by
        the gain of its camera.

        Parameters
        ----------
        images : sequence of array_like, or of paths
            Images of the shapes of the photographs, in the same order, gray or RGB, all of one
            type. One of them is in memory at a time, besides the panorama.
        seams : {'feather', 'opencv'}, optional
            As in :func:`panorama`.
        progress : bool, optional
            As in :func:`panorama`.

        Returns
        -------
        ndarray
            The picture, of :attr:`shape`, followed by 3 channels for RGB, of the type of the
            images. It is 0 where no photograph lies.

        Raises
        ------
        ValueError
            The number of images or the shape of one is another one, or an image or an option
            cannot be used.
        TypeError
            The pixels are not real numbers.
        ImportError
            OpenCV is not installed, and `seams` needs it.
        warpalign.Error
            The computation failed; for example, the device has too little memory.
        """
        _check_choice("seams", seams, _SEAMS)
        photographs = Photographs(images)
        if len(photographs) != len(self.placed):
            raise ValueError(f"the panorama has {len(self.placed)} photographs, not "
                             f"{len(photographs)}")
        for name, shape, expected in zip(photographs.names, photographs.shapes, self._shapes):
            if shape != expected:
                raise ValueError(f"{name} has the shape {shape}, but its photograph {expected}")
        return self._fused(photographs, seams, progress)

    def _fused(self, photographs, seams, progress):
        if seams == "opencv":
            _opencv_seams.check(photographs.dtype)
        members = np.flatnonzero(self.placed)
        with progress_bar(progress, len(members), "photograph") as bar:
            return _SEAMS[seams](
                self._layout, self._frames, lambda number: photographs.read(members[number]),
                [self.cameras[member].gain for member in members], photographs.channels,
                photographs.dtype, self._opened(), bar.update)


def _check_choice(name, value, allowed):
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}, not {value!r}")


def _described(pair, solution, number, limit_names):
    """The PanoramaPair of a pair. `number`: its number among the accepted ones, or None."""
    outcome, reason, residual = pair.outcome, pair.reason, float("nan")
    if number is not None:
        residual = float(solution.residuals[number])
        if solution.contradicted[number]:
            outcome = "contradicted"
            reason = (f"its residual of {residual:.1f} pixels contradicts the other pairs"
                      if np.isfinite(residual)
                      else "it contradicts the cameras that the other pairs determine")
        elif not np.isfinite(residual):
            outcome = "apart"
            reason = f"no used pair connects {limit_names} to the panorama"
    return PanoramaPair(*pair.ends, outcome, reason, pair.confidence, pair.correlation, residual)


def _why_nothing(pairs):
    best = max(pairs, key=lambda pair: pair.confidence)
    return (f"no two photographs match: the best of {len(pairs)} pairs, {best.ends[0]} and "
            f"{best.ends[1]}, is left out ({best.reason}). Check that neighbours overlap by a "
            "fifth or more")


def panorama(images, *, model="auto", projection="auto", straighten=True, fuse=True,
             seams="feather", compensate_exposure=True, max_rotation=40.0, min_confidence=0.5,
             devices=None, streams=2, progress=None):
    """Join photographs of a hand-held camera to a panorama.

    Pairs of photographs are registered as homographies and verified. From these follow the focal
    length [1]_ and a rotation of the camera for each photograph, which bundle adjustment refines
    over all pairs [2]_. Pairs that contradict the others, and photographs that no pair connects,
    are left out and named. If the camera did not rotate but the scene is a plane, such as a
    wall, homographies to one photograph replace the rotations.

    Parameters
    ----------
    images : sequence of array_like, or of paths
        At least 2 photographs, gray or RGB, all of one type and of one or several sizes. Those of
        one size have a focal length in common. Any order will do; the natural order takes the least
        time. Neighbours should overlap by a fifth or more, and show at most 80 degrees each.
    model : {'auto', 'rotation', 'homography'}, optional
        ``'rotation'``: the camera rotates about its centre. ``'homography'``: the scene is a plane.
        ``'auto'`` (the default) takes rotations, unless homographies fit much better.
    projection : {'auto', 'spherical', 'cylindrical', 'planar'}, optional
        The surface that the panorama shows. Verticals stay straight on a cylinder, all lines on a
        plane. ``'auto'`` (the default) is planar up to 45 degrees from the middle, cylindrical up
        to 45 degrees from the horizon, and else spherical. Planes are always planar.
    straighten : bool, optional
        Whether to level the horizon, which assumes that the camera was held level on average [2]_.
        With False, the panorama has the axes of the photograph with the most pairs. The default is
        True.
    fuse : bool, optional
        Whether to make the picture, too. The default is True.
    seams : {'feather', 'opencv'}, optional
        How photographs are blended. With ``'feather'`` (the default), the weight of a photograph is
        the product of the distances to its nearest edges along both axes. ``'opencv'`` cuts at
        seams and blends frequency bands, by OpenCV's stitching module; for uint8, with
        ``warpalign[opencv]`` installed.
    compensate_exposure : bool, optional
        Whether to estimate a gain for each photograph that makes overlaps equally bright [2]_. The
        default is True.
    max_rotation : float, optional
        The largest rotation of one photograph relative to another about the axis of view, in
        degrees, above 0 to 180. The default is 40; choose 180 if some were taken upright and others
        across.
    min_confidence : float, optional
        The smallest confidence of a pair that is used, above 0 to 1. The default is 0.5.
    devices : Device or str, or a sequence of them, optional
        The devices to use, as for :func:`register_batch`. The first one makes the picture.
    streams : int, optional
        The number of pairs that each device processes at a time, 1 to 64. The default is 2.
    progress : bool, optional
        Whether to show a tqdm progress bar. By default, it is shown in terminals and notebooks if
        tqdm is installed.

    Returns
    -------
    Panorama
        The cameras, the pairs and, with `fuse`, the picture.

    Raises
    ------
    TypeError
        The pixels are not real numbers.
    ValueError
        There are fewer than 2 photographs; one of them has another number of channels, another type
        of pixels, or sides below 64 pixels; an option is invalid; or a photograph lies where the
        projection cannot show it.
    ImportError
        OpenCV is not installed, and `seams` needs it.
    FileNotFoundError, OSError
        A file cannot be read.
    warpalign.Error
        No two photographs match, or the computation failed.

    Notes
    -----
    Photographs are registered while reduced to a longer side of 640 pixels at most: neighbours in
    the sequence first, then pairs of growing distance until all are connected, then all pairs that
    the cameras found so far say overlap. Pairs that were reduced by more than 2 are refined at 1600
    pixels at most. Lenses
    are taken to be free of distortion, with the axis in the middle of the photograph.

    References
    ----------
    .. [1] R. Szeliski and H.-Y. Shum, "Creating full view panoramic image mosaics and environment
       maps", SIGGRAPH 1997.
    .. [2] M. Brown and D. G. Lowe, "Automatic panoramic image stitching using invariant features",
       International Journal of Computer Vision 74(1), 2007.

    Examples
    --------
    >>> import numpy as np
    >>> import warpalign
    >>> scene = warpalign.ndimage.zoom(np.random.default_rng(0).random((60, 100)), 4)
    >>> photographs = [scene[20:200, :220], scene[30:210, 150:370]]
    >>> found = warpalign.panorama(photographs, model="homography")
    >>> found.placed.tolist(), found.shape
    ([True, True], (190, 370))
    """
    _check_choice("model", model, _MODELS)
    _check_choice("projection", projection, _PROJECTIONS)
    _check_choice("seams", seams, _SEAMS)
    for name, value, largest in (("max_rotation", max_rotation, 180),
                                 ("min_confidence", min_confidence, 1)):
        if not 0 < value <= largest:
            raise ValueError(f"{name} must be above 0 and at most {largest}, not {value}")
    photographs = Photographs(images)
    if fuse and seams == "opencv":
        _opencv_seams.check(photographs.dtype)
    if devices is None or isinstance(devices, (str, Device)):
        devices = [devices]
    opened = [open_device(device) for device in devices]
    with progress_bar(progress, None, "pair") as bar:
        matcher = Matcher(photographs, float(min_confidence), float(max_rotation), opened, streams,
                          bar)
        search = PairSearch(matcher, photographs.shapes, model)
        solution, accepted = search.run()
    if solution is None:
        raise Error(_why_nothing(search.pairs.values()))
    layout, solution, frames, field_of_view = lay_out(solution, photographs, projection, straighten)
    result = _result(photographs, matcher, search, solution, accepted, layout, frames,
                     field_of_view, compensate_exposure, opened[0])
    if fuse:
        object.__setattr__(result, "image", result._fused(photographs, seams, progress))
    return result


def _result(photographs, matcher, search, solution, accepted, layout, frames, field_of_view,
            compensate_exposure, device):
    """The Panorama, without its picture."""
    members = solution.members
    gains = np.ones(len(photographs))
    if compensate_exposure:
        gains[members] = estimate_gains(
            *([values[member] for member in members]
              for values in (matcher.grays, matcher.factors, photographs.shapes)),
            solution.matrices[members], photographs.dtype)
    placed = np.zeros(len(photographs), bool)
    placed[members] = True
    cameras = [_camera(solution, photographs.shapes, member, gains[member])
               if placed[member] else None for member in range(len(photographs))]
    numbers = {pair.ends: number for number, pair in enumerate(accepted)}
    pairs = [_described(pair, solution, numbers.get(ends), " and ".join(
        photographs.names[end] for end in ends if not placed[end]))
        for ends, pair in sorted(search.pairs.items())]
    return Panorama(
        image=None, shape=layout.shape, cameras=cameras, pairs=pairs, placed=placed,
        left_out=[name for name, here in zip(photographs.names, placed) if not here],
        reference=solution.reference, model=solution.model, projection=layout.surface.name,
        field_of_view=field_of_view, _layout=layout, _frames=frames, _shapes=photographs.shapes,
        _device=device)


def _camera(solution, shapes, member, gain):
    centres = [np.array([[1, 0, (width - 1) / 2], [0, 1, (height - 1) / 2], [0, 0, 1]])
               for height, width in (shapes[member], shapes[solution.reference])]
    between = (centres[0] @ solution.matrices[member]
               @ np.linalg.inv(solution.matrices[solution.reference]) @ np.linalg.inv(centres[1]))
    rotates = solution.rotations is not None
    return PanoramaCamera(solution.rotations[member] if rotates else None,
                          float(solution.focal_lengths[member]) if rotates else None,
                          swap_axes(between), float(gain))
