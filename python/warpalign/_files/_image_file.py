"""An image or a volume in a file, with what the file tells of it."""

import os

import numpy as np

from .._geometry import Geometry
from .._nodata import can_hold, known_samples
from ._lazy import LazyArray
from ._refusal import one_line
from ._units import MILLIMETRES

SPACE = ("z", "y", "x")
# The axes whose elements can be the frames of a stack or the planes of a volume.
_FRAMES = ("t", "z", "i", "c")
# Colour to gray by ITU-R BT.709, as the program does.
_LUMINANCE = np.array([0.2126, 0.7152, 0.0722])


def luminance(colours):
    """The gray image of red, green, blue and what follows along the last axis."""
    gray = colours[..., :3] @ _LUMINANCE
    if colours.dtype.kind in "iu":
        gray = np.rint(gray)
    return gray.astype(colours.dtype if colours.dtype.kind in "iuf" else np.float32)


class ImageFile:
    """An image, a volume or a stack in a file; :func:`warpalign.open` makes it.

    Wherever a function of warpalign takes an image or a volume, it also takes an ImageFile, or the
    path of the file. A registration then uses the axes of space: other axes must have one element
    only, which :meth:`select` chooses. Of colours it uses the luminance.

    Attributes
    ----------
    path : str
        The path of the file or folder.
    format : str
        The format, such as ``'NIfTI'``.
    array : array
        The pixels, with the axes of :attr:`axes`: an array of NumPy (a memory map if the file
        allows), Zarr or Dask, or one that reads what is indexed. ``np.asarray(image)`` reads all.
    axes : tuple of str
        The names of the axes of the array: ``'x'``, ``'y'`` and ``'z'``; ``'t'`` for time; ``'c'``
        for channels and colours; ``'i'`` and others for what the file does not explain.
    shape : tuple of ints
        The shape of the array.
    dtype : dtype
        The type of the pixels.
    spacing : tuple of floats
        The distance between pixels along each axis, in its unit of :attr:`units`; 1 where the file
        does not tell.
    units : tuple of str or None
        The unit of each axis, by its name in OME-Zarr, such as ``'micrometer'``.
    channels : tuple of str
        The names of the channels.
    scenes : tuple of str
        The names of all images in the file, of which this is one.
    geometry : Geometry or None
        Where the pixels lie in millimetres, if the file tells. For GeoTIFF, x and y are those of
        the map.
    nodata : float or None
        The value of pixels that are missing. In images of floating point numbers, NaN is missing,
        too. The registration of a pair of images or volumes ignores such pixels, unless a mask is
        given.
    metadata : dict
        What else the file tells, in the terms of its format.
    """

    def __init__(self, path, format, array, axes, *, spacing=None, units=None, channels=(),
                 scenes=("",), geometry=None, nodata=None, metadata=None, georeference=None):
        self.path = os.fspath(path)
        self.format = format
        self.array = array
        self.axes = tuple(axes)
        self.spacing = tuple(float((spacing or {}).get(axis, 1.0)) for axis in self.axes)
        self.units = tuple((units or {}).get(axis) for axis in self.axes)
        self.channels = tuple(channels)
        self.scenes = tuple(scenes)
        self.nodata = nodata
        self.metadata = metadata or {}
        # What the writer of the same format takes: a header, a WCS, a transform of the map.
        self._georeference = georeference
        self.geometry = geometry or self._geometry_of_spacing()
        self._opening = None  # the function that opens it again, scene and level
        self._selected = ()  # what select() was called with, one after the other

    def _geometry_of_spacing(self):
        space = self.space
        units = [self.units[self.axes.index(axis)] for axis in space]
        if len(space) < 2 or any(unit not in MILLIMETRES for unit in units):
            return None
        lengths = [self.spacing[self.axes.index(axis)] * MILLIMETRES[unit]
                   for axis, unit in zip(space, units)]
        shape = [self.shape[self.axes.index(axis)] for axis in space]
        return Geometry(shape, spacing=lengths[::-1])

    @property
    def shape(self):
        return tuple(self.array.shape)

    @property
    def dtype(self):
        return np.dtype(self.array.dtype)

    @property
    def ndim(self):
        """The number of axes."""
        return len(self.axes)

    @property
    def space(self):
        """The axes of space, from the first one to the last one: z, y, x or y, x."""
        return tuple(axis for axis in SPACE if axis in self.axes)

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, index):
        return self._reading(lambda: self.array[index])

    def __array__(self, dtype=None, copy=None):
        array = self._reading(lambda: np.asarray(self.array))
        return array if dtype is None else array.astype(dtype, copy=False)

    def __repr__(self):
        sizes = ", ".join(f"{axis} {length}" for axis, length in zip(self.axes, self.shape))
        return f"<ImageFile: {self.path}, {self.format}: {sizes}; {self.dtype.name}>"

    def _reading(self, read):
        """Call `read`. Raises ValueError of one line if the pixels are cut short or damaged."""
        try:
            return read()
        except (IndexError, MemoryError, ImportError, FileNotFoundError):
            raise
        except Exception as error:
            if isinstance(error, ValueError) and str(error).startswith(self.path):
                raise
            raise ValueError(f"{self.path}: its pixels are cut short or damaged "
                             f"({one_line(error)})") from error

    def select(self, **indices):
        """Choose one element, or some, along axes.

        Parameters
        ----------
        **indices : int, slice or str
            For the name of an axis, the number of an element, which removes the axis; a slice; or
            for ``c``, the name of a channel.

        Returns
        -------
        ImageFile
            The part, whose pixels are read when they are needed.

        Raises
        ------
        ValueError
            There is no such axis or channel.
        IndexError
            There is no such element.

        Examples
        --------
        >>> import warpalign
        >>> photograph = warpalign.open("docs/demo/reference.jpg")  # doctest: +SKIP
        >>> photograph.select(c=1).shape  # doctest: +SKIP
        (1024, 1024)
        """
        picked = {axis: self._checked(axis, index) for axis, index in indices.items()}
        index = tuple(picked.get(axis, slice(None)) for axis in self.axes)
        kept = [axis for axis, one in zip(self.axes, index) if isinstance(one, slice)]
        geometry = self.geometry
        if any(axis in SPACE for axis in picked):
            geometry = self._geometry_of_part(picked)
        channels = self.channels
        if "c" in picked and channels:
            channels = channels[picked["c"]] if "c" in kept else ()
        array = self._part(index)
        steps = {axis: abs(one.step or 1) for axis, one in zip(self.axes, index)
                 if isinstance(one, slice)}
        new = ImageFile(
            self.path, self.format, array, kept,
            spacing={axis: length * steps.get(axis, 1)
                     for axis, length in zip(self.axes, self.spacing)},
            units=dict(zip(self.axes, self.units)), channels=channels, scenes=self.scenes,
            geometry=geometry, nodata=self.nodata, metadata=self.metadata,
            georeference=None if {"x", "y"} & set(picked) else self._georeference)
        new.geometry = geometry
        new._opening, new._selected = self._opening, (*self._selected, indices)
        return new

    def __reduce__(self):
        """Another process opens the file itself."""
        return self._opening[0], (self.path, *self._opening[1:], self._selected)

    def __dask_tokenize__(self):
        at = os.stat(self.path)
        return (self.path, at.st_mtime_ns, at.st_size, *self._opening[1:], repr(self._selected))

    def _checked(self, axis, index):
        if axis not in self.axes:
            raise ValueError(f"{self.path} has no axis {axis!r}; its axes are "
                             f"{', '.join(self.axes)}")
        if isinstance(index, str):
            if axis != "c" or index not in self.channels:
                raise ValueError(f"{self.path} has no channel {index!r}; it has "
                                 f"{', '.join(map(repr, self.channels)) or 'no names'}")
            return self.channels.index(index)
        if isinstance(index, slice):
            if index.step is not None and index.step < 0:
                raise ValueError(f"the slice of axis {axis!r} must not run backwards")
            return index
        length = self.shape[self.axes.index(axis)]
        if not -length <= index < length:
            raise IndexError(f"{self.path} has {length} elements along the axis {axis!r}, and no "
                             f"{index}")
        return int(index) % length

    def _geometry_of_part(self, picked):
        """The geometry of the part that a slice chooses; None if an axis vanishes."""
        if self.geometry is None or any(isinstance(picked.get(axis), int) for axis in self.space):
            return None
        whole = self.geometry
        shape, starts, steps = [], [], []
        for axis, length in zip(self.space, whole.shape):
            start, stop, step = picked.get(axis, slice(None)).indices(length)
            shape.append(max(0, -(-(stop - start) // step)))
            starts.append(start)
            steps.append(step)
        return Geometry(shape, spacing=whole.spacing * steps[::-1],
                        origin=whole.points([starts])[0], direction=whole.direction)

    def _part(self, index):
        if isinstance(self.array, np.ndarray):
            return self.array[index]
        ranges = [range(length)[one] for one, length in zip(index, self.shape)]
        kept = [axis for axis, one in enumerate(index) if isinstance(one, slice)]

        def read(inner):
            inner = dict(zip(kept, inner))
            return self.array[tuple(
                _within(chosen, inner[axis]) if axis in inner else chosen
                for axis, chosen in enumerate(ranges))]

        chunks = getattr(self.array, "chunks", None)
        if chunks is not None:
            whole = all(index[axis] == slice(None) for axis in kept)
            chunks = tuple(chunks[axis] for axis in kept) if whole else None
        return LazyArray([len(ranges[axis]) for axis in kept], self.dtype, read, chunks)

    # What functions of arrays take from a file.

    def _taken(self, order, picked=None):
        """The pixels with the axes `order`, all others having one element. `picked`: the index
        along axes, an int or a slice."""
        picked = picked or {}
        index = tuple(picked.get(axis, slice(None) if axis in order else 0) for axis in self.axes)
        array = self._reading(lambda: np.asarray(self.array[index]))
        kept = [axis for axis, one in zip(self.axes, index) if isinstance(one, slice)]
        array = array.transpose([kept.index(axis) for axis in order if axis in kept])
        return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))

    def _length(self, axis):
        return self.shape[self.axes.index(axis)] if axis in self.axes else 1

    @property
    def _has_colours(self):
        """Whether c is an axis of colours, which are one image."""
        if self._length("c") not in (3, 4):
            return False
        if self.format == "GeoTIFF":
            return self.metadata["colours"][:3] == ["red", "green", "blue"]
        return self.axes[-1] == "c" and self.format in ("picture", "TIFF", "DICOM", "array")

    def _check_others(self, used, what):
        others = [axis for axis in self.axes if axis not in used and self._length(axis) > 1]
        if others:
            sizes = ", ".join(f"{axis} {self._length(axis)}" for axis in self.axes)
            example = ", ".join(f"{axis}=0" for axis in others)
            raise ValueError(f"{what} has more than the axes {', '.join(used)}: it has {sizes} "
                             f"({self.path}). Choose one, as in "
                             f"warpalign.open(path).select({example})")

    def _gray(self, space, picked, what):
        """The pixels along the axes of space, colours as luminance."""
        for axis in space:
            if axis not in self.axes:
                raise ValueError(f"{what} has no axis {axis}: its axes are "
                                 f"{', '.join(self.axes)} ({self.path})")
        if not self._has_colours:
            self._check_others([*space, *picked], what)
            return self._taken(space, picked)
        self._check_others([*space, *picked, "c"], what)
        return luminance(self._taken((*space, "c"), picked))

    def _image(self, what):
        """The image, of shape (rows, columns)."""
        return self._gray(("y", "x"), {}, what)

    @property
    def _axes_of_volume(self):
        """The axes of the planes, the rows and the columns of the volume."""
        return "i" if "z" not in self.axes and "i" in self.axes else "z", "y", "x"

    def _volume(self, what):
        """The volume, of shape (planes, rows, columns)."""
        return self._gray(self._axes_of_volume, {}, what)

    def _mask_of(self, pixels):
        """The mask of the pixels that are not missing, or None if all are known."""
        known = known_samples(pixels, self._nodata_of(pixels.dtype))
        return None if known is None else known.astype(np.uint8)

    def _nodata_of(self, dtype):
        """The value of missing pixels, or None if pixels of the type cannot have it."""
        return self.nodata if self.nodata is not None and can_hold(dtype, self.nodata) else None

    def _frames(self):
        """The frames of a stack, read one after the other or some together."""
        others = [axis for axis in self.axes if axis not in ("y", "x") and self._length(axis) > 1]
        if self._has_colours and "c" in others:
            others.remove("c")
        if len(others) != 1 or others[0] not in _FRAMES:
            if others:
                self._check_others(["y", "x"] + [a for a in others if a == "t"], "the stack")
            more = (f"; the file has {len(self.scenes)} images, of which "
                    "warpalign.open(path, scene=1) is the second" if len(self.scenes) > 1 else "")
            raise ValueError(f"{self.path} is no stack: its axes are {', '.join(self.axes)}, of "
                             f"the shape {self.shape}{more}")
        return Frames(self, others[0])

    def _series(self):
        """The volumes of a series, read one after the other."""
        axis = "t" if "t" in self.axes else "i"
        if axis not in self.axes or "z" not in self.axes:
            raise ValueError(f"{self.path} is no series of volumes: its axes are "
                             f"{', '.join(self.axes)}, of the shape {self.shape}")
        return Volumes(self, axis)

    @property
    def _affine_of_series(self):
        """The matrix from (plane, row, column) to millimetres of NIfTI, or None."""
        if self.format != "NIfTI" or self.geometry is None:
            return None
        return self.geometry.ras[:, [2, 1, 0, 3]]

    def _warpable(self, ndim):
        """The pixels with the axes of space first, as many as `ndim`, and the others after
        them."""
        space = self.space[-ndim:] if len(self.space) >= ndim else self.space
        if len(space) < ndim and "i" in self.axes:
            space = ("i", *space)
        others = [axis for axis in self.axes if axis not in space and self._length(axis) > 1]
        return self._taken((*space, *others))

    def _geometry_for(self, ndim):
        """The geometry of an image of so many axes, or None."""
        if self.geometry is None or len(self.geometry.shape) == ndim:
            return self.geometry
        whole = self.geometry
        if ndim != 2 or whole.shape[0] > 1 or np.abs(whole.direction[[0, 1, 2, 2], [2, 2, 0, 1]]
                                                     ).max() > 1e-9:
            return None
        return Geometry(whole.shape[1:], spacing=whole.spacing[:2], origin=whole.origin[:2],
                        direction=whole.direction[:2, :2])

    def save(self, path, array=None, *, axes=None):
        """Write pixels that lie on the grid of this image, with what the file tells of it.

        Parameters
        ----------
        path : path-like
            The file to write, which is replaced only by a complete one. The ending of its name
            chooses the format: ``.zarr`` (OME-Zarr 0.5), ``.nii``, ``.nii.gz``, ``.fits``,
            ``.ome.tif``, ``.tif`` (GeoTIFF if this image is one), ``.png``, ``.jpg``, ``.webp`` or
            ``.bmp``.
        array : array_like, optional
            The pixels, such as an image that was warped to this one, of its shape along the axes of
            space, optionally followed by channels. By default, the pixels of this file.
        axes : sequence of str, optional
            The names of the array's axes. The default is those of this image if the shape is the
            same, else the axes of space, followed by ``c``.

        Raises
        ------
        ValueError
            The shape is another one, the ending is unknown, or the format cannot hold the axes or
            the type of the pixels.
        ImportError
            The package that writes the format is not installed; the message names the extra.
        OSError
            The file cannot be written.

        Notes
        -----
        Pixel sizes are kept by OME-Zarr, NIfTI, OME-TIFF and ImageJ's TIFF; the affine matrix by
        NIfTI; the world coordinate system by FITS; the coordinate reference system, the map's
        transform, nodata and the names of bands by GeoTIFF; resolution and colour profile by
        pictures.
        """
        from ._save import save  # only then, for importing warpalign to be quick

        save(self, path, array, axes)


def _within(chosen, inner):
    """The index of an axis for an index into the range that was chosen before."""
    found = chosen[inner]
    if isinstance(found, int):
        return found
    # Backwards, the stop before the first element has no number.
    return slice(found.start, found.stop if found.stop >= 0 else None, found.step)


class Volumes:
    """The volumes of a series in a file, each of shape (planes, rows, columns)."""

    def __init__(self, file, axis):
        self._file, self._axis = file, axis

    def __len__(self):
        return self._file._length(self._axis)

    def __getitem__(self, number):
        if not -len(self) <= number < len(self):
            raise IndexError(f"there are {len(self)} volumes, and no number {number}")
        return self._file._gray(("z", "y", "x"), {self._axis: int(number)}, "the series")


class Frames:
    """The frames of a stack in a file, an array of shape (frames, rows, columns)."""

    ndim = 3

    def __init__(self, file, axis):
        self._file, self._axis = file, axis
        self.shape = (file._length(axis), file._length("y"), file._length("x"))
        self.dtype = file.dtype
        chunks = getattr(file.array, "chunks", None)
        self.chunks = None
        if chunks is not None:
            self.chunks = (chunks[file.axes.index(axis)], *self.shape[1:])

    def __dask_tokenize__(self):
        return (*self._file.__dask_tokenize__(), self._axis)

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, index):
        frames = self._file
        if isinstance(index, tuple):
            return self[index[0]][(slice(None), *index[1:])
                                  if isinstance(index[0], slice) else index[1:]]
        if isinstance(index, slice):
            return frames._gray((self._axis, "y", "x"), {self._axis: index}, "the stack")
        return frames._gray(("y", "x"), {self._axis: int(index)}, "the stack")

    def __array__(self, dtype=None, copy=None):
        array = self[0:len(self)]
        return array if dtype is None else array.astype(dtype, copy=False)
