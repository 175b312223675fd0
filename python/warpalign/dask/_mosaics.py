"""The picture of a mosaic by chunks, and pyramids of it in OME-Zarr."""

import json
import pathlib
import shutil

import numpy as np

from .. import _core, open_device
from .._flat_field import flattening
from .._geometry import need
from .._mosaic import fused_type, rows_of
from .._mosaic_missing import FusedNodata, check_flat_field
from .._ome_zarr import new_path
from ._blocks import Part, array_of_tasks, as_dask, bound, device_name, put_together

import dask
import dask.array

_LEVEL_SIDE = 256  # levels are added until no side is longer


def _fused(blocks, slices, shapes, places, shape, dtype, distortion, device, flatten, nodata):
    """A box of the picture; positions (x, y) are relative to it, or matrices of rotated tiles, for
    which `distortion` is None."""
    missing = FusedNodata(nodata, dtype)
    picture = np.full(shape, 0 if nodata is None else nodata, dtype)
    if shapes:
        tiles = [put_together(block, wanted) for block, wanted in zip(blocks, slices)]
        for tile, expected in zip(tiles, shapes):
            if tile.shape != tuple(expected):
                raise ValueError(f"a tile has the shape {tile.shape}, but {expected} was located")

        def source(index):
            tile = missing.in_tile(tiles[index], dtype)
            return tile if flatten is None else flatten(tile)

        if distortion is None:
            _core.fuse_rotated_tiles(open_device(device), shapes, places, source, picture,
                                     missing.value)
        else:
            _core.fuse_tiles(open_device(device), shapes, places, source, picture, distortion,
                             missing.value)
        missing.in_picture(picture)
    return picture


def _bounds_of(matrix, shape):
    """The smallest and the largest coordinates (row, column) of a tile's pixels."""
    corners = np.array([(row, column, 1) for row in (0, shape[0] - 1)
                        for column in (0, shape[1] - 1)]) @ matrix.T
    places = corners[:, :2] / corners[:, 2:]
    return places.min(axis=0), places.max(axis=0)


def fuse_tiles(found, tiles, *, chunks=2048, flat_field=None, dark=0.0, nodata=None,
               device=None):
    """Fuse the tiles of a mosaic to one picture, one task for each chunk of the picture.

    A task reads the tiles that lie in its chunk, and no others.

    Parameters
    ----------
    found : Mosaic
        The located tiles.
    tiles : sequence of dask.array.Array, array_like or path-like
        Images of the shapes of the located tiles, in the same order, all of one type: another
        channel, for example. Tasks open files themselves.
    chunks : int or tuple, optional
        The chunks of the picture, as Dask takes them; tasks take least time if they are not smaller
        than a tile. The default is 2048.
    flat_field, dark : optional
        The illumination of a tile, as for :meth:`warpalign.Mosaic.fuse`.
    nodata : scalar, optional
        A value that stands for a missing pixel in the tiles, and in the picture where no tile has a
        value; see :meth:`warpalign.Mosaic.fuse`.
    device : str, optional
        The device that tasks compute on: a name that :func:`warpalign.open_device` accepts in the
        process that runs them.

    Returns
    -------
    dask.array.Array
        The picture that :meth:`warpalign.Mosaic.fuse` makes, of the shape ``found.shape``.

    Raises
    ------
    ValueError
        The number of tiles or the shape of a tile or of the flat field is another one, a tile has
        chunks of unknown size, or the tiles are volumes; or no pixel can have the value `nodata`,
        or it is combined with `flat_field`.
    TypeError
        The tiles are of several types, or their pixels are not real numbers.

    Notes
    -----
    Each tile is resampled by its cubic spline [1]_; tiles are blended linearly.

    References
    ----------
    .. [1] M. Unser, "Splines: a perfect fit for signal and image processing", IEEE Signal
       Processing Magazine 16(6), 1999.

    Examples
    --------
    >>> import numpy as np
    >>> import warpalign, warpalign.dask
    >>> scene = np.random.default_rng(0).random((160, 290)).cumsum(0).cumsum(1) % 50
    >>> tiles = [scene[:160, :160], scene[:160, 130:290]]
    >>> found = warpalign.mosaic(tiles, [(0, 0), (0, 124)])
    >>> picture = warpalign.dask.fuse_tiles(found, tiles, chunks=128)
    >>> picture.shape, picture.numblocks
    ((160, 290), (2, 3))
    """
    found._refuse_volumes("fuse_tiles()")
    if len(tiles) != len(found.positions):
        raise ValueError(f"there are {len(found.positions)} located tiles, not {len(tiles)}")
    arrays = [as_dask(tile) for tile in tiles]
    for index, (array, shape) in enumerate(zip(arrays, found._shapes)):
        if array.shape != tuple(shape):
            raise ValueError(f"tile {index} has the shape {array.shape}, but {tuple(shape)} was "
                             "located")
        if array.dtype != arrays[0].dtype:
            raise TypeError(f"tile {index} is of type {array.dtype}, but tile 0 of "
                            f"{arrays[0].dtype}")
    if arrays[0].dtype.kind not in "buif":
        raise TypeError(f"the pixels must be real numbers, not {arrays[0].dtype}")
    check_flat_field(nodata, flat_field)
    flatten = flattening(flat_field, dark, found._shapes)
    dtype = fused_type(arrays[0].dtype)
    FusedNodata(nodata, dtype).check(arrays[0], "tile 0")
    shape = tuple(int(length) for length in found.shape)
    chunks = dask.array.core.normalize_chunks(chunks, shape, dtype=dtype)
    parts = [Part(array, tuple(slice(0, length) for length in array.shape)) for array in arrays]
    device = device_name(device)
    rotated = found.motion != "translation"
    distortion = None if rotated else found._distortion_numbers()
    matrices = found.matrices_xy
    bounds = [_bounds_of(matrix, shape) for matrix, shape in zip(found.matrices, found._shapes)]

    def places_in(chosen, origin):
        if rotated:
            move = np.eye(3)
            move[:2, 2] = -origin[::-1]
            return rows_of(move @ matrices[chosen])
        return [tuple((found.positions[i] - origin)[::-1].tolist()) for i in chosen]

    def task(_number, region):
        origin = np.array([box.start for box in region], float)
        stop = np.array([box.stop for box in region], float)
        # A tile's first pixel may lie a fraction of a pixel before a chunk.
        chosen = [i for i, (least, largest) in enumerate(bounds)
                  if (least < stop).all() and (largest + 2 > origin).all()]
        return (bound(_fused, slices=[parts[i].slices for i in chosen],
                      shapes=[tuple(found._shapes[i]) for i in chosen],
                      places=places_in(chosen, origin) if chosen else [],
                      shape=tuple(box.stop - box.start for box in region), dtype=dtype,
                      distortion=distortion, device=device, flatten=flatten,
                      nodata=nodata),
                [parts[i].keys for i in chosen])

    return array_of_tasks("mosaic", task, chunks, dtype, arrays,
                          (rows_of(matrices), distortion, device, flat_field, dark, nodata))


def _halved(block, factors):
    """The mean of 2 pixels along each axis of space."""
    sums = np.zeros([-(-length // factor) for length, factor in zip(block.shape, factors)])
    counts = np.zeros_like(sums)
    for offset in np.ndindex(*factors):
        part = block[tuple(slice(first, None, factor)
                           for first, factor in zip(offset, factors))]
        inner = tuple(slice(0, length) for length in part.shape)
        sums[inner] += part
        counts[inner] += 1
    means = sums / counts
    return (np.rint(means) if block.dtype.kind in "iu" else means).astype(block.dtype)


def _store(source, target, region):
    target[region] = np.asarray(source)
    return 0


def _is_stored(level, number):
    """Whether a chunk of a Zarr array in a folder has its file, which appears when it is whole."""
    return pathlib.Path(level).joinpath("c", *map(str, number)).exists()


def _store_all(array, target, level, resume):
    """Write the chunks of a Dask array, with those that exist left out if `resume`."""
    tasks = []
    blocks = array.to_delayed()
    starts = [np.cumsum((0, *lengths)) for lengths in array.chunks]
    for number in np.ndindex(*array.numblocks):
        if resume and _is_stored(level, number):
            continue
        region = tuple(slice(int(start[i]), int(start[i + 1])) for start, i in zip(starts, number))
        tasks.append(dask.delayed(_store)(blocks[number], target, region))
    dask.compute(*tasks)


def _levels(shape, space):
    """The shapes of the levels, from the full resolution on."""
    shapes = [tuple(shape)]
    while max(shapes[-1][space]) > _LEVEL_SIDE:
        shapes.append((*shapes[-1][:space.start],
                       *(-(-length // 2) for length in shapes[-1][space])))
    return shapes


def _attributes(name, shapes, pixel_size, unit, channels):
    axes = [{"name": axis, "type": "space"} for axis in "yx"]
    if unit is not None:
        for axis in axes:
            axis["unit"] = unit
    if len(shapes[0]) == 3:
        axes.insert(0, {"name": "c", "type": "channel"})
    datasets = []
    for level in range(len(shapes)):
        length = pixel_size * 2 ** level
        # The mean of 2 pixels lies half a pixel behind the first one.
        offset = pixel_size * (2 ** level - 1) / 2
        scale, translation = [length, length], [offset, offset]
        if len(axes) == 3:
            scale, translation = [1.0, *scale], [0.0, *translation]
        transforms = [{"type": "scale", "scale": scale}]
        if level > 0:
            transforms.append({"type": "translation", "translation": translation})
        datasets.append({"path": str(level), "coordinateTransformations": transforms})
    ome = {"version": "0.5", "multiscales": [{"name": name, "axes": axes, "datasets": datasets,
                                              "type": "mean"}]}
    if channels is not None:
        ome["omero"] = {"channels": [{"label": str(label)} for label in channels]}
    return ome


def write_ome_zarr(path, picture, *, pixel_size=None, unit="micrometer", channels=None,
                   resume=False):
    """Write a picture as a pyramid in OME-Zarr 0.5, one chunk a task.

    Each level is the mean of 2 x 2 pixels of the level before it, which the tasks read from the
    file: memory holds some chunks of one level. The image is written to ``PATH.partial`` and
    renamed when it is complete.

    Parameters
    ----------
    path : path-like
        The folder to write, which must not exist. Its name ends in ``.zarr``.
    picture : dask.array.Array or array_like
        The picture, of the axes (y, x) or (c, y, x), for example from :func:`fuse_tiles`. All
        chunks of an axis have the same length, except for the last one; they become the chunks of
        the file. Dask computes them with its scheduler, for example on a cluster.
    pixel_size : float, optional
        The size of a pixel, in `unit`. Without it, the file has no unit.
    unit : str, optional
        A unit of length as OME-Zarr names it. The default is ``'micrometer'``.
    channels : sequence of str, optional
        The names of the channels.
    resume : bool, optional
        Whether to go on with ``PATH.partial``, which an earlier call with the same arguments left:
        chunks whose files are there are kept. The default is False: what is there is replaced.

    Raises
    ------
    FileExistsError
        The path exists.
    FileNotFoundError
        The folder of the path does not exist.
    ValueError
        The array has other axes, its chunks are irregular, the name has another ending, or
        ``PATH.partial`` is of another picture.
    ImportError
        The package zarr is not installed.
    OSError
        The disk is full, or the folder cannot be written. ``PATH.partial`` holds what is whole.

    Notes
    -----
    The format is that of [1]_, with Zarr 3. Zarr 3.1 and later write a chunk's file as a whole, on
    which `resume` relies.

    References
    ----------
    .. [1] J. Moore et al., "OME-NGFF: a next-generation file format for expanding bioimaging
       data-access strategies", Nature Methods 18, 2021; version 0.5 at ngff.openmicroscopy.org.

    Examples
    --------
    >>> import dask.array, tempfile, pathlib
    >>> import warpalign, warpalign.dask
    >>> path = pathlib.Path(tempfile.mkdtemp(), "mosaic.ome.zarr")
    >>> picture = dask.array.ones((600, 700), "uint8", chunks=256)
    >>> warpalign.dask.write_ome_zarr(path, picture, pixel_size=0.65)
    >>> warpalign.open(path).spacing
    (0.65, 0.65)
    """
    zarr = need("zarr", "zarr", "writing OME-Zarr")
    path, picture = new_path(path), as_dask(picture)
    if picture.ndim not in (2, 3):
        raise ValueError(f"the picture must have the axes (y, x) or (c, y, x), not {picture.ndim}")
    if channels is not None and (picture.ndim != 3 or len(channels) != picture.shape[0]):
        raise ValueError(f"there are {len(channels)} names of channels for a picture of the shape "
                         f"{picture.shape}")
    for lengths in picture.chunks:
        if len(set(lengths[:-1])) > 1 or lengths[-1] > lengths[0]:
            raise ValueError(f"the chunks {lengths} differ; rechunk the picture to chunks of one "
                             "length")
    if pixel_size is not None and not pixel_size > 0:
        raise ValueError(f"pixel_size must be above 0, not {pixel_size}")
    space = slice(picture.ndim - 2, picture.ndim)
    shapes = _levels(picture.shape, space)
    name = path.name.partition(".")[0]
    ome = _attributes(name, shapes, 1.0 if pixel_size is None else float(pixel_size),
                      None if pixel_size is None else unit, channels)
    attributes = {"ome": ome, "warpalign": {"picture": picture.name}}
    partial = path.with_name(path.name + ".partial")
    group = _open_partial(zarr, partial, attributes, resume)
    chunks = picture.chunksize
    factors = (*(1,) * space.start, 2, 2)
    source = picture
    for level, shape in enumerate(shapes):
        if level > 0:
            source = dask.array.from_array(group[str(level - 1)], asarray=True)
            source = source.rechunk(tuple(c * f for c, f in zip(chunks, factors)))
            source = dask.array.map_blocks(
                _halved, source, factors=factors, dtype=picture.dtype,
                chunks=dask.array.core.normalize_chunks(chunks, shape))
        if str(level) not in group:
            group.create_array(str(level), shape=shape, dtype=picture.dtype, chunks=chunks,
                               dimension_names=[axis["name"] for axis in
                                                ome["multiscales"][0]["axes"]])
        _store_all(source, group[str(level)], partial / str(level), resume)
    partial.rename(path)


def _open_partial(zarr, partial, attributes, resume):
    """The group in an unfinished folder, or a new one."""
    if resume and (partial / "zarr.json").exists():
        kept = json.loads((partial / "zarr.json").read_text()).get("attributes")
        if kept != json.loads(json.dumps(attributes)):
            raise ValueError(f"{partial} is of another picture; delete it, or write without "
                             "resume=True")
        return zarr.open_group(store=partial, mode="r+")
    if partial.exists():
        shutil.rmtree(partial)
    return zarr.create_group(store=partial, zarr_format=3, attributes=attributes)
