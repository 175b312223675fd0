"""Paths in place of arrays: each function gives what it gives for the array of the file."""

import pathlib

import numpy as np
import pytest
import scipy.ndimage

import warpalign
from warpalign import ndimage

pil = pytest.importorskip("PIL.Image")

SHIFT = (3, -5)


@pytest.fixture(scope="module")
def pair(scene):
    """Two windows of a scene in 8 bits, and their files."""
    levels = np.rint(scene).astype(np.uint8)
    return levels[10:180, 20:230], levels[13:183, 15:225]


@pytest.fixture
def files(pair, tmp_path):
    for name, image in zip(("a", "b"), pair):
        pil.fromarray(np.ascontiguousarray(image)).save(tmp_path / f"{name}.png")
    return str(tmp_path / "a.png"), tmp_path / "b.png"  # one a str, one a Path


def test_register(pair, files):
    expected = warpalign.register(*pair, motion="translation")
    found = warpalign.register(*files, motion="translation")
    np.testing.assert_array_equal(found.matrix, expected.matrix)
    np.testing.assert_array_equal(found.warp(files[1]), expected.warp(pair[1]))
    opened = [warpalign.open(file) for file in files]
    np.testing.assert_array_equal(
        warpalign.register(*opened, motion="translation").matrix, expected.matrix)
    registrar = warpalign.Registrar(motion="translation")
    registrar.set_reference(files[0])
    np.testing.assert_array_equal(registrar.align(files[1]).matrix, expected.matrix)
    batch = warpalign.register_batch([files, pair], motion="translation")
    np.testing.assert_array_equal(batch[0].matrix, batch[1].matrix)
    assert found._repr_png_().startswith(b"\x89PNG")
    transform = expected.transform
    np.testing.assert_array_equal(transform.warp(files[1]), transform.warp(pair[1]))


def test_colours_are_registered_by_their_luminance(pair, tmp_path):
    """As the program does: ITU-R BT.709."""
    random = np.random.default_rng(3)
    colours = [np.stack([image, 255 - image // 2, random.integers(0, 9, image.shape)],
                        axis=2).astype(np.uint8) for image in pair]
    for name, image in zip(("a", "b"), colours):
        pil.fromarray(image).save(tmp_path / f"{name}.png")
    gray = [np.rint(image @ [0.2126, 0.7152, 0.0722]).astype(np.uint8) for image in colours]
    expected = warpalign.register(*gray, motion="translation")
    found = warpalign.register(tmp_path / "a.png", tmp_path / "b.png", motion="translation")
    np.testing.assert_array_equal(found.matrix, expected.matrix)
    aligned = found.warp(tmp_path / "b.png")
    np.testing.assert_array_equal(aligned, found.warp(colours[1]))
    reference = warpalign.open(tmp_path / "a.png")
    reference.save(tmp_path / "aligned.png", aligned)
    np.testing.assert_array_equal(np.asarray(pil.open(tmp_path / "aligned.png")), aligned)


def test_masks_and_local_motion(pair, files, tmp_path):
    mask = np.ones(pair[0].shape, np.uint8)
    mask[:60, :60] = 0
    pil.fromarray(mask).save(tmp_path / "mask.png")
    options = {"motion": "translation"}
    expected = warpalign.register(*pair, reference_mask=mask, **options)
    found = warpalign.register(*files, reference_mask=tmp_path / "mask.png", **options)
    np.testing.assert_array_equal(found.matrix, expected.matrix)
    expected = warpalign.register_local(*pair, window=64)
    found = warpalign.register_local(*files, window=64)
    np.testing.assert_array_equal(found.field, expected.field)
    np.testing.assert_array_equal(found.warp(files[1]), expected.warp(pair[1]))


@pytest.fixture
def stack_file(pair, tmp_path):
    tifffile = pytest.importorskip("tifffile")
    frames = np.stack([np.roll(pair[0], n, axis=1) for n in (0, 2, 5, 1)])
    tifffile.imwrite(tmp_path / "stack.tif", frames, imagej=True, metadata={"axes": "TYX"})
    tifffile.imwrite(tmp_path / "plain.tif", frames, compression="zlib", metadata=None,
                     photometric="minisblack")
    return tmp_path / "stack.tif", frames


def test_stacks(stack_file, tmp_path):
    path, frames = stack_file
    options = {"motion": "translation"}
    expected = warpalign.register_stack(frames, **options)
    for number, frame in enumerate(frames):
        pil.fromarray(frame).save(tmp_path / f"{number}.png")
    parts = [tmp_path / f"{number}.png" for number in range(len(frames))]
    for given in (path, str(tmp_path / "plain.tif"), parts, iter(parts)):
        found = warpalign.register_stack(given, **options)
        np.testing.assert_array_equal(found.matrices, expected.matrices)
    found = warpalign.register_stack(path, to=parts[1], **options)
    np.testing.assert_array_equal(
        found.matrices, warpalign.register_stack(frames, to=frames[1], **options).matrices)
    for given in (path, parts):
        for aligned, wanted in zip(found.warp(given), found.warp(frames), strict=True):
            np.testing.assert_array_equal(aligned, wanted)
    with pytest.raises(ValueError, match="is no stack: its axes are y, x"):
        warpalign.register_stack(parts[0])


def test_dask_reads_files_in_its_tasks(stack_file, tmp_path):
    wd = pytest.importorskip("warpalign.dask")
    path, frames = stack_file
    options = {"motion": "translation"}
    expected = wd.register_stack(frames, **options)
    stack = wd.register_stack(path, **options)
    np.testing.assert_array_equal(stack.drift.compute()["matrix"],
                                  expected.drift.compute()["matrix"])
    np.testing.assert_array_equal(stack.warp(path).compute(), expected.warp(frames).compute())
    plain = wd.register_stack(tmp_path / "plain.tif", **options)
    np.testing.assert_array_equal(plain.drift.compute()["matrix"],
                                  expected.drift.compute()["matrix"])
    zoomed = wd.zoom(path, (1, 0.5, 0.5), order=1)
    np.testing.assert_allclose(
        zoomed.compute(), ndimage.zoom(frames, (1, 0.5, 0.5), order=1), atol=1)  # rounded


def test_resampling_takes_the_array_of_a_file(pair, files):
    np.testing.assert_array_equal(ndimage.zoom(files[0], 1.5), ndimage.zoom(pair[0], 1.5))
    np.testing.assert_array_equal(ndimage.shift(files[1], (1.5, 2), order=1),
                                  ndimage.shift(pair[1], (1.5, 2), order=1))
    np.testing.assert_array_equal(warpalign.to_device(files[0]).numpy(), pair[0])


def test_mosaics(scene, tmp_path):
    levels = np.rint(scene).astype(np.uint8)
    tiles = [levels[:200, :140], levels[:200, 110:250]]
    for number, tile in enumerate(tiles):
        pil.fromarray(np.ascontiguousarray(tile)).save(tmp_path / f"{number}.png")
    parts = [tmp_path / "0.png", tmp_path / "1.png"]
    expected = warpalign.mosaic(tiles, [(0, 0), (0, 105)], fuse=True)
    found = warpalign.mosaic(parts, [(0, 0), (0, 105)], fuse=True)
    np.testing.assert_array_equal(found.positions, expected.positions)
    np.testing.assert_array_equal(found.image, expected.image)


@pytest.fixture
def scans(volume, tmp_path):
    """A volume and the same after a rotation by 8 degrees in millimetres, with other voxels, of
    which only their files tell the spacing."""
    nibabel = pytest.importorskip("nibabel")
    spacing = np.array([2.0, 1.0, 1.0])  # z, y, x
    c, s = np.cos(np.radians(8)), np.sin(np.radians(8))
    rotation = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])  # about x, as (z, y, x) in mm
    matrix = np.diag(1 / spacing) @ rotation @ np.diag(spacing)
    centre = (np.array(volume.shape) - 1) / 2
    moving = scipy.ndimage.affine_transform(volume, matrix, centre - matrix @ centre,
                                            mode="mirror").astype(np.float32)
    for name, array in (("a", volume.astype(np.float32)), ("b", moving)):
        affine = np.diag([1.0, 1.0, 2.0, 1.0])
        affine[:3, 3] = (5, -7, 9) if name == "b" else 0
        nibabel.save(nibabel.Nifti1Image(array.T, affine), tmp_path / f"{name}.nii.gz")
    return tmp_path / "a.nii.gz", tmp_path / "b.nii.gz", volume.astype(np.float32), moving


def test_volumes_are_registered_in_millimetres(scans):
    fixed, moved, reference, moving = scans
    found = warpalign.register_volume(fixed, moved, motion="rigid")
    expected = warpalign.register_volume(reference, moving, motion="rigid", spacing=(2, 1, 1))
    np.testing.assert_array_equal(found.matrix, expected.matrix)
    assert found.reliable and found.rotation_deg == pytest.approx(8, abs=0.3)
    np.testing.assert_array_equal(found.warp(moved), expected.warp(moving))
    # The result knows where both images lie.
    point = np.array([[10.0, 12, 14]])
    world = found.transform.points(found.transform.reference.points(point), world=True)
    np.testing.assert_allclose(
        world, found.transform.moving.points(found.transform.points(point)), atol=1e-9)
    assert expected.transform.reference is None


def test_series(scans, tmp_path):
    nibabel = pytest.importorskip("nibabel")
    volumes = np.stack([scans[2], np.roll(scans[2], 1, 2), scans[2]])
    affine = np.diag([-1.0, 1.5, 2.0, 1.0])
    nibabel.save(nibabel.Nifti1Image(volumes.T, affine), tmp_path / "series.nii")
    nibabel.save(nibabel.Nifti1Image(volumes[1].T, affine), tmp_path / "one.nii")
    expected = warpalign.register_series(volumes, affine=affine[:, [2, 1, 0, 3]])
    found = warpalign.register_series(tmp_path / "series.nii")
    assert found.motion.tolist()[1:] == expected.motion.tolist()[1:]
    assert found.motion["trans_x"][1] == pytest.approx(-1, abs=0.05)  # a voxel towards the left
    other = warpalign.register_series(tmp_path / "series.nii", to=str(tmp_path / "one.nii"))
    wanted = warpalign.register_series(volumes, affine=affine[:, [2, 1, 0, 3]], to=volumes[1])
    np.testing.assert_array_equal(other.matrices, wanted.matrices)
    np.save(tmp_path / "series.npy", volumes)
    assert warpalign.register_series(tmp_path / "series.npy", to=2).motion["status"][1] == "ok"
    with pytest.raises(ValueError, match="is no series of volumes: its axes are z, y, x"):
        warpalign.register_series(tmp_path / "one.nii")


def test_mirrored_volumes_are_refused(scans, tmp_path):
    nibabel = pytest.importorskip("nibabel")
    image = nibabel.load(scans[1])
    flipped = nibabel.Nifti1Image(np.asarray(image.dataobj)[::-1],
                                  image.affine @ np.diag([-1.0, 1, 1, 1]))
    nibabel.save(flipped, tmp_path / "c.nii")
    with pytest.raises(ValueError, match="mirrored.*as_closest_canonical"):
        warpalign.register_volume(scans[0], tmp_path / "c.nii", motion="rigid")


def test_nodata_of_a_map_is_ignored(scene, tmp_path):
    rasterio = pytest.importorskip("rasterio")
    from rasterio.transform import from_origin

    levels = np.rint(scene).astype(np.int16)
    images = [levels[10:180, 20:230].copy(), levels[13:183, 15:225].copy()]
    for name, image in zip(("a", "b"), images):
        image[:, :70] = -999  # the border of the survey, at the same place in both
        with rasterio.open(tmp_path / f"{name}.tif", "w", driver="GTiff", width=210, height=170,
                           count=1, dtype="int16", crs="EPSG:32633", nodata=-999,
                           transform=from_origin(500_000, 5_400_000, 0.5, 0.5)) as file:
            file.write(image, 1)
    found = warpalign.register(tmp_path / "a.tif", tmp_path / "b.tif", motion="translation")
    # The first pixels of the windows differ by this; the borders say (0, 0).
    np.testing.assert_allclose(found.translation, (-3, 5), atol=0.05)
    reference = warpalign.open(tmp_path / "a.tif")
    aligned = found.warp(tmp_path / "b.tif", cval=reference.nodata)
    assert set(np.unique(aligned[:, :64])) == {-999}
    np.testing.assert_allclose(aligned[5:160, 90:190], images[0][5:160, 90:190], atol=3)
    reference.save(tmp_path / "out.tif", aligned)
    with rasterio.open(tmp_path / "out.tif") as file:
        assert file.nodata == -999 and file.crs.to_epsg() == 32633


def test_colours_of_a_map(pair, tmp_path):
    rasterio = pytest.importorskip("rasterio")
    from rasterio.transform import from_origin

    colours = [np.stack([image, 255 - image // 2, image // 3]) for image in pair]
    for name, image in zip(("a", "b"), colours):
        with rasterio.open(tmp_path / f"{name}.tif", "w", driver="GTiff", width=210, height=170,
                           count=3, dtype="uint8", crs="EPSG:32633", photometric="RGB",
                           transform=from_origin(500_000, 5_400_000, 0.5, 0.5)) as file:
            file.write(image)
    gray = [np.rint(np.tensordot([0.2126, 0.7152, 0.0722], image, 1)).astype(np.uint8)
            for image in colours]
    expected = warpalign.register(*gray, motion="translation")
    found = warpalign.register(tmp_path / "a.tif", tmp_path / "b.tif", motion="translation")
    np.testing.assert_array_equal(found.matrix, expected.matrix)
    aligned = found.warp(tmp_path / "b.tif")
    assert aligned.shape == (170, 210, 3)
    warpalign.open(tmp_path / "a.tif").save(tmp_path / "c.tif", aligned)
    with rasterio.open(tmp_path / "c.tif") as file:
        np.testing.assert_array_equal(file.read(), aligned.transpose(2, 0, 1))
        assert [one.name for one in file.colorinterp] == ["red", "green", "blue"]


def test_stars_are_aligned_and_keep_the_wcs_of_the_reference(tmp_path):
    fits = pytest.importorskip("astropy.io.fits")
    from astropy.wcs import WCS

    random = np.random.default_rng(5)
    places, fluxes = random.uniform(10, 190, (60, 2)), random.exponential(2000, 60)
    rows, columns = np.mgrid[:200, :200]

    def sky(shift):
        image = random.normal(100, 5, (200, 200))
        for (row, column), flux in zip(places + shift, fluxes):
            image += flux * np.exp(-((rows - row)**2 + (columns - column)**2) / (2 * 1.5**2))
        return image.astype(np.float32)

    wcs = WCS(naxis=2)
    wcs.wcs.ctype, wcs.wcs.crval = ["RA---TAN", "DEC--TAN"], [83.6, 22.0]
    wcs.wcs.crpix, wcs.wcs.cdelt = [100, 100], [-1e-4, 1e-4]
    fits.PrimaryHDU(sky((0, 0)), wcs.to_header()).writeto(tmp_path / "a.fits")
    fits.PrimaryHDU(sky((4.3, -2.6))).writeto(tmp_path / "b.fits")
    found = warpalign.register(tmp_path / "a.fits", tmp_path / "b.fits", motion="translation")
    np.testing.assert_allclose(found.translation, (4.3, -2.6), atol=0.05)
    reference = warpalign.open(tmp_path / "a.fits")
    reference.save(tmp_path / "c.fits", found.warp(tmp_path / "b.fits"))
    with fits.open(tmp_path / "c.fits") as hdus:
        after = WCS(hdus[0].header)
    np.testing.assert_allclose(after.all_pix2world([[3, 5]], 0), wcs.all_pix2world([[3, 5]], 0))


def test_what_is_no_image_is_refused(tmp_path, files):
    with pytest.raises(ValueError, match="has no axis z: its axes are y, x"):
        warpalign.register_volume(files[0], files[1])
    with pytest.raises(ValueError, match="does not tell where its pixels lie"):
        warpalign.Geometry.of(files[0])
    assert isinstance(files[1], pathlib.Path)
