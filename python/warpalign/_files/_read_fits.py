"""FITS, with its world coordinate system."""

import warnings

from .._geometry import need
from ._image_file import ImageFile
from ._refusal import check_level, number_of_scene, refuse

_SPECTRAL = ("FREQ", "WAVE", "WAVN", "AWAV", "VELO", "VRAD", "VOPT", "ZOPT", "BETA", "ENER",
             "STOKES")
_TIME = ("TIME", "UTC", "TAI", "TT", "TDB")


def _axis_name(header, number):
    """The name of FITS's axis `number`, 1 for the fastest one."""
    if number <= 2:
        return "xy"[number - 1]
    kind = str(header.get(f"CTYPE{number}", "")).upper()
    if kind.startswith(_SPECTRAL):
        return "c"
    if kind.startswith(_TIME):
        return "t"
    return "z" if number == 3 else "i"


def _has_image(hdu):
    return getattr(hdu, "is_image", False) and hdu.header.get("NAXIS", 0) >= 2 and all(
        hdu.header.get(f"NAXIS{i + 1}", 0) > 0 for i in range(hdu.header["NAXIS"]))


def read(path, scene, level):
    fits = need("astropy.io.fits", "fits", f"reading {path}")
    from astropy.wcs import WCS, FITSFixedWarning

    check_level(level, 1)
    with fits.open(path, memmap=False, lazy_load_hdus=False) as hdus:
        found = [(number, hdu.name or str(number)) for number, hdu in enumerate(hdus)
                 if _has_image(hdu)]
        if not found:
            refuse("it has no image of two or more axes")
        names = [name for _, name in found]
        number = found[number_of_scene(scene, names)][0]
        hdu = hdus[number]
        header = hdu.header.copy()
        scaled = isinstance(hdu, fits.CompImageHDU) or any(
            name in header for name in ("BSCALE", "BZERO", "BLANK"))
        _check_size(path, hdus)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FITSFixedWarning)
            wcs = WCS(header, hdus)  # a lookup table of distortions is in another extension
    with fits.open(path, memmap=not scaled) as hdus:
        array = hdus[number].data  # a memory map keeps the file open
    axes = [_axis_name(header, axis) for axis in range(array.ndim, 0, -1)]
    if len(set(axes)) != len(axes):
        axes = [*(f"axis{axis}" for axis in range(array.ndim, 2, -1)), "y", "x"]
    spacing, units = {}, {}
    if wcs.has_celestial:
        from astropy.wcs.utils import proj_plane_pixel_scales

        for name, scale in zip("xy", proj_plane_pixel_scales(wcs.celestial)):
            spacing[name], units[name] = float(scale) * 3600, "arcsecond"
    return ImageFile(path, "FITS", array, axes, spacing=spacing, units=units, scenes=names,
                     metadata={"header": header, "wcs": wcs},
                     georeference=header)


def _check_size(path, hdus):
    """Refuse a file that ends before its last image does."""
    end = hdus[-1].fileinfo()["datLoc"] + hdus[-1].size  # the filling of the block may be missing
    if str(path).endswith((".gz", ".bz2", ".xz")):
        return
    if path.stat().st_size < end:
        refuse(f"it is cut short: it has {path.stat().st_size} of {end} bytes")
