"""Mosaics: the positions of overlapping tiles, images or volumes, and what they make together."""

import hashlib
import threading
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from . import _core, _mosaic_scene
from ._devices import Device, open_device
from ._files._open import is_file, opened
from ._files._tile_file import TileFile, as_tiles
from ._flat_field import flattening
from ._images import as_image, as_volume
from ._mosaic_missing import FusedNodata, check_flat_field
from ._nodata import with_nan
from ._mosaic_rounds import tile_shifts
from ._progress import progress_bar
from ._results import OnDevice

_MOTIONS = ("translation", "rigid", "similarity", "homography")
_FUSED_TYPES = (np.uint8, np.uint16, np.float32)


class MosaicPair(NamedTuple):
    """Two tiles that overlap, and the result of their registration.

    Attributes
    ----------
    reference, moving : int
        The numbers of the tiles.
    outcome : {'used', 'failed', 'unreliable', 'ambiguous', 'beyond error', 'contradicted'}
        Whether the pair determines positions, and why not.
    reason : str
        Why the pair is left out; empty if it is used.
    shift : tuple of floats
        The moving tile's position minus the reference tile's, in pixels: (rows, columns), or
        (planes, rows, columns) of volumes; with another motion than translations, what the matrix
        adds to the middle of the overlap. Without a registration, the shift that was expected.
    uncertainty : tuple of floats
        Standard deviations of the shift in pixels; 0 unless the pair was accepted.
    confidence : float
        The confidence of the registration, 0 to 1.
    correlation : float
        The correlation of the registration.
    residual : tuple of floats
        The shift minus the difference of the located positions, in pixels; with another motion than
        translations, by how much the tiles' matrices contradict it in the middle of the overlap.
    matrix : tuple of tuples of floats
        Maps pixels of the moving tile, (row, column, 1) or (plane, row, column, 1), to pixels of
        the reference tile.
    """

    reference: int
    moving: int
    outcome: str
    reason: str
    shift: tuple[float, ...]
    uncertainty: tuple[float, ...]
    confidence: float
    correlation: float
    residual: tuple[float, ...]
    matrix: tuple[tuple[float, ...], ...]


class StageModel(NamedTuple):
    """How the positions of the stage relate to those in the mosaic, without the offset.

    Attributes
    ----------
    matrix : ndarray, shape (2, 2), or (3, 3) for volumes
        Maps positions of the stage, (row, column) or (plane, row, column), to the mosaic: angle,
        scale and shear.
    backlash : tuple of floats
        By how many pixels tiles that the stage reached by moving towards larger rows (or columns,
        or planes) are further along than those reached by moving the other way, along each axis. 0
        if the pairs do not show it.
    deviation : float
        Standard deviation of the tiles from the model along an axis, in pixels.
    """

    matrix: np.ndarray
    backlash: tuple[float, ...]
    deviation: float


class TileDistortion(NamedTuple):
    """The distortion that all tiles have in common: pixel p of a tile lies at position + p + D(p).

    Attributes
    ----------
    center : tuple of 2 floats
        The pixel that is not displaced: (row, column).
    radius : float
        The unit of the polynomial, in pixels.
    rows, columns : ndarray, shape (7,)
        The displacement along rows and columns, in pixels, of the terms u^2, uv, v^2, u^3, u^2v,
        uv^2 and v^3, where u is the column and v the row relative to `center`, divided by `radius`.
    """

    center: tuple[float, float]
    radius: float
    rows: np.ndarray
    columns: np.ndarray

    def displacement(self, points):
        """The displacement of pixels of a tile.

        Parameters
        ----------
        points : array_like, shape (..., 2)
            Pixels, (row, column).

        Returns
        -------
        ndarray, shape (..., 2)
            The displacements in pixels, along rows and columns.

        Raises
        ------
        ValueError
            If the last axis of `points` is not of length 2.
        """
        points = np.asarray(points, float)
        if points.shape[-1:] != (2,):
            raise ValueError(f"points has the shape {points.shape}, but its last axis must be of "
                             "length 2: row and column")
        v, u = np.moveaxis((points - self.center) / self.radius, -1, 0)
        terms = np.stack([u * u, u * v, v * v, u ** 3, u * u * v, u * v * v, v ** 3], axis=-1)
        return np.stack([terms @ self.rows, terms @ self.columns], axis=-1)


@dataclass(frozen=True, eq=False)
class Mosaic(OnDevice):
    """The located tiles of a mosaic, images or volumes; :func:`mosaic` makes it.

    Attributes
    ----------
    positions : ndarray, shape (n, 2), or (n, 3) for volumes
        Where each tile's first pixel lies in the mosaic, in pixels: (row, column), or (plane, row,
        column). The smallest coordinate along each axis is 0, of the corners of all tiles if they
        are rotated.
    motion : {'translation', 'rigid', 'similarity', 'homography'}
        How tiles differ from the positions of the stage.
    matrices : ndarray, shape (n, 3, 3), or (n, 4, 4) for volumes
        Maps pixels of each tile, (row, column, 1) or (plane, row, column, 1), to pixels of the
        mosaic: translations, unless `motion` is another one. Divide by the last coordinate after a
        homography.
    matrices_xy : ndarray, shape (n, 3, 3), or (n, 4, 4) for volumes
        The same for (x, y, 1) or (x, y, z, 1).
    pairs : list of MosaicPair
        All pairs of tiles that overlap.
    components : ndarray, shape (n,)
        The number of the set of tiles that used pairs connect, for each tile; 0 is the largest.
    placed_by_stage : ndarray, shape (n,)
        Whether the stage model placed the tile, because no pair of it is used. Without known
        positions, such a tile is a component of its own.
    stage : StageModel or None
        The model that places tiles and sets without pairs. None if no positions were given: then
        the components lie side by side.
    distortion : TileDistortion or None
        The distortion that all tiles have in common, if the overlaps show one.
    shape : tuple of ints
        The shape of the picture or the volume that covers all tiles: (rows, columns), or (planes,
        rows, columns).
    image : ndarray or None
        The fused picture or volume, if it was requested.
    """

    positions: np.ndarray
    pairs: list
    components: np.ndarray
    placed_by_stage: np.ndarray
    stage: StageModel | None
    distortion: TileDistortion | None
    shape: tuple[int, ...]
    image: np.ndarray | None
    _shapes: list = field(repr=False)
    _device: Device = field(repr=False)
    motion: str = "translation"
    # The matrices_xy, unless tiles are shifted only.
    _rotated: np.ndarray | None = field(default=None, repr=False)

    @property
    def matrices(self):
        return _reversed_axes(self.matrices_xy)

    @property
    def matrices_xy(self):
        if self._rotated is not None:
            return self._rotated.copy()
        return _translations(self.positions[:, ::-1])

    def fuse(self, tiles, *, flat_field=None, dark=0.0, nodata=None):
        """Fuse tiles, or another channel of them, to one picture or volume.

        Each tile is resampled once by its cubic spline, without the distortion. Where tiles
        overlap, the weight of a tile is the product of the distances to its nearest edges (faces)
        along each axis. Pixels that are NaN or infinite, or equal `nodata`, are missing: other
        tiles give the picture there. Besides the result, memory holds the tiles of about two rows
        of a mosaic, or of two layers of a mosaic of volumes.

        Parameters
        ----------
        tiles : sequence of array_like, or path-like
            Images or volumes of the shapes of the located tiles, in the same order; or a CZI file.
        flat_field : array_like, optional
            The illumination of a tile, such as :func:`warpalign.flat_field` estimates it, by which
            each tile is divided first. It has the shape of a tile; its mean becomes 1. Not for
            volumes.
        dark : float or array_like, optional
            The value that the camera reports without light, or an image of such values: the
            division applies to what lies above it. The default is 0.
        nodata : scalar, optional
            A value that stands for a missing pixel or voxel in the tiles, and in the result where
            no tile has a value; integers that would be rounded to it become the next one. It cannot
            be combined with `flat_field`.

        Returns
        -------
        ndarray
            The picture or volume, of :attr:`shape`; uint8 and uint16 tiles keep their type, others
            give float32. Where no tile has a value it is `nodata`, or 0 without it.

        Raises
        ------
        ValueError
            The number of tiles or the shape of a tile or of the flat field is another one, the
            flat field is not positive, or there is one for volumes; or no pixel of the tiles or of
            the picture can have the value `nodata`.
        TypeError
            The pixels are not real numbers.
        warpalign.Error
            The computation failed; for example, the device has too little memory.
        """
        check_flat_field(nodata, flat_field)
        if flat_field is not None:
            self._refuse_volumes("a flat field")
        flatten = flattening(flat_field, dark, self._shapes)
        tiles = as_tiles(tiles)
        if len(tiles) != len(self.positions):
            raise ValueError(f"there are {len(self.positions)} located tiles, not {len(tiles)}")
        read = _reader(len(self.shape))
        first = read(tiles[0], "tile 0")
        kind = fused_type(first.dtype)
        missing = FusedNodata(nodata, kind)
        missing.check(first, "tile 0")
        del first
        picture = np.empty(self.shape, kind)

        def source(index):
            tile = read(tiles[index], f"tile {index}")
            if tile.dtype != kind and kind != np.float32:
                raise TypeError(f"tile {index} is of type {tile.dtype}, but tile 0 of {kind}")
            missing.check(tile, f"tile {index}")
            tile = missing.in_tile(tile, kind)
            return tile if flatten is None else flatten(tile)

        located = self._opened(), self._shapes, self.positions[:, ::-1].tolist(), source, picture
        if len(self.shape) == 3:
            _core.fuse_volume_tiles(*located, missing.value)
        elif self._rotated is not None:
            _core.fuse_rotated_tiles(located[0], self._shapes, rows_of(self._rotated), source,
                                     picture, missing.value)
        else:
            _core.fuse_tiles(*located, self._distortion_numbers(), missing.value)
        missing.in_picture(picture)
        return picture

    def locate_round(self, reference_tiles, tiles, *, min_confidence=0.5, nodata=None, devices=None,
                     streams=2, progress=None):
        """Locate the tiles of another round of imaging in this mosaic.

        In each round the stage returns to the same positions, and misses them a little. Each tile
        is registered as a translation to the same tile of this round. Tiles without an accepted
        registration, and those that contradict the other tiles, move with the median of the others.
        All channels of a round have the positions of one of them: pass them to :meth:`fuse`.

        Parameters
        ----------
        reference_tiles : sequence of array_like
            The tiles of this mosaic, in a channel that both rounds have in common, such as that of
            a nuclear stain. Images of 2 dimensions or their paths, read when they are needed.
        tiles : sequence of array_like
            The tiles of the other round, in the same order and of the same shapes.
        min_confidence : float, optional
            The smallest confidence of a registration that is used, above 0 to 1. The default is
            0.5.
        nodata : scalar, optional
            A value that stands for a missing pixel in the tiles of both rounds. Such pixels are
            not registered, as NaN and infinities never are. Pass it to :meth:`fuse`, too.
        devices : Device or str, or a sequence of them, optional
            The devices to use, as for :func:`register_batch`.
        streams : int, optional
            The number of pairs that each device processes at a time, 1 to 64. The default is 2.
        progress : bool, optional
            Whether to show a tqdm progress bar, as for :func:`register_batch`.

        Returns
        -------
        Mosaic
            The tiles of the round in the frame of this mosaic: the shape of the picture is the
            same, and positions may be negative. Pair i is tile i of this mosaic with tile i of the
            round; its shift is in pixels (rows, columns). `placed_by_stage` marks tiles that moved
            with the others.

        Raises
        ------
        ValueError
            The number of tiles or the shape of a tile is another one, or the tiles are volumes.
        TypeError
            The pixels are not real numbers.
        warpalign.Error
            No tile matches, or the computation failed.
        """
        self._refuse_volumes("locate_round()")
        reference_tiles, tiles = as_tiles(reference_tiles), as_tiles(tiles)
        for name, given in (("reference_tiles", reference_tiles), ("tiles", tiles)):
            if len(given) != len(self.positions):
                raise ValueError(f"{name} has {len(given)} tiles, but {len(self.positions)} are "
                                 "located")
            for index, (shape, expected) in enumerate(zip(_shapes_of(given), self._shapes)):
                if tuple(shape) != tuple(expected):
                    raise ValueError(f"tile {index} of {name} has the shape {shape}, but "
                                     f"{tuple(expected)} was located")
        if not 0 < min_confidence <= 1:
            raise ValueError(f"min_confidence must be above 0 and at most 1, not {min_confidence}")
        shifts, notes = tile_shifts(reference_tiles, tiles, min_confidence, nodata,
                                    self._device if devices is None else devices, streams, progress)
        pairs = [MosaicPair(index, index, outcome, reason, tuple(shift.tolist()), (0.0, 0.0),
                            confidence, correlation, (0.0, 0.0), _translation(shift))
                 for index, (shift, (outcome, reason, confidence, correlation)) in enumerate(
                     zip(shifts, notes))]
        follows = np.array([pair.outcome != "used" for pair in pairs])
        positions, rotated = self.positions + shifts, None
        if self._rotated is not None:
            # A shift is that within a tile, which is rotated afterwards.
            rotated = self._rotated @ _translations(shifts[:, ::-1])
            rotated /= rotated[:, 2:, 2:]
            positions = rotated[:, 1::-1, 2].copy()
        return replace(self, positions=positions, pairs=pairs, image=None,
                       placed_by_stage=follows, _rotated=rotated)

    def save_scene(self, path, tiles, *, pixel_size=None, unit="micrometer"):
        """Save the tiles and where they lie as a scene in OME-Zarr 0.6, for other programs to fuse.

        Each tile is an image of the scene, with a transform from its coordinates to those of the
        mosaic: a translation, after the displacements of the distortion if there is one, or the
        affine transform of a rotated tile. Tiles are read and written one after the other.

        Parameters
        ----------
        path : path-like
            The folder to write, which must not exist. Its name ends in ``.zarr``.
        tiles : sequence of array_like, or path-like
            Images of the shapes of the located tiles, in the same order; or a CZI file.
        pixel_size : float, optional
            The size of a pixel, in `unit`. Without it, coordinates are pixels.
        unit : str, optional
            A unit of length as OME-Zarr names it. The default is ``'micrometer'``.

        Raises
        ------
        FileExistsError
            The path exists.
        FileNotFoundError
            The folder of the path does not exist.
        ValueError
            The number of tiles or the shape of a tile is another one, the name has another ending,
            `pixel_size` is not above 0, the tiles are volumes, or they are mapped by homographies,
            which OME-Zarr does not have.
        TypeError
            The pixels are not real numbers.
        ImportError
            The package zarr is not installed.
        OSError
            The disk is full, or the folder cannot be written. Nothing remains.

        Examples
        --------
        >>> import numpy as np
        >>> import pathlib, tempfile, warpalign
        >>> scene = np.random.default_rng(0).random((160, 290)).cumsum(0).cumsum(1) % 50
        >>> tiles = [scene[:160, :160], scene[:160, 130:290]]
        >>> found = warpalign.mosaic(tiles, [(0, 0), (0, 124)])
        >>> path = pathlib.Path(tempfile.mkdtemp(), "tiles.ome.zarr")
        >>> found.save_scene(path, tiles, pixel_size=0.65)
        >>> warpalign.open(path / "tile1").spacing
        (0.65, 0.65)
        """
        self._refuse_volumes("save_scene()")
        if self.motion == "homography":
            raise ValueError("OME-Zarr has no homographies; locate the tiles with another motion, "
                             "or fuse them")
        tiles = as_tiles(tiles)
        if len(tiles) != len(self.positions):
            raise ValueError(f"there are {len(self.positions)} located tiles, not {len(tiles)}")
        _mosaic_scene.save(path, tiles, self._shapes,
                           self.positions if self._rotated is None else self.matrices,
                           self.distortion, pixel_size, unit)

    def _refuse_volumes(self, what):
        if len(self.shape) == 3:
            raise ValueError(f"{what} serves mosaics of images; these tiles are volumes")

    def _distortion_numbers(self):
        """The distortion as the extension takes it: center, radius and terms in (x, y)."""
        if self.distortion is None:
            return []
        return [*self.distortion.center[::-1], self.distortion.radius, *self.distortion.columns,
                *self.distortion.rows]


def fused_type(dtype):
    """The type of the picture that tiles of a type make."""
    return np.dtype(dtype) if dtype in _FUSED_TYPES else np.dtype(np.float32)


def _translations(positions):
    axes = positions.shape[1]
    matrices = np.tile(np.eye(axes + 1), (len(positions), 1, 1))
    matrices[:, :axes, axes] = positions
    return matrices


def _translation(shift):
    """The matrix of a translation, as nested tuples."""
    return tuple(map(tuple, _translations(np.array([shift]))[0].tolist()))


def _reversed_axes(matrices):
    """Matrices for (x, y, 1) as those for (row, column, 1), and the reverse; also of volumes."""
    order = [*range(matrices.shape[-1] - 2, -1, -1), matrices.shape[-1] - 1]
    return matrices[..., order, :][..., order]


def rows_of(matrices):
    """The elements of each matrix, row by row, as the extension takes them."""
    return matrices.reshape(len(matrices), -1).tolist()


def _reader(axes):
    """What reads a tile of so many axes."""
    return as_volume if axes == 3 else as_image


def _shape_of(tile, axes):
    """The shape of a tile; of a file, without reading its pixels."""
    if not is_file(tile):
        return np.shape(tile)
    file = opened(tile)
    return tuple(file._length(axis) for axis in file._axes_of_volume[-axes:])


def _shapes_of(tiles, axes=2):
    """The shape of each tile. Of lazy sequences, only the first tile is read."""
    if isinstance(tiles, TileFile):
        shapes = tiles.shapes
    elif isinstance(tiles, (list, tuple)):
        shapes = [_shape_of(tile, axes) for tile in tiles]
    else:
        shapes = [_shape_of(tiles[0], axes)] * len(tiles)
    for index, shape in enumerate(shapes):
        if len(shape) == axes:
            continue
        if axes == 3:
            raise ValueError(f"tile {index} must be a volume of 3 dimensions, as the positions "
                             f"(plane, row, column) say, not of shape {shape}")
        hint = ""
        if len(shape) == 3:
            hint = f"; volumes need positions of shape ({len(shapes)}, 3): (plane, row, column)"
        raise ValueError(f"tile {index} must be an image of 2 dimensions, not of shape "
                         f"{shape}{hint}")
    return [tuple(int(length) for length in shape) for shape in shapes]


class _SeenTiles:
    """Finds tiles that were given twice. Several threads may use it."""

    _STEP = 32  # rows between those that are compared first

    def __init__(self, tiles):
        self._tiles = tiles
        self._lock = threading.Lock()
        self._numbers = {}

    def refuse_same(self, index, tile):
        """Raise ValueError if another tile has the same pixels, unless they are all equal."""
        sample = np.ascontiguousarray(tile[..., ::self._STEP, :])
        digest = hashlib.blake2b(sample, digest_size=16).digest()
        with self._lock:
            other = self._numbers.setdefault((tile.dtype.str, tile.shape, digest), index)
        if other == index or (tile == tile.flat[0]).all():
            return
        if np.array_equal(tile, _reader(tile.ndim)(self._tiles[other], f"tile {other}")):
            what = "picture" if tile.ndim == 2 else "volume"
            raise ValueError(f"tile {max(index, other)} is the same {what} as tile "
                             f"{min(index, other)}; give each tile once")


def _swapped(pair, matrix):
    """A pair of the extension, and the matrix for (x, y, 1) of a pair of images, or None."""
    reference, moving, outcome, reason, shift, uncertainty, confidence, correlation, residual = pair
    if matrix is None:
        rows = _translation(shift[::-1])
    else:
        rows = tuple(map(tuple, _reversed_axes(np.reshape(matrix, (3, 3))).tolist()))
    return MosaicPair(reference, moving, outcome, reason, shift[::-1], uncertainty[::-1],
                      confidence, correlation, residual[::-1], rows)


def mosaic(tiles, positions=None, *, fuse=False, max_error=None, min_confidence=0.5,
           motion="translation", estimate_distortion=None, flat_field=None, dark=0.0, nodata=None,
           devices=None, streams=2, progress=None):
    """Locate the overlapping tiles of a mosaic, images or volumes, and fuse them on request.

    The overlaps of all tiles that overlap according to `positions` are registered and verified.
    Robust least squares, weighted by the confidence and the covariance of the pairs, give the
    positions. The same fit estimates a model of the stage (angle, scale, backlash), which places
    tiles that no accepted pair connects. Pairs that contradict the others are left out.

    Parameters
    ----------
    tiles : sequence of array_like, or path-like
        Images of 2 dimensions or volumes of 3, or their paths, in the order in which they were
        taken. Several threads read the sequence when tiles are needed; of a sequence that is no
        list or tuple, all tiles have the shape of the first one. Reduce colour images to one
        channel. Or a CZI file with a mosaic; :func:`open_tiles` chooses a scene, a channel or a
        plane of it.
    positions : array_like, shape (n, 2) or (n, 3), optional
        Where the stage says that the first pixel of each tile lies, in pixels: (row, column) of
        images, (plane, row, column) of volumes, which need it. The default is what a CZI file says.
        Without positions, all images are compared with each other to find the pairs that overlap;
        more than 24 tiles only until the pairs connect them, in the order of the distance of their
        numbers.
    fuse : bool, optional
        Whether to make the picture or the volume, too. The default is False.
    max_error : float, optional
        The largest error of a position relative to its neighbour, in pixels along each axis. The
        default is a twentieth of the tile's longest side, at least 16. It needs `positions`.
    min_confidence : float, optional
        The smallest confidence of a pair that is used, above 0 to 1. The default is 0.5.
    motion : {'translation', 'rigid', 'similarity', 'homography'}, optional
        How each tile differs from its position: it is only shifted, or also rotated, scaled or
        tilted, each tile in its own way. Pairs are registered with that motion, and may be rotated
        by 15 degrees and scaled by 0.8 to 1.25. The default is ``'translation'``, which is all that
        volumes have.
    estimate_distortion : bool, optional
        Whether to estimate the distortion that all tiles have in common, and to locate them without
        it. It needs images of one shape. The default is True for images that are only shifted;
        others have none.
    flat_field : array_like, optional
        The illumination of a tile, by which each tile is divided before its registration, and with
        `fuse` in the picture; see :meth:`Mosaic.fuse`. Not for volumes.
    dark : float or array_like, optional
        The value that the camera reports without light, or an image of such values, for
        `flat_field`. The default is 0.
    nodata : scalar, optional
        A value that stands for a missing pixel or voxel, such as dust on the sensor or dark
        corners. Such pixels are neither registered nor blended, as those that are NaN or infinite
        never are; see :meth:`Mosaic.fuse`. It cannot be combined with `flat_field`.
    devices : Device or str, or a sequence of them, optional
        The devices to use, as for :func:`register_batch`.
    streams : int, optional
        The number of pairs that each device processes at a time, 1 to 64. The default is 2.
    progress : bool, optional
        Whether to show a tqdm progress bar. By default, it is shown in terminals and notebooks if
        tqdm is installed.

    Returns
    -------
    Mosaic
        The positions, the pairs, the stage model and, with `fuse`, the picture.

    Raises
    ------
    TypeError
        The pixels are not real numbers.
    ValueError
        The positions do not fit the tiles, two tiles have the same position or the same pixels, or
        a shape or an option is invalid (:class:`InvalidArgumentError`). If the positions of images
        would fit with x and y exchanged or in another unit, the message says so. Or no pixel can
        have the value `nodata`.
    warpalign.Error
        The computation failed; for example, the device has too little memory.

    Examples
    --------
    >>> import numpy as np
    >>> import warpalign
    >>> scene = np.random.default_rng(0).random((160, 290)).cumsum(0).cumsum(1) % 50
    >>> tiles = [scene[:160, :160], scene[:160, 130:290]]
    >>> found = warpalign.mosaic(tiles, [(0, 0), (0, 124)])
    >>> found.positions.round(2)
    array([[  0.,   0.],
           [  0., 130.]])

    Tiles that are rotated:

    >>> found = warpalign.mosaic(tiles, [(0, 0), (0, 124)], motion="rigid")
    >>> found.matrices.shape
    (2, 3, 3)

    Volumes:

    >>> scene = np.random.default_rng(0).random((24, 64, 110)).cumsum(0).cumsum(1).cumsum(2) % 500
    >>> found = warpalign.mosaic([scene[..., :64], scene[..., 46:]], [(0, 0, 0), (1, 0, 43)])
    >>> (found.positions[1] - found.positions[0]).round(2) + 0
    array([ 0.,  0., 46.])
    """
    tiles = as_tiles(tiles)
    if positions is None and isinstance(tiles, TileFile):
        positions = tiles.positions
    if len(tiles) < 2:
        raise ValueError(f"a mosaic needs at least 2 tiles, not {len(tiles)}")
    known = positions is not None
    if not known and max_error is not None:
        raise ValueError("max_error is the error of positions, but no positions are given")
    positions = np.asarray(positions, float) if known else np.zeros((len(tiles), 2))
    if positions.shape not in ((len(tiles), 2), (len(tiles), 3)):
        raise ValueError(f"positions must have the shape ({len(tiles)}, 2), one (row, column) for "
                         f"each tile, or for volumes ({len(tiles)}, 3), not {positions.shape}")
    if max_error is not None and not max_error > 0:
        raise ValueError(f"max_error must be above 0, not {max_error}")
    if motion not in _MOTIONS:
        raise ValueError(f"motion must be one of {', '.join(_MOTIONS)}, not {motion!r}")
    if motion != "translation" and estimate_distortion:
        raise ValueError(f"with motion={motion!r}, no distortion of all tiles is estimated; omit "
                         "estimate_distortion")
    axes = positions.shape[1]
    shapes = _shapes_of(tiles, axes)
    if axes == 3:
        for name, is_given in (("flat_field", flat_field is not None),
                               ("estimate_distortion", estimate_distortion),
                               (f"motion={motion!r}", motion != "translation")):
            if is_given:
                raise ValueError(f"{name} serves mosaics of images; these tiles are volumes")
    check_flat_field(nodata, flat_field)
    flatten = flattening(flat_field, dark, shapes)
    if devices is None or isinstance(devices, (str, Device)):
        devices = [devices]
    opened = [open_device(device) for device in devices]

    seen = _SeenTiles(tiles)
    read = _reader(axes)

    def source(index):
        tile = read(tiles[index], f"tile {index}")
        seen.refuse_same(index, tile)
        if flatten is None:
            return with_nan(tile, nodata, f"tile {index}")
        return flatten(np.ascontiguousarray(tile, fused_type(tile.dtype)))

    with progress_bar(progress, None, "pair") as bar:

        def update(done, total):
            bar.total = total
            bar.update()

        given = (opened, shapes, positions[:, ::-1].tolist(), source, update,
                 0.0 if max_error is None else float(max_error), float(min_confidence), streams)
        if axes == 3:
            found = _core.locate_volume_tiles(*given)
        else:
            found = _core.locate_tiles(
                *given, estimate_distortion is None or bool(estimate_distortion), known, motion)
    stage = None
    if known:
        matrix = np.array(found["stage_matrix"]).reshape(axes, axes)[::-1, ::-1].copy()
        stage = StageModel(matrix, found["backlash"][::-1], found["deviation"])
    distortion = None
    if found.get("distortion") is not None:
        x, y, radius, columns, rows = found["distortion"]
        distortion = TileDistortion((y, x), radius, np.array(rows), np.array(columns))
    result = Mosaic(
        positions=np.array(found["positions"])[:, ::-1].copy(),
        pairs=[_swapped(pair, matrix) for pair, matrix in zip(
            found["pairs"], found.get("pair_matrices") or [None] * len(found["pairs"]))],
        components=np.array(found["components"]),
        placed_by_stage=(np.array(found["counts"]) == 0) & known,
        stage=stage, distortion=distortion, shape=tuple(found["shape"]), image=None,
        motion=motion,
        _rotated=(None if motion == "translation"
                 else np.reshape(found["matrices"], (len(tiles), 3, 3))),
        _shapes=shapes, _device=opened[0])
    if fuse:
        object.__setattr__(result, "image", result.fuse(
            tiles, flat_field=flat_field, dark=dark, nodata=nodata))
    return result
