"""Writes OME-Zarr, NIfTI and FITS."""

import numpy as np

from .._geometry import need

_ZARR_AXES = ("t", "c", "z", "y", "x")
_TYPES = {"t": "time", "c": "channel"}
_SIDE = 1024  # of a chunk


def _wide(array):
    """float16, which NIfTI and FITS do not have, as float32; in native byte order."""
    if array.dtype == np.float16:
        return array.astype(np.float32)
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def ome_zarr(path, pixels):
    """Write an image of one level in OME-Zarr 0.5."""
    zarr = need("zarr", "zarr", "writing OME-Zarr")
    array, names = pixels.ordered(_ZARR_AXES)
    axes, scale, translation = [], [], []
    for name in names:
        length, unit = pixels.spacing(name)
        axes.append({"name": name, "type": _TYPES.get(name, "space")})
        if unit is not None and name != "c":
            axes[-1]["unit"] = unit
        scale.append(length if name != "c" else 1.0)
        translation.append(pixels.origin(name))
    transforms = [{"type": "scale", "scale": scale}]
    if any(translation):
        transforms.append({"type": "translation", "translation": translation})
    ome = {"version": "0.5", "multiscales": [{
        "name": path.name.partition(".")[0], "axes": axes,
        "datasets": [{"path": "0", "coordinateTransformations": transforms}]}]}
    if any(pixels.channels):
        ome["omero"] = {"channels": [{"label": label} for label in pixels.channels]}
    group = zarr.create_group(store=path, zarr_format=3, attributes={"ome": ome})
    chunks = tuple(min(length, _SIDE) if name in "yx" else 1
                   for name, length in zip(names, array.shape))
    stored = group.create_array("0", shape=array.shape, dtype=_native(array).dtype, chunks=chunks,
                                dimension_names=names)
    stored[...] = _native(array)


def _native(array):
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def nifti(path, pixels):
    """Write NIfTI-1 with the affine matrix and, of a NIfTI image, its header."""
    nibabel = need("nibabel", "nifti", "writing NIfTI")
    array, names = pixels.ordered(("c", "t", "z", "y", "x"))
    array = _wide(array)
    for axis, at in (("z", -2), ("t", -3)):
        deeper = {"z": ("t", "c"), "t": ("c",)}[axis]
        if axis not in names and any(name in names for name in deeper):
            array = np.expand_dims(array, at - 1)
            names.insert(len(names) + at, axis)
    geometry = pixels.image.geometry
    header = pixels.image._georeference if pixels.image.format == "NIfTI" else None
    header = header.copy() if isinstance(header, nibabel.Nifti1Header) else None
    if header is not None:
        header["scl_slope"], header["scl_inter"] = np.nan, np.nan
        header["cal_min"] = header["cal_max"] = 0
        header.set_data_dtype(array.dtype)
        header.set_xyzt_units("mm", header.get_xyzt_units()[1])  # as the geometry
    affine = np.eye(4) if geometry is None else geometry.ras
    if geometry is None:
        affine[:3, :3] = np.diag([pixels.spacing(axis)[0] for axis in "xyz"])
    image = nibabel.Nifti1Image(array.T, affine, header, dtype=array.dtype)
    if header is None:
        image.header.set_xyzt_units("mm" if geometry is not None else "unknown")
    if "t" in names:
        zooms = list(image.header.get_zooms())
        zooms[3] = pixels.spacing("t")[0]
        image.header.set_zooms(zooms)
    nibabel.save(image, path)


# Cards that describe how pixels were stored, and not what they show.
_STORAGE = ("BSCALE", "BZERO", "BLANK", "CHECKSUM", "DATASUM", "ZIMAGE", "XTENSION", "PCOUNT",
            "GCOUNT", "EXTEND")


def fits(path, pixels):
    """Write FITS with the header and the world coordinate system of a FITS image."""
    module = need("astropy.io.fits", "fits", "writing FITS")
    order = [axis for axis in pixels.image.axes if axis not in "yx"]
    order += [axis for axis in pixels.axes if axis not in (*order, "y", "x")]
    array, _ = pixels.ordered((*order, "y", "x"))
    if array.dtype.kind == "c":
        raise TypeError("FITS images hold real numbers")
    header = None
    if pixels.image.format == "FITS" and pixels.image._georeference is not None:
        header = pixels.image._georeference.copy()
        for name in _STORAGE:
            header.remove(name, ignore_missing=True, remove_all=True)
        if array.ndim != pixels.image.ndim:
            header = _celestial(header, pixels.image.metadata["wcs"])
    module.PrimaryHDU(_wide(np.ascontiguousarray(array)), header=header).writeto(path)


def _celestial(header, wcs):
    """The header with the world coordinate system of two axes in place of that of more."""
    kept = header.copy()
    for axis in range(1, wcs.naxis + 1):
        for name in ("CTYPE", "CRVAL", "CRPIX", "CDELT", "CUNIT", "CROTA", "NAXIS"):
            kept.remove(f"{name}{axis}", ignore_missing=True)
        for other in range(1, wcs.naxis + 1):
            for name in ("CD", "PC"):
                kept.remove(f"{name}{axis}_{other}", ignore_missing=True)
    kept.remove("WCSAXES", ignore_missing=True)
    kept.update(wcs.celestial.to_header(relax=True))
    return kept
