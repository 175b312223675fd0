"""The tiles of a mosaic in one file of a microscope, and where the stage placed them."""

import os
import pathlib
import threading

import numpy as np

from .._geometry import need
from ._image_file import ImageFile, luminance
from ._refusal import number_of_scene, one_line


class TileFile:
    """The tiles of a mosaic in one file; :func:`warpalign.open_tiles` makes it.

    A sequence of images: indexing reads the pixels of a tile. Colours become their luminance.
    Several threads may use it.

    Attributes
    ----------
    path : str
        The path of the file.
    positions : ndarray, shape (n, 2)
        Where the stage says that the first pixel of each tile lies, in pixels: (row, column). The
        smallest row and the smallest column are 0.
    shapes : list of tuples of 2 ints
        The shape of each tile: (rows, columns).
    spacing : tuple of 2 floats or None
        The distance between rows and that between columns of pixels, in micrometers, if the file
        tells.
    channels : tuple of str
        The names of the channels.
    scenes : tuple of str
        The names of the scenes: areas of the slide, each of which has tiles of its own.
    """

    def __init__(self, path, positions, shapes, read, *, spacing, channels, scenes, opening):
        self.path = os.fspath(path)
        self.positions = positions
        self.shapes = shapes
        self.spacing = spacing
        self.channels = tuple(channels)
        self.scenes = tuple(scenes)
        self._read = read
        self._opening = opening

    def __reduce__(self):
        return _reopened, (self.path, self._opening)

    def __len__(self):
        return len(self.shapes)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(f"there are {len(self)} tiles, and no number {index}")
        index = index % len(self)
        try:
            tile = self._read(index)
            if tile.shape[:2] != self.shapes[index]:
                raise ValueError(f"its pixels have the shape {tile.shape[:2]}")
        except (MemoryError, ImportError, FileNotFoundError):
            raise
        except Exception as error:  # whatever a reader raises for damaged files
            raise ValueError(f"{self.path}: tile {index} is cut short or damaged "
                             f"({one_line(error)})") from error
        return tile[..., 0] if tile.shape[2] == 1 else luminance(tile)

    def __repr__(self):
        return f"<TileFile: {self.path}: {len(self)} tiles>"


class _SubBlock:
    """An entry of a CZI file's directory, of czifile until 2019 or of later versions."""

    def __init__(self, entry):
        self.entry = entry
        is_new = hasattr(entry, "dims")  # the last axis is that of colours in both
        names = entry.dims[:-1] if is_new else str(entry.axes)[:-1]
        self.start = dict(zip(names, entry.start))
        size = dict(zip(names, entry.shape))
        self.shape = int(size["Y"]), int(size["X"])
        self.is_whole = tuple(entry.shape) == tuple(entry.stored_shape)
        self.scene = max(entry.scene_index, 0) if is_new else self.start.get("S", 0)
        number = entry.mosaic_index
        self.tile = None if number is None or number < 0 else number

    def read(self, file):
        if hasattr(self.entry, "read_segment_data"):
            data = self.entry.read_segment_data(file).data()
        else:
            data = self.entry.data_segment().data(resize=False)
        return np.asarray(data).reshape(*self.shape, -1)


def _names_of_scenes(root, numbers):
    names = {}
    for element in root.iterfind(".//Dimensions/S/Scenes/Scene"):
        names[int(element.get("Index", len(names)))] = element.get("Name")
    return [names.get(number) or str(number) for number in numbers]


def _start_of(axis, chosen, blocks, channels, path):
    """The start of the subblocks that are chosen along an axis."""
    starts = sorted({block.start.get(axis.upper(), 0) for block in blocks})
    if isinstance(chosen, str):
        if axis != "c" or chosen not in channels:
            raise ValueError(f"{path}: it has no channel {chosen!r}; it has "
                             f"{', '.join(map(repr, channels)) or 'no names'}")
        chosen = list(channels).index(chosen)
    if not 0 <= chosen < len(starts):
        raise ValueError(f"{path}: it has {len(starts)} element{'s' * (len(starts) != 1)} along "
                         f"{axis}, and no number {chosen}")
    return starts[chosen]


def open_tiles(path, *, scene=0, c=0, z=0, t=0):
    """Open the tiles of a mosaic in a CZI file. Pixels are read when they are needed.

    Pass the result to :func:`warpalign.mosaic`, which takes the positions from it, and to
    :meth:`warpalign.Mosaic.fuse`, for example another channel.

    Parameters
    ----------
    path : path-like
        A CZI file of Zeiss (Carl Zeiss Microscopy, "CZI (ZISRAW) file format", 2016) with a mosaic.
        Its reduced images are not read.
    scene : int or str, optional
        The number or the name of the scene. The default is 0.
    c : int or str, optional
        The number or the name of the channel. The default is 0.
    z, t : int, optional
        The numbers of the plane and of the time. The default is 0.

    Returns
    -------
    TileFile
        The tiles, in the order in which they were taken.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    ImportError
        The package czifile is not installed.
    ValueError
        The file is of another format, damaged, or has no mosaic, scene, channel or plane of this
        name or number.

    Examples
    --------
    >>> import warpalign
    >>> tiles = warpalign.open_tiles("slide.czi")  # doctest: +SKIP
    >>> found = warpalign.mosaic(tiles)  # doctest: +SKIP
    >>> actin = found.fuse(warpalign.open_tiles("slide.czi", c="actin"))  # doctest: +SKIP
    """
    path = pathlib.Path(path)
    if path.is_dir():
        raise ValueError(f"{path} is a folder; pass a list of the paths of its tiles")
    with open(path, "rb") as start:
        if start.read(10) != b"ZISRAWFILE":
            raise ValueError(f"{path} is no CZI file; open tiles of other formats one by one")
    import xml.etree.ElementTree as ElementTree  # only then, for importing warpalign to be quick

    from ._read_microscopes import czi_scaling

    czifile = need("czifile", "czi", f"reading {path}")
    try:
        file = czifile.CziFile(str(path))
        text = file.metadata()
        text = text() if callable(text) else text
        root = ElementTree.fromstring(text) if text else ElementTree.Element("none")
        blocks = [_SubBlock(entry) for entry in file.subblock_directory]
    except Exception as error:  # whatever the reader raises for damaged files
        raise ValueError(f"{path}: it is cut short, damaged or not supported "
                         f"({one_line(error)})") from error
    blocks = [block for block in blocks if block.is_whole and block.tile is not None]
    if not blocks:
        raise ValueError(f"{path}: it has no mosaic; open it with warpalign.open()")
    numbers = sorted({block.scene for block in blocks})
    scenes = _names_of_scenes(root, numbers)
    try:
        number = number_of_scene(scene, scenes)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    blocks = [block for block in blocks if block.scene == numbers[number]]
    channels = [channel.get("Name") or channel.get("Id") or "" for channel in root.iterfind(
        ".//Information/Image/Dimensions/Channels/Channel")]
    for axis, chosen in (("c", c), ("z", z), ("t", t)):
        wanted = _start_of(axis, chosen, blocks, channels, path)
        blocks = [block for block in blocks if block.start.get(axis.upper(), 0) == wanted]
    tiles = {}
    for block in blocks:  # of illuminations, phases and views, the first
        tiles.setdefault(block.tile, block)
    tiles = [tiles[number] for number in sorted(tiles)]
    if len(tiles) < 2:
        raise ValueError(f"{path}: it has a single tile; open it with warpalign.open()")
    positions = np.array([(tile.start["Y"], tile.start["X"]) for tile in tiles], float)
    lock = threading.Lock()

    def read(index):
        with lock:  # czifile moves the position in the file
            return tiles[index].read(file)

    scaling = czi_scaling(root)
    spacing = (scaling["y"], scaling["x"]) if {"x", "y"} <= scaling.keys() else None
    return TileFile(path, positions - positions.min(axis=0), [tile.shape for tile in tiles], read,
                    spacing=spacing, channels=channels, scenes=scenes,
                    opening={"scene": scene, "c": c, "z": z, "t": t})


def _reopened(path, opening):
    return open_tiles(path, **opening)


def as_tiles(tiles):
    """The tiles of a path, or the value itself."""
    if isinstance(tiles, (str, os.PathLike)) and not isinstance(tiles, ImageFile):
        return open_tiles(tiles)
    return tiles
