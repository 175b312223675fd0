"""Opens images and volumes: chooses the reader of a file by its content and its name."""

import os
import pathlib
import struct

from .._geometry import set_opener
from ._image_file import ImageFile
from ._refusal import Refused, one_line

_GEO_TAGS = (33550, 34264, 34735)  # ModelPixelScale, ModelTransformation, GeoKeyDirectory
_MOST_TAGS = 4096
_PNM = (b"P1", b"P2", b"P3", b"P4", b"P5", b"P6", b"Pf")


def is_file(value):
    """Whether a function was given a file in place of an array."""
    return isinstance(value, (str, os.PathLike, ImageFile))


def opened(value):
    """The ImageFile of a path, or the value itself."""
    return value if isinstance(value, ImageFile) else open_file(value)


def _tags_of_tiff(path):
    """The numbers of the tags of a TIFF file's first page."""
    with open(path, "rb") as file:
        start = file.read(16)
        order = "<" if start[:2] == b"II" else ">"
        big = struct.unpack(order + "H", start[2:4])[0] == 43
        at = struct.unpack(order + "Q", start[8:16])[0] if big else struct.unpack(
            order + "I", start[4:8])[0]
        file.seek(at)
        count = struct.unpack(order + ("Q" if big else "H"), file.read(8 if big else 2))[0]
        size = 20 if big else 12
        entries = file.read(min(count, _MOST_TAGS) * size)
    return {struct.unpack(order + "H", entries[i:i + 2])[0]
            for i in range(0, len(entries) - size + 1, size)}


def _is_geotiff(path):
    try:
        return any(tag in _GEO_TAGS for tag in _tags_of_tiff(path))
    except struct.error as error:
        raise ValueError(f"{path} is cut short: it is a TIFF without a whole page") from error


def _reader_of_folder(path):
    from . import _read_dicom, _read_ome_zarr  # only then, for importing warpalign to be quick

    if any((path / name).is_file() for name in ("zarr.json", ".zattrs", ".zgroup", ".zarray")):
        return _read_ome_zarr.read
    if _read_dicom.has_files(path):
        return _read_dicom.read
    raise ValueError(f"{path} is a folder without an image: neither OME-Zarr nor a series of "
                     "DICOM. For a stack of files pass a list of their paths")


def _reader_of(path, start):
    """The function that reads a file with this content, or None."""
    from . import (_read_array, _read_bioio, _read_dicom, _read_fits, _read_geotiff,
                   _read_microscopes, _read_nifti, _read_picture, _read_tiff)

    name = path.name.lower()
    if start[:4] in (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+") and not name.endswith(".lsm"):
        return _read_geotiff.read if _is_geotiff(path) else _read_tiff.read
    if start.startswith(b"\x93NUMPY"):
        return _read_array.read
    if start.startswith(b"SIMPLE  ="):
        return _read_fits.read
    if start[128:132] == b"DICM" or name.endswith(".dcm"):
        return _read_dicom.read
    if start.startswith(b"ZISRAWFILE"):
        return _read_microscopes.read_czi
    if start[:4] == b"\xda\xce\xbe\x0a" or name.endswith(".nd2"):
        return _read_microscopes.read_nd2
    if start[:4] == b"\x70\0\0\0" and start[8:9] == b"\x2a":
        return _read_microscopes.read_lif
    if name.endswith((".nii", ".nii.gz", ".hdr", ".img", ".mgz", ".mgh")):
        return _read_nifti.read
    if name.endswith((".fits", ".fit", ".fts", ".fits.gz", ".fits.fz")):
        return _read_fits.read
    if (start.startswith((b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"BM"))
            or start[:4] == b"RIFF" and start[8:12] == b"WEBP"
            or start[:2] in _PNM and start[2:3].isspace()):
        return _read_picture.read
    return _read_bioio.reader()


def open_file(path, *, scene=0, level=0):
    """Open an image, a volume or a stack. Pixels are read when they are needed.

    Parameters
    ----------
    path : path-like
        A file, the folder of an image in OME-Zarr 0.4 to 0.6, or the folder of a series in DICOM.
        Of files: OME-Zarr, NIfTI, FITS, DICOM, CZI, ND2, LIF, GeoTIFF, TIFF (OME, ImageJ and
        others), PNG, JPEG, WebP, BMP, PNM, ``.npy``, and what bioio reads if it is installed. The
        orientation of EXIF and TIFF is applied.
    scene : int or str, optional
        The number or the name of the image, in files that hold several (:attr:`ImageFile.scenes`).
        The default is 0. In FITS and DICOM, the extension or the series.
    level : int, optional
        The level of resolution in files that hold several; 0, the default, is the finest one.

    Returns
    -------
    ImageFile
        The image, with its axes, pixel sizes, channels, geometry and metadata.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    ImportError
        The package that reads the format is not installed; the message names the extra.
    ValueError
        The file is cut short, damaged or not supported, or it has no such scene or level.
    OSError
        The file cannot be read.

    Examples
    --------
    >>> import warpalign
    >>> slide = warpalign.open("slide.ome.zarr", level=1)  # doctest: +SKIP
    >>> slide.axes, slide.spacing, slide.units[-1]  # doctest: +SKIP
    (('c', 'y', 'x'), (1.0, 0.5, 0.5), 'micrometer')
    """
    path = pathlib.Path(path)
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}")
    if path.is_dir():
        read = _reader_of_folder(path)
    else:
        with open(path, "rb") as file:
            start = file.read(512)
        if not start:
            raise ValueError(f"{path} is empty")
        read = _reader_of(path, start)
        if read is None:
            raise ValueError(
                f"{path} is of no known format (supported are OME-Zarr, NIfTI, FITS, DICOM, CZI, "
                "ND2, LIF, GeoTIFF, TIFF, PNG, JPEG, WebP, BMP, PNM and .npy; others if bioio is "
                "installed, with its package for the format)")
    try:
        image = read(path, scene, level)
        image._opening = (reopened, scene, level)
        return image
    except (ImportError, FileNotFoundError, MemoryError):
        raise
    except Exception as error:  # whatever a reader raises for damaged files
        if isinstance(error, ValueError) and str(error).startswith(str(path)):
            raise
        text = str(error) if isinstance(error, Refused) else (
            f"it is cut short, damaged or not supported ({one_line(error)})")
        raise ValueError(f"{path}: {text}") from error


def reopened(path, scene, level, selected):
    """An ImageFile as another process opens it: with the parts of it that were selected."""
    image = open_file(path, scene=scene, level=level)
    for indices in selected:
        image = image.select(**indices)
    return image


set_opener(open_file)
