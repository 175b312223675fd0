"""warpalign.open on files that other programs' libraries wrote, and results written in their
place."""

import importlib
import os
import pickle
import shutil
import struct
import sys

import numpy as np
import pytest

import warpalign
from warpalign import Geometry

pil = pytest.importorskip("PIL.Image")


@pytest.fixture
def pixels(random):
    """An image of 40 rows and 60 columns, which no flip or transposition leaves as it is."""
    return random.integers(0, 60000, (40, 60)).astype(np.uint16)


def check_part(image, expected):
    """The pixels, whole and in parts."""
    assert image.shape == expected.shape and image.dtype == expected.dtype
    np.testing.assert_array_equal(np.asarray(image), expected)
    for index in [0, slice(1, 5, 2), (..., slice(3, 7)), (..., -1), (slice(2), slice(3))]:
        np.testing.assert_array_equal(np.asarray(image[index]), expected[index])
    part = image.select(y=slice(3, 30, 2), x=slice(5, None))
    at = [slice(None)] * expected.ndim
    at[image.axes.index("y")], at[image.axes.index("x")] = slice(3, 30, 2), slice(5, None)
    np.testing.assert_array_equal(np.asarray(part), expected[tuple(at)])
    assert len(pickle.dumps(image)) < 2000
    np.testing.assert_array_equal(np.asarray(pickle.loads(pickle.dumps(image))), expected)


# Pictures.

@pytest.mark.parametrize("ending, mode, exact", [
    (".png", "L", True), (".png", "RGB", True), (".png", "RGBA", True), (".bmp", "RGB", True),
    (".webp", "RGB", True), (".jpg", "L", False), (".jpg", "RGB", False)])
def test_pictures(tmp_path, random, ending, mode, exact):
    channels = {"L": (), "RGB": (3,), "RGBA": (4,)}[mode]
    smooth = np.kron(random.integers(0, 255, (5, 6, *channels)),
                     np.ones((8, 8, *(1,) * len(channels)))).astype(np.uint8)
    path = tmp_path / f"a{ending}"
    options = {"lossless": True} if ending == ".webp" else {"quality": 95} if not exact else {}
    pil.fromarray(smooth).save(path, **options)
    image = warpalign.open(path)
    assert image.axes == ("y", "x", "c")[:2 + len(channels)]
    if exact:
        check_part(image, smooth)
    assert np.abs(np.asarray(image).astype(int) - smooth).mean() < (1 if exact else 12)
    again = tmp_path / f"b{ending}"
    image.save(again)
    written = np.asarray(pil.open(again))
    assert written.shape == smooth.shape
    assert np.abs(written.astype(int) - np.asarray(image)).mean() < (0.1 if exact else 3)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_exif_orientation(tmp_path, random, orientation):
    """Against Pillow's own upright picture, whose orientation is written by EXIF's definition."""
    upright = random.integers(0, 255, (40, 60)).astype(np.uint8)
    # Row 0 and column 0 of the stored picture are these sides of the upright one (EXIF 2.3).
    stored = {1: lambda a: a, 2: lambda a: a[:, ::-1], 3: lambda a: a[::-1, ::-1],
              4: lambda a: a[::-1], 5: lambda a: a.T, 6: lambda a: np.rot90(a),
              7: lambda a: a[::-1, ::-1].T, 8: lambda a: np.rot90(a, -1)}[orientation](upright)
    exif = pil.Exif()
    exif[0x0112] = orientation
    pil.fromarray(np.ascontiguousarray(stored)).save(tmp_path / "a.png", exif=exif)
    image = warpalign.open(tmp_path / "a.png")
    assert image.shape == upright.shape
    np.testing.assert_array_equal(image, upright)
    image.save(tmp_path / "b.png")
    np.testing.assert_array_equal(np.asarray(pil.open(tmp_path / "b.png")), upright)
    assert pil.open(tmp_path / "b.png").getexif().get(0x0112, 1) == 1


def test_pictures_of_16_bits(tmp_path, pixels):
    pil.fromarray(pixels).save(tmp_path / "a.png")
    image = warpalign.open(tmp_path / "a.png")
    check_part(image, pixels)
    image.save(tmp_path / "b.png")
    np.testing.assert_array_equal(np.asarray(pil.open(tmp_path / "b.png")), pixels)
    with pytest.raises(ValueError, match="b.jpg: .jpg holds pixels of uint8"):
        image.save(tmp_path / "b.jpg")
    assert not (tmp_path / "b.jpg").exists()


def test_colour_profiles_and_resolution_are_kept(tmp_path, random):
    image_cms = pytest.importorskip("PIL.ImageCms")
    profile = image_cms.ImageCmsProfile(image_cms.createProfile("sRGB")).tobytes()
    colours = random.integers(0, 255, (40, 60, 3)).astype(np.uint8)
    pil.fromarray(colours).save(tmp_path / "a.png", dpi=(300, 300), icc_profile=profile)
    warpalign.open(tmp_path / "a.png").save(tmp_path / "b.png", colours[::-1])
    written = pil.open(tmp_path / "b.png")
    assert written.info["icc_profile"] == profile
    assert round(written.info["dpi"][0]) == 300


# TIFF.

def test_ome_tiff(tmp_path, random):
    tifffile = pytest.importorskip("tifffile")
    stack = random.integers(0, 255, (2, 3, 40, 60)).astype(np.uint16)
    for number, options in enumerate([{}, {"compression": "zlib"}]):
        path = tmp_path / f"{number}.ome.tif"
        tifffile.imwrite(path, stack, metadata={
            "axes": "CZYX", "PhysicalSizeX": 250.0, "PhysicalSizeXUnit": "nm",
            "PhysicalSizeY": 0.5, "PhysicalSizeYUnit": "µm", "PhysicalSizeZ": 2.0,
            "Channel": {"Name": ["nuclei", "actin"]}}, **options)
        image = warpalign.open(path)
        check_part(image, stack)
        assert image.axes == ("c", "z", "y", "x")
        assert image.spacing == (1, 2, 0.5, 250) and image.units[1:] == (
            "micrometer", "micrometer", "nanometer")
        assert image.channels == ("nuclei", "actin")
        np.testing.assert_allclose(image.geometry.spacing, [250e-6, 0.5e-3, 2e-3], rtol=1e-12)
        assert isinstance(image.array, np.memmap) == (number == 0)
        assert image.select(c="actin").shape == (3, 40, 60)
    image.save(tmp_path / "out.ome.tif", stack[:, 0].astype(np.float32), axes="cyx")
    again = warpalign.open(tmp_path / "out.ome.tif")
    np.testing.assert_array_equal(again, stack[:, 0])
    assert again.spacing == (1, 0.5, 250) and again.channels == image.channels


def test_levels_of_a_pyramid(tmp_path, random):
    tifffile = pytest.importorskip("tifffile")
    fine = random.integers(0, 255, (64, 96)).astype(np.uint8)
    with tifffile.TiffWriter(tmp_path / "a.ome.tif") as writer:
        writer.write(fine, subifds=1, metadata={"PhysicalSizeX": 0.5, "PhysicalSizeY": 0.5})
        writer.write(fine[::2, ::2], subfiletype=1)
    image = warpalign.open(tmp_path / "a.ome.tif", level=1)
    np.testing.assert_array_equal(image, fine[::2, ::2])
    assert image.spacing == (1, 1) and image.units == ("micrometer",) * 2
    with pytest.raises(ValueError, match="it has 2 levels of resolution, and no level 2"):
        warpalign.open(tmp_path / "a.ome.tif", level=2)


def test_tiff_of_imagej(tmp_path, random):
    tifffile = pytest.importorskip("tifffile")
    stack = random.integers(0, 255, (5, 3, 40, 60)).astype(np.uint16)
    tifffile.imwrite(tmp_path / "a.tif", stack, imagej=True, resolution=(4.0, 2.0),
                     metadata={"axes": "TZYX", "spacing": 2.0, "unit": "um", "finterval": 0.25})
    image = warpalign.open(tmp_path / "a.tif")
    check_part(image, stack)
    assert image.axes == ("t", "z", "y", "x")
    np.testing.assert_allclose(image.spacing, (0.25, 2, 0.5, 0.25))
    assert image.units == ("second", *["micrometer"] * 3)
    image.save(tmp_path / "b.tif", stack + 1)
    with tifffile.TiffFile(tmp_path / "b.tif") as file:
        assert file.is_imagej and file.imagej_metadata["finterval"] == 0.25
        np.testing.assert_array_equal(file.asarray(), stack + 1)
    assert warpalign.open(tmp_path / "b.tif").spacing == image.spacing


def test_a_plain_tiff_stays_one(tmp_path, pixels):
    tifffile = pytest.importorskip("tifffile")
    tifffile.imwrite(tmp_path / "a.tif", pixels, metadata=None)
    image = warpalign.open(tmp_path / "a.tif")
    assert image.axes == ("y", "x") and image.geometry is None
    image.save(tmp_path / "b.tif", pixels + 1)
    np.testing.assert_array_equal(np.asarray(pil.open(tmp_path / "b.tif")), pixels + 1)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_orientation_of_tiff(tmp_path, random, orientation):
    """A map of memory, or chunks, of pixels that are written by the tag's definition."""
    tifffile = pytest.importorskip("tifffile")
    upright = random.integers(0, 255, (40, 60, 3)).astype(np.uint8)
    stored = {1: lambda a: a, 2: lambda a: a[:, ::-1], 3: lambda a: a[::-1, ::-1],
              4: lambda a: a[::-1], 5: lambda a: a.swapaxes(0, 1), 6: lambda a: np.rot90(a),
              7: lambda a: a[::-1, ::-1].swapaxes(0, 1), 8: lambda a: np.rot90(a, -1)}
    pixels = np.ascontiguousarray(stored[orientation](upright))
    for compression in (None, "zlib"):
        tifffile.imwrite(tmp_path / "a.tif", pixels, photometric="rgb", compression=compression,
                         metadata=None, extratags=[(274, "H", 1, orientation, True)])
        check_part(warpalign.open(tmp_path / "a.tif"), upright)


def test_what_the_samples_of_a_tiff_mean(tmp_path, random):
    tifffile = pytest.importorskip("tifffile")
    gray = random.integers(0, 255, (40, 60)).astype(np.uint8)
    colours = random.integers(0, 255, (40, 60, 3)).astype(np.uint8)
    palette = random.integers(0, 65535, (3, 256)).astype(np.uint16)
    inks = random.integers(0, 255, (40, 60, 4)).astype(np.uint8)
    light = 255.0 - inks
    cases = [
        (255 - gray, {"photometric": "miniswhite"}, gray),
        (gray.astype(np.uint16), {"photometric": "minisblack"}, gray.astype(np.uint16)),
        (gray, {"photometric": "palette", "colormap": palette},
         (palette[:, gray].transpose(1, 2, 0) >> 8).astype(np.uint8)),
        (np.stack([gray, gray // 2], -1),
         {"photometric": "minisblack", "planarconfig": "contig", "extrasamples": ["unassalpha"]},
         gray),
        (colours.transpose(2, 0, 1), {"photometric": "rgb", "planarconfig": "separate"}, colours),
        (inks, {"photometric": "separated"},
         np.rint(light[..., :3] * light[..., 3:] / 255).astype(np.uint8))]
    for stored, options, expected in cases:
        tifffile.imwrite(tmp_path / "a.tif", stored, metadata=None, **options)
        check_part(warpalign.open(tmp_path / "a.tif"), expected)
    pil.fromarray(colours).convert("LAB").save(tmp_path / "lab.tif")
    with pytest.raises(ValueError, match="lab.tif: its colours are CIELAB; convert it"):
        warpalign.open(tmp_path / "lab.tif")


def test_a_thumbnail_is_no_image_of_a_tiff(tmp_path, pixels):
    tifffile = pytest.importorskip("tifffile")
    with tifffile.TiffWriter(tmp_path / "a.tif") as writer:
        writer.write(pixels[::4, ::4], subfiletype=1, metadata=None)
        writer.write(pixels, metadata=None)
    image = warpalign.open(tmp_path / "a.tif")
    assert len(image.scenes) == 1
    np.testing.assert_array_equal(np.asarray(image), pixels)


# Arrays, and the formats of netpbm.

@pytest.mark.parametrize("shape, axes", [
    ((20, 30), "yx"), ((20, 30, 3), "yxc"), ((5, 20, 30), "iyx"), ((4, 5, 20, 30), "tzyx"),
    ((2, 20, 30, 3), "iyxc"), ((2, 3, 5, 20, 30), "tczyx")])
def test_arrays(tmp_path, random, shape, axes):
    array = random.integers(0, 255, shape).astype(">u2")
    for order in "CF":
        np.save(tmp_path / "a.npy", np.asarray(array, order=order))
        image = warpalign.open(tmp_path / "a.npy")
        assert "".join(image.axes) == axes
        np.testing.assert_array_equal(np.asarray(image), array)


def test_arrays_that_are_no_pixels(tmp_path):
    for array, words in [(np.array(["a", "b"]), "are no pixels"),
                         (np.zeros(5), r"has 1 axes, of the shape \(5,\)")]:
        np.save(tmp_path / "a.npy", array)
        with pytest.raises(ValueError, match=words):
            warpalign.open(tmp_path / "a.npy")


def test_pictures_of_netpbm(tmp_path, random):
    gray = random.integers(0, 255, (20, 30)).astype(np.uint8)
    colours = random.integers(0, 255, (20, 30, 3)).astype(np.uint8)
    deep = gray.astype(np.uint16) * 257
    real = random.random((20, 30)).astype(np.float32)
    for name, head, pixels, expected in [
            ("a.pgm", "P5\n# a comment\n30 20\n255\n", gray, gray),
            ("b.pgm", "P5 30 20 65535\n", deep.astype(">u2"), deep),
            ("a.ppm", "P6\n30 20\n255\n", colours, colours),
            ("a.pfm", "Pf\n30 20\n-1.0\n", real[::-1].astype("<f4"), real)]:
        (tmp_path / name).write_bytes(head.encode() + pixels.tobytes())
        check_part(warpalign.open(tmp_path / name), expected)
    (tmp_path / "deep.ppm").write_bytes(b"P6\n30 20\n65535\n"
                                        + (colours.astype(">u2") * 257).tobytes())
    with pytest.warns(UserWarning, match="colours of 16 bits, of which the upper 8 are read"):
        np.testing.assert_array_equal(np.asarray(warpalign.open(tmp_path / "deep.ppm")), colours)


# GeoTIFF.

@pytest.fixture
def map_file(tmp_path, pixels):
    rasterio = pytest.importorskip("rasterio")
    from rasterio.transform import from_origin

    path = tmp_path / "map.tif"
    with rasterio.open(path, "w", driver="GTiff", width=60, height=40, count=2, dtype="uint16",
                       crs="EPSG:32633", transform=from_origin(500_000, 5_400_000, 0.5, 0.25),
                       nodata=7, compress="deflate", tiled=True, blockxsize=16,
                       blockysize=16) as file:
        file.write(np.stack([pixels, pixels[::-1]]))
        file.set_band_description(1, "red")
        file.set_band_description(2, "infrared")
        file.update_tags(SURVEY="north")
    return path


def test_geotiff(map_file, pixels):
    rasterio = pytest.importorskip("rasterio")
    image = warpalign.open(map_file)
    check_part(image, np.stack([pixels, pixels[::-1]]))
    assert image.format == "GeoTIFF" and image.axes == ("c", "y", "x")
    assert image.channels == ("red", "infrared") and image.nodata == 7
    assert image.spacing == (1, 0.25, 0.5) and image.units[1:] == ("meter", "meter")
    with rasterio.open(map_file) as file:
        expected = np.array(file.xy(3, 5)) * 1e3  # of the pixel's centre, in millimetres
    np.testing.assert_allclose(image.geometry.points([[3, 5]])[0], expected, rtol=1e-15)
    result = pixels.astype(np.float32) / 3
    target = map_file.with_name("out.tif")
    image.save(target, result)
    with rasterio.open(map_file) as file, rasterio.open(target) as written:
        assert written.crs == file.crs and written.transform == file.transform
        assert written.nodata == 7 and written.tags()["SURVEY"] == "north"
        np.testing.assert_array_equal(written.read(1), result)
    image.save(target)
    with rasterio.open(target) as written:
        assert written.descriptions == ("red", "infrared")
        np.testing.assert_array_equal(written.read(2), pixels[::-1])


def test_overviews_of_a_geotiff(map_file):
    rasterio = pytest.importorskip("rasterio")
    with rasterio.open(map_file, "r+") as file:
        file.build_overviews([2])
    coarse = warpalign.open(map_file, level=1)
    assert coarse.shape == (2, 20, 30) and coarse.spacing[1:] == (0.5, 1)
    with rasterio.open(map_file, overview_level=0) as file:
        np.testing.assert_array_equal(coarse, file.read())


# FITS.

@pytest.fixture
def sky_file(tmp_path, random):
    fits = pytest.importorskip("astropy.io.fits")
    from astropy.wcs import WCS

    wcs = WCS(naxis=2)
    wcs.wcs.ctype = ["RA---TAN", "DEC--TAN"]
    wcs.wcs.crval, wcs.wcs.crpix = [83.6, 22.0], [30.5, 20.5]
    wcs.wcs.cd = np.array([[-0.3, 0.02], [0.02, 0.3]]) / 3600
    header = wcs.to_header()
    header["OBJECT"] = "M 1"
    sky = random.normal(100, 10, (40, 60)).astype(np.float32)
    path = tmp_path / "sky.fits"
    fits.HDUList([fits.PrimaryHDU(), fits.ImageHDU(sky, header, name="SCI")]).writeto(path)
    return path, sky


def test_fits(tmp_path, sky_file):
    fits = pytest.importorskip("astropy.io.fits")
    from astropy.wcs import WCS

    path, sky = sky_file
    image = warpalign.open(path)
    np.testing.assert_array_equal(image, sky)
    assert image.axes == ("y", "x") and image.scenes == ("SCI",) and image.geometry is None
    np.testing.assert_allclose(image.spacing, np.hypot(0.3, 0.02), rtol=1e-6)
    assert image.units == ("arcsecond",) * 2 and image.metadata["header"]["OBJECT"] == "M 1"
    image.save(tmp_path / "out.fits", sky + 1)
    with fits.open(tmp_path / "out.fits") as written:
        np.testing.assert_array_equal(written[0].data, sky + 1)
        assert written[0].header["OBJECT"] == "M 1"
        before, after = image.metadata["wcs"], WCS(written[0].header)
        np.testing.assert_allclose(after.all_pix2world([[3, 5]], 0),
                                   before.all_pix2world([[3, 5]], 0), rtol=0, atol=1e-12)


def test_fits_of_cameras_cubes_and_compressed(tmp_path, random):
    fits = pytest.importorskip("astropy.io.fits")
    counts = random.integers(0, 60000, (40, 60)).astype(np.uint16)  # with BZERO
    fits.PrimaryHDU(counts).writeto(tmp_path / "a.fits")
    check_part(warpalign.open(tmp_path / "a.fits"), counts)
    fits.HDUList([fits.PrimaryHDU(), fits.CompImageHDU(counts, name="A"),
                  fits.ImageHDU(counts[::-1], name="B")]).writeto(tmp_path / "b.fits")
    image = warpalign.open(tmp_path / "b.fits")
    assert image.scenes == ("A", "B")
    check_part(image, counts)
    np.testing.assert_array_equal(warpalign.open(tmp_path / "b.fits", scene="B"), counts[::-1])
    with pytest.raises(ValueError, match="it has no image 'C'; it has 'A', 'B'"):
        warpalign.open(tmp_path / "b.fits", scene="C")
    cube = random.random((3, 40, 60))
    hdu = fits.PrimaryHDU(cube)
    for axis, kind in enumerate(["RA---TAN", "DEC--TAN", "FREQ"], 1):
        hdu.header[f"CTYPE{axis}"], hdu.header[f"CRVAL{axis}"] = kind, 10.0 * axis
        hdu.header[f"CDELT{axis}"], hdu.header[f"CRPIX{axis}"] = 0.001, 5.0
    hdu.writeto(tmp_path / "c.fits")
    image = warpalign.open(tmp_path / "c.fits")
    assert image.axes == ("c", "y", "x")
    image.save(tmp_path / "d.fits", cube[0])
    from astropy.wcs import WCS

    flat = WCS(fits.getheader(tmp_path / "d.fits"))
    assert flat.naxis == 2
    np.testing.assert_allclose(flat.all_pix2world([[3, 5]], 0),
                               image.metadata["wcs"].celestial.all_pix2world([[3, 5]], 0))


# NIfTI.

@pytest.mark.parametrize("ending", [".nii", ".nii.gz"])
@pytest.mark.parametrize("scaled", [False, True])
def test_nifti(tmp_path, random, ending, scaled):
    nibabel = pytest.importorskip("nibabel")
    volume = random.integers(0, 1000, (9, 40, 60)).astype(np.int16)  # z, y, x
    affine = np.array([[-0.5, 0, 0, 10], [0, 0.75, 0, -20], [0, 0, 2, 30], [0, 0, 0, 1.0]])
    made = nibabel.Nifti1Image(volume.T, affine)
    made.header["descrip"] = b"first scan"
    if scaled:
        made.header.set_slope_inter(0.5, 3)
    nibabel.save(made, tmp_path / f"a{ending}")
    image = warpalign.open(tmp_path / f"a{ending}")
    expected = np.asarray(nibabel.load(tmp_path / f"a{ending}").dataobj).T
    check_part(image, expected)
    assert image.axes == ("z", "y", "x") and image.spacing == (2, 0.75, 0.5)
    assert image.geometry == Geometry.of(nibabel.load(tmp_path / f"a{ending}"))
    assert Geometry.of(tmp_path / f"a{ending}") == image.geometry
    assert isinstance(image.array, np.memmap) == (ending == ".nii" and not scaled)
    result = expected.astype(np.float32) * 2
    image.save(tmp_path / f"b{ending}", result)
    written = nibabel.load(tmp_path / f"b{ending}")
    np.testing.assert_allclose(written.affine, affine, atol=1e-6)
    np.testing.assert_array_equal(np.asarray(written.dataobj).T, result)
    assert bytes(written.header["descrip"]).rstrip(b"\0") == b"first scan"
    part = image.select(z=slice(2, 8, 3), x=slice(4, None))
    part.save(tmp_path / f"c{ending}")
    written = nibabel.load(tmp_path / f"c{ending}")
    np.testing.assert_allclose(written.affine @ [1, 2, 1, 1], affine @ [5, 2, 5, 1], atol=1e-5)


def test_lengths_of_nifti_are_in_millimetres(tmp_path, random):
    nibabel = pytest.importorskip("nibabel")
    volume = random.random((9, 20, 30)).astype(np.float32)
    for unit, factor in (("meter", 1e-3), ("micron", 1e3), ("mm", 1), ("unknown", 1)):
        made = nibabel.Nifti1Image(volume.T, np.diag([2 * factor, 3 * factor, 4 * factor, 1]))
        made.header.set_xyzt_units(unit)
        nibabel.save(made, tmp_path / "a.nii")
        image = warpalign.open(tmp_path / "a.nii")
        np.testing.assert_allclose(image.geometry.spacing, (2, 3, 4), rtol=1e-6)
        np.testing.assert_allclose(image.spacing, (4, 3, 2), rtol=1e-6)
        image.save(tmp_path / "b.nii", volume)
        written = nibabel.load(tmp_path / "b.nii")
        np.testing.assert_allclose(np.diag(written.affine), (2, 3, 4, 1), rtol=1e-6)
        assert written.header.get_xyzt_units()[0] == "mm"


def test_nifti_over_time(tmp_path, random):
    nibabel = pytest.importorskip("nibabel")
    series = random.random((4, 9, 20, 30)).astype(np.float32)
    made = nibabel.Nifti1Image(series.T, np.eye(4))
    made.header.set_zooms((1, 1, 1, 2.5))
    made.header.set_xyzt_units("mm", "sec")
    nibabel.save(made, tmp_path / "a.nii")
    image = warpalign.open(tmp_path / "a.nii")
    assert image.axes == ("t", "z", "y", "x") and image.spacing[0] == 2.5
    assert image.units[0] == "second"
    image.save(tmp_path / "b.nii", series + 1)
    written = nibabel.load(tmp_path / "b.nii")
    assert written.header.get_zooms()[3] == 2.5
    np.testing.assert_array_equal(np.asarray(written.dataobj).T, series + 1)


# DICOM.

def write_series(folder, volume, origin=(-100, -80, 30), spacing=(0.5, 0.75, 2.0)):
    """Slices of ITK, in files whose names are in another order than their places."""
    sitk = pytest.importorskip("SimpleITK")
    image = sitk.GetImageFromArray(volume)
    image.SetSpacing(spacing)
    image.SetOrigin(origin)
    c, s = np.cos(0.3), np.sin(0.3)
    image.SetDirection([1, 0, 0, 0, c, -s, 0, s, c])
    folder.mkdir()
    writer = sitk.ImageFileWriter()
    writer.KeepOriginalImageUIDOn()
    direction = image.GetDirection()
    for z in range(len(volume)):
        one = image[:, :, z]
        for tag, value in [("0008|0060", "MR"), ("0020|000e", "1.2.3.4"), ("0020|000d", "1.2.3"),
                           ("0008|103e", "T1"), ("0008|0018", f"1.2.3.4.{z + 1}"),
                           ("0020|0032", "\\".join(f"{v:.10g}" for v in
                            image.TransformIndexToPhysicalPoint((0, 0, z)))),
                           ("0020|0037", "\\".join(f"{direction[i]:.12g}"
                                                   for i in (0, 3, 6, 1, 4, 7))),
                           ("0020|0013", str(z + 1))]:
            one.SetMetaData(tag, value)
        writer.SetFileName(str(folder / f"{(7 * z) % 11:03}.dcm"))
        writer.Execute(one)
    return image


def test_a_series_of_dicom(tmp_path, random):
    pytest.importorskip("pydicom")
    volume = random.integers(-500, 2000, (9, 40, 60)).astype(np.int16)
    made = write_series(tmp_path / "series", volume)
    image = warpalign.open(tmp_path / "series")
    check_part(image, volume)
    assert image.axes == ("z", "y", "x") and image.scenes == ("T1",)
    np.testing.assert_allclose(image.spacing, (2, 0.75, 0.5))
    np.testing.assert_allclose(image.geometry.points([[4, 5, 6]])[0],
                               made.TransformIndexToPhysicalPoint((6, 5, 4)), atol=1e-5)
    nibabel = pytest.importorskip("nibabel")
    image.save(tmp_path / "a.nii.gz")
    ras = nibabel.load(tmp_path / "a.nii.gz").affine @ [6, 5, 4, 1]
    np.testing.assert_allclose(ras[:3] * [-1, -1, 1],
                               made.TransformIndexToPhysicalPoint((6, 5, 4)), atol=1e-4)
    (tmp_path / "series" / "006.dcm").unlink()  # plane 4
    with pytest.raises(ValueError, match="the series lacks slices: they are 2 mm apart, but 4 mm"):
        warpalign.open(tmp_path / "series")


def test_one_file_of_dicom(tmp_path, random):
    pytest.importorskip("pydicom")
    volume = random.integers(0, 2000, (1, 40, 60)).astype(np.uint16)
    write_series(tmp_path / "series", volume)
    image = warpalign.open(next((tmp_path / "series").iterdir()))
    check_part(image, volume[0])
    assert image.spacing == (0.75, 0.5)


# Microscopes.

def test_czi(tmp_path, random):
    pytest.importorskip("czifile")
    pylibczi = pytest.importorskip("pylibCZIrw.czi")
    stack = random.integers(0, 60000, (2, 3, 40, 60)).astype(np.uint16)
    path = tmp_path / "a.czi"
    with pylibczi.create_czi(str(path)) as file:
        for c in range(2):
            for z in range(3):
                file.write(stack[c, z][..., None], plane={"C": c, "Z": z, "T": 0})
        file.write_metadata("a", channel_names={0: "nuclei", 1: "actin"}, scale_x=0.25e-6,
                            scale_y=0.5e-6, scale_z=2e-6)
    image = warpalign.open(path)
    check_part(image, stack)
    assert image.axes == ("c", "z", "y", "x") and image.channels == ("nuclei", "actin")
    np.testing.assert_allclose(image.spacing, (1, 2, 0.5, 0.25))
    image.save(tmp_path / "a.ome.zarr")
    again = warpalign.open(tmp_path / "a.ome.zarr")
    check_part(again, stack)
    assert again.channels == image.channels
    np.testing.assert_allclose(again.spacing, image.spacing)


def write_lif(path, stack, metres, name="first"):
    """A LIF file of version 2, by the structure that Leica publishes: blocks that begin with 0x70
    and hold parts that begin with 0x2a, the first one XML in UTF-16."""
    channels = "".join('<ChannelDescription DataType="0" ChannelTag="0" Resolution="16" '
                       'NameOfMeasuredQuantity="" Min="0" Max="65535" Unit="" IsLUTInverted="0" '
                       f'BitInc="0" BytesInc="{i * stack[0].nbytes}" LUTName="{colour}"/>'
                       for i, colour in enumerate(["Green", "Red"]))
    strides = {1: 2, 2: 2 * stack.shape[3], 3: 2 * stack.shape[3] * stack.shape[2]}
    dimensions = "".join(
        f'<DimensionDescription DimID="{i}" NumberOfElements="{stack.shape[4 - i]}" Origin="0" '
        f'Length="{metres[i - 1] * (stack.shape[4 - i] - 1)}" Unit="m" BitInc="0" '
        f'BytesInc="{strides[i]}"/>'
        for i in (1, 2, 3))
    xml = ('<LMSDataContainerHeader Version="2"><Element Name="all" Visibility="1"><Data/>'
           f'<Children><Element Name="{name}" Visibility="1"><Data><Image><ImageDescription>'
           f"<Channels>{channels}</Channels><Dimensions>{dimensions}</Dimensions>"
           "</ImageDescription></Image></Data>"
           f'<Memory Size="{stack.nbytes}" MemoryBlockID="MemBlock_1"/></Element></Children>'
           "</Element></LMSDataContainerHeader>")
    number = lambda value, size=4: int(value).to_bytes(size, "little")
    text = xml.encode("utf-16-le")
    block = "MemBlock_1".encode("utf-16-le")
    with open(path, "wb") as file:
        file.write(number(0x70) + number(5 + len(text)) + b"\x2a" + number(len(xml)) + text)
        file.write(number(0x70) + number(14 + len(block)) + b"\x2a" + number(stack.nbytes, 8)
                   + b"\x2a" + number(10) + block + stack.tobytes())


def test_lif(tmp_path, random):
    pytest.importorskip("liffile")
    stack = random.integers(0, 60000, (2, 3, 40, 60)).astype(np.uint16)
    write_lif(tmp_path / "a.lif", stack, (0.25e-6, 0.5e-6, 2e-6))
    image = warpalign.open(tmp_path / "a.lif")
    assert sorted(image.axes) == ["c", "x", "y", "z"]
    order = [("c", "z", "y", "x").index(axis) for axis in image.axes]
    check_part(image, stack.transpose(order))
    for axis, expected in zip("zyx", (2, 0.5, 0.25)):
        assert image.spacing[image.axes.index(axis)] == pytest.approx(expected)
    assert image.units[image.axes.index("x")] == "micrometer" and "first" in image.scenes[0]


def write_nd2(path, channels, micrometres, names):
    """An ND2 file of version 3 with one frame of some channels: chunks at multiples of 4096, with
    attributes in Nikon's lite variants, and a map of the chunks at the end."""
    def item(kind, name, data):
        text = (name + "\0").encode("utf-16-le")
        return bytes([kind, len(text) // 2]) + text + data

    def level(name, items):
        head = 2 + 2 * (len(name) + 1) + 12
        size = head + sum(map(len, items))
        return item(11, name, len(items).to_bytes(4, "little") + size.to_bytes(8, "little")
                    + b"".join(items) + bytes(8 * len(items)))

    def number(name, value):
        return item(3, name, int(value).to_bytes(4, "little"))

    def chunk(name, data):
        reserved = 4072 if len(data) > 4096 or name.startswith(b"ND2") else len(name) + 20
        return (0x0ABECEDA.to_bytes(4, "little") + reserved.to_bytes(4, "little")
                + len(data).to_bytes(8, "little") + name.ljust(reserved, b"\0") + data)

    count, height, width = channels.shape
    attributes = level("SLxImageAttributes", [
        number("uiWidth", width), number("uiHeight", height), number("uiComp", count),
        number("uiWidthBytes", 2 * count * width), number("uiBpcInMemory", 16),
        number("uiBpcSignificant", 16), number("uiSequenceCount", 1), number("eCompression", 2)])
    planes = level("sPlaneNew", [
        level(f"a{i}", [item(8, "sDescription", (name + "\0").encode("utf-16-le")),
                        level("pFluorescentProbe", [number("m_uiColor", 0)]),
                        number("uiCompCount", 1)]) for i, name in enumerate(names)])
    metadata = level("SLxPictureMetadata", [
        item(6, "dCalibration", struct.pack("<d", micrometres)), item(1, "bCalibrated", b"\x01"),
        level("sPicturePlanes", [number("uiCount", count), number("uiSampleCount", 1), planes])])
    pixels = bytes(8) + np.ascontiguousarray(channels.transpose(1, 2, 0)).tobytes()
    with open(path, "wb") as file:
        file.write(0x0ABECEDA.to_bytes(4, "little") + (32).to_bytes(4, "little")
                   + (64).to_bytes(8, "little") + b"ND2 FILE SIGNATURE CHUNK NAME01!"
                   + b"Ver3.0".ljust(64, b"\0"))
        listed = b""
        for name, data in [(b"ImageAttributesLV!", attributes),
                           (b"ImageMetadataSeqLV|0!", metadata), (b"ImageDataSeq|0!", pixels)]:
            file.write(bytes(-file.tell() % 4096))
            listed += name + struct.pack("<QQ", file.tell(), len(data))
            file.write(chunk(name, data))
        file.write(bytes(-file.tell() % 4096))
        at = file.tell()
        end = b"ND2 CHUNK MAP SIGNATURE 0000001!" + at.to_bytes(8, "little")
        file.write(chunk(b"ND2 FILEMAP SIGNATURE NAME 0001!", listed + end))


def test_nd2(tmp_path, random, monkeypatch):
    pytest.importorskip("nd2")
    channels = random.integers(0, 60000, (2, 40, 60)).astype(np.uint16)
    write_nd2(tmp_path / "a.nd2", channels, 0.25, ["DAPI", "GFP"])
    image = warpalign.open(tmp_path / "a.nd2")
    check_part(image, channels)
    assert image.axes == ("c", "y", "x") and image.channels == ("DAPI", "GFP")
    assert image.spacing == (1, 0.25, 0.25) and image.units[1:] == ("micrometer",) * 2
    np.testing.assert_array_equal(image.select(c="GFP"), channels[1])
    with monkeypatch.context() as without:
        for name in ("dask", "dask.array"):
            without.setitem(sys.modules, name, None)
        np.testing.assert_array_equal(warpalign.open(tmp_path / "a.nd2"), channels)


# OME-Zarr.

@pytest.mark.parametrize("version", ["0.4", "0.5", "0.6"])
def test_ome_zarr(tmp_path, random, version):
    ngff_zarr = pytest.importorskip("ngff_zarr")
    zarr = pytest.importorskip("zarr")
    stack = random.integers(1, 60000, (2, 8, 40, 60)).astype(np.uint16)
    image = ngff_zarr.to_ngff_image(
        stack, dims=("c", "z", "y", "x"), scale={"z": 2.0, "y": 0.5, "x": 0.25},
        translation={"z": 10.0, "y": 20.0, "x": 30.0},
        axes_units=dict.fromkeys("zyx", "micrometer"))
    made = ngff_zarr.to_multiscales(image, scale_factors=[2])
    path = tmp_path / "a.ome.zarr"
    ngff_zarr.to_ngff_zarr(str(path), made, version=version)
    image = warpalign.open(path)
    check_part(image, stack)
    assert isinstance(image.array, zarr.Array) and image.metadata["version"] == version
    assert image.axes == ("c", "z", "y", "x") and image.spacing == (1, 2, 0.5, 0.25)
    np.testing.assert_allclose(image.geometry.origin, [30e-3, 20e-3, 10e-3], rtol=1e-14)
    assert Geometry.of(path) == image.geometry
    coarse = warpalign.open(path, level=1)
    assert coarse.shape == (2, 4, 20, 30) and coarse.spacing == (1, 4, 1, 0.5)
    image.save(tmp_path / "b.zarr", stack[:, :, ::-1] + 1.5)
    read = ngff_zarr.from_ngff_zarr(str(tmp_path / "b.zarr"), version="0.5").images[0]
    np.testing.assert_array_equal(np.asarray(read.data), stack[:, :, ::-1] + 1.5)
    assert {axis: read.scale[axis] for axis in "zyx"} == {"z": 2, "y": 0.5, "x": 0.25}
    assert read.translation["x"] == pytest.approx(30) and read.axes_units["x"] == "micrometer"


def test_ome_zarr_of_ome(tmp_path, random):
    """The library ome-zarr reads what we write."""
    ome_zarr = pytest.importorskip("ome_zarr")
    from ome_zarr.io import parse_url
    from ome_zarr.reader import Reader

    assert ome_zarr
    tifffile = pytest.importorskip("tifffile")
    stack = random.integers(1, 200, (3, 40, 60)).astype(np.uint8)
    tifffile.imwrite(tmp_path / "a.ome.tif", stack, metadata={
        "axes": "ZYX", "PhysicalSizeX": 0.25, "PhysicalSizeY": 0.5, "PhysicalSizeZ": 2.0})
    warpalign.open(tmp_path / "a.ome.tif").save(tmp_path / "a.zarr")
    node = next(iter(Reader(parse_url(str(tmp_path / "a.zarr")))()))
    np.testing.assert_array_equal(np.asarray(node.data[0]), stack)
    assert node.metadata["coordinateTransformations"][0][0]["scale"] == [2, 0.5, 0.25]


def test_missing_and_damaged_chunks(tmp_path, random):
    zarr = pytest.importorskip("zarr")
    tifffile = pytest.importorskip("tifffile")
    tifffile.imwrite(tmp_path / "a.tif", random.integers(1, 9, (4, 40, 60)).astype(np.uint8),
                     metadata={"axes": "ZYX"}, ome=True)
    path = tmp_path / "a.zarr"
    warpalign.open(tmp_path / "a.tif").save(path)
    assert zarr.open_array(path / "0").chunks == (1, 40, 60)
    chunk = path / "0" / "c" / "2" / "0" / "0"
    chunk.write_bytes(chunk.read_bytes()[:20])
    image = warpalign.open(path)
    with pytest.raises(ValueError, match="a.zarr: its pixels are cut short or damaged") as error:
        np.asarray(image)
    assert "\n" not in str(error.value)
    assert np.asarray(image[1]).any()
    chunk.unlink()
    with pytest.warns(UserWarning, match="1 of 4 chunks are not stored; their pixels read as 0"):
        warpalign.open(path)
    shutil.rmtree(path / "0")
    with pytest.raises(ValueError, match="a.zarr"):
        warpalign.open(path)


def test_bioio_reads_other_formats(tmp_path, random):
    pytest.importorskip("bioio")
    pytest.importorskip("bioio_imageio")
    pixels = random.integers(0, 255, (40, 60)).astype(np.uint8)
    pil.fromarray(pixels).save(tmp_path / "a.gif")
    image = warpalign.open(tmp_path / "a.gif")
    assert image.format == "bioio" and image.axes == ("y", "x")
    np.testing.assert_array_equal(image, pixels)


# What all formats have in common.

def written_files(folder, pixels):
    """A file of each format that can be cut off, by the libraries that are installed."""
    def tiff(path):
        importlib.import_module("tifffile").imwrite(path, pixels)

    def fits(path):
        importlib.import_module("astropy.io.fits").PrimaryHDU(pixels).writeto(path)

    def nifti(path):
        nibabel = importlib.import_module("nibabel")
        nibabel.save(nibabel.Nifti1Image(np.stack([pixels] * 3).T, np.eye(4)), path)

    def picture(path):
        pil.fromarray((pixels >> 8).astype(np.uint8)).save(path)

    def lif(path):
        importlib.import_module("liffile")
        write_lif(path, np.stack([np.stack([pixels] * 2)] * 2), (1e-6,) * 3)

    def nd2(path):
        importlib.import_module("nd2")
        write_nd2(path, np.stack([pixels] * 2), 0.5, ["a", "b"])

    def czi(path):
        importlib.import_module("czifile")
        with importlib.import_module("pylibCZIrw.czi").create_czi(str(path)) as file:
            file.write(pixels[..., None], plane={"C": 0, "Z": 0, "T": 0})

    def dicom(path):
        importlib.import_module("pydicom")
        sitk = importlib.import_module("SimpleITK")
        sitk.WriteImage(sitk.GetImageFromArray(pixels[None]), str(path))

    def geotiff(path):
        rasterio = importlib.import_module("rasterio")
        from rasterio.transform import from_origin

        with rasterio.open(path, "w", driver="GTiff", width=60, height=40, count=1,
                           dtype="uint16", crs="EPSG:32633",
                           transform=from_origin(0, 0, 1, 1)) as file:
            file.write(pixels, 1)

    for name, write in [("a.tif", tiff), ("a.fits", fits), ("a.nii", nifti), ("a.nii.gz", nifti),
                        ("a.png", picture), ("a.jpg", picture), ("a.bmp", picture),
                        ("a.webp", picture), ("a.lif", lif), ("a.czi", czi), ("a.nd2", nd2),
                        ("a.dcm", dicom), ("geo.tif", geotiff)]:
        try:
            write(folder / name)
        except ImportError:
            continue
        yield folder / name


@pytest.mark.filterwarnings("ignore")
def test_cut_files_give_one_line_with_the_path(tmp_path, pixels):
    for path in written_files(tmp_path, pixels):
        whole = path.read_bytes()
        np.asarray(warpalign.open(path))
        for length in (0, 3, 10, 100, len(whole) // 2, len(whole) * 3 // 4):
            path.write_bytes(whole[:length])
            try:
                np.asarray(warpalign.open(path))
            except ValueError as error:
                assert str(path) in str(error) and "\n" not in str(error), (path, length)
            else:
                pytest.fail(f"{path.name} was read although it has {length} bytes only")


PACKAGES = {"a.tif": ("tifffile", "tiff"), "a.fits": ("astropy.io.fits", "fits"),
            "a.nii": ("nibabel", "nifti"), "a.png": ("PIL.Image", "pillow"),
            "a.lif": ("liffile", "lif"), "a.czi": ("czifile", "czi"), "a.nd2": ("nd2", "nd2"),
            "a.dcm": ("pydicom", "dicom"), "geo.tif": ("rasterio", "geotiff")}


def test_errors_name_the_missing_extra(tmp_path, pixels, monkeypatch):
    paths = list(written_files(tmp_path, pixels))
    (tmp_path / "a.nd2").write_bytes(b"\xda\xce\xbe\x0a" + bytes(100))
    for path in [*paths, tmp_path / "a.nd2"]:
        if path.name not in PACKAGES:
            continue
        module, extra = PACKAGES[path.name]
        with monkeypatch.context() as patched:
            patched.setitem(sys.modules, module, None)
            with pytest.raises(ImportError, match=rf"{module}: pip install 'warpalign\[{extra}\]'"):
                warpalign.open(path)
    (tmp_path / "b.zarr").mkdir()
    (tmp_path / "b.zarr" / "zarr.json").write_text("{}")
    monkeypatch.setitem(sys.modules, "zarr", None)
    with pytest.raises(ImportError, match=r"pip install 'warpalign\[zarr\]'"):
        warpalign.open(tmp_path / "b.zarr")


def test_every_extra_is_declared():
    import pathlib
    import tomllib

    project = tomllib.loads((pathlib.Path(__file__).parents[2] / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"]
    assert {extra for _, extra in PACKAGES.values()} | {"zarr"} <= set(extras)


def test_other_files_and_folders_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no file"):
        warpalign.open(tmp_path / "none.png")
    (tmp_path / "a.txt").write_text("text")
    with pytest.raises(ValueError, match="is of no known format"):
        warpalign.open(tmp_path / "a.txt")
    with pytest.raises(ValueError, match="is a folder without an image"):
        warpalign.open(tmp_path)
    with pytest.raises(FileNotFoundError):
        warpalign.register(tmp_path / "none.png", tmp_path / "none.png")


def test_nothing_is_left_of_a_file_that_fails(tmp_path, pixels):
    pil.fromarray(pixels).save(tmp_path / "a.png")
    image = warpalign.open(tmp_path / "a.png")
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "something").write_text("mine")
    before = sorted(os.listdir(tmp_path))
    for name, array, axes, error in [
            ("b.png", pixels.astype(np.float32), None, "holds pixels of uint8"),
            ("b.png", pixels[:-1], None, "not on the grid"),
            ("b.png", np.stack([pixels] * 5), "tyx", "has no axis 't'"),
            ("b.png", pixels, "yy", "each of the 2 axes"),
            ("b.nef", pixels, None, "tells no format")]:
        with pytest.raises(ValueError, match=error):
            image.save(tmp_path / name, array, axes=axes)
    os.rename(tmp_path / "kept", tmp_path / "kept.png")
    with pytest.raises(FileExistsError, match="is a folder"):
        image.save(tmp_path / "kept.png", pixels)
    os.rename(tmp_path / "kept.png", tmp_path / "kept")
    assert sorted(os.listdir(tmp_path)) == before


def test_parts_are_chosen_by_name(tmp_path, random):
    tifffile = pytest.importorskip("tifffile")
    stack = random.integers(0, 255, (2, 3, 40, 60)).astype(np.uint8)
    tifffile.imwrite(tmp_path / "a.ome.tif", stack, metadata={
        "axes": "CZYX", "Channel": {"Name": ["a", "b"]}})
    image = warpalign.open(tmp_path / "a.ome.tif")
    np.testing.assert_array_equal(image.select(c="b", z=-1), stack[1, 2])
    assert image.select(c="b").channels == () and image.select(c=slice(1, 2)).channels == ("b",)
    with pytest.raises(ValueError, match="has no axis 't'; its axes are c, z, y, x"):
        image.select(t=0)
    with pytest.raises(ValueError, match="has no channel 'd'; it has 'a', 'b'"):
        image.select(c="d")
    with pytest.raises(IndexError, match="has 3 elements along the axis 'z'"):
        image.select(z=3)
    with pytest.raises(ValueError, match=r"it has c 2, z 3.*select\(c=0, z=0\)"):
        warpalign.register(image, image)


