"""Images as people bring them: orientations, pages, unusual types, and damaged files."""

import json
import pathlib

import numpy as np
import pytest
import tifffile
from image_kinds import KINDS, exif_of
from PIL import Image, ImageOps
from program_runs import run

BRIDGE = pathlib.Path(__file__).parents[2] / "tests" / "data" / "bridge.jpg"


@pytest.fixture(scope="module")
def pair():
    """Two windows of a photograph; content moves by (9, -6) pixels."""
    photograph = np.array(Image.open(BRIDGE).convert("L"))
    return photograph[20:260, 30:270], photograph[26:266, 21:261]


def registered(*arguments):
    done = run("register", *arguments, "--motion", "translation", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


def check_shift(report):
    assert report["translation"] == pytest.approx([9, -6], abs=0.05)


def stored_as(image, orientation):
    """The pixels that a viewer turns to `image`."""
    undo = {1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 8, 7: 7, 8: 6}[orientation]
    tagged = Image.fromarray(image)
    tagged.getexif()[0x112] = undo
    return np.array(ImageOps.exif_transpose(tagged))


@pytest.mark.parametrize("orientation", range(1, 9))
def test_the_orientation_is_applied(program, tmp_path, pair, orientation):
    reference, moving = tmp_path / "a.tif", tmp_path / "b.jpg"
    tifffile.imwrite(reference, stored_as(pair[0], orientation),
                     extratags=[(274, 3, 1, orientation, True)])
    Image.fromarray(stored_as(pair[1], 9 - orientation)).save(
        moving, quality=97, exif=exif_of(9 - orientation))
    report, errors = registered(reference, moving, "--output", tmp_path / "c.tif")
    check_shift(report)
    assert report["orientation"] == {"reference": orientation, "moving": 9 - orientation}
    assert not errors
    with tifffile.TiffFile(tmp_path / "c.tif") as output:
        assert output.pages[0].tags.get(274) is None
        inside = (slice(10, 230), slice(10, 230))
        assert np.abs(output.asarray()[inside].astype(int) - pair[0][inside]).mean() < 6


def test_an_upright_pair_reports_no_orientation(program, tmp_path, pair):
    for name, image in zip("ab", pair, strict=True):
        tifffile.imwrite(tmp_path / f"{name}.tif", image)
    report, _ = registered(tmp_path / "a.tif", tmp_path / "b.tif")
    assert "orientation" not in report


def test_the_tiff_tag_counts_before_xmp_and_a_line_says_so(program, tmp_path, pair):
    packet = b'<x:xmpmeta><rdf:Description tiff:Orientation="3"/></x:xmpmeta>'
    tifffile.imwrite(tmp_path / "a.tif", stored_as(pair[0], 6),
                     extratags=[(274, 3, 1, 6, True), (700, 1, len(packet), packet, True)])
    tifffile.imwrite(tmp_path / "b.tif", pair[1])
    report, errors = registered(tmp_path / "a.tif", tmp_path / "b.tif")
    check_shift(report)
    assert report["orientation"] == {"reference": 6, "moving": 1}
    assert errors.count("\n") == 1
    assert "the TIFF tag gives the orientation 6, but the XMP data gives 3" in errors


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"])
def test_the_output_keeps_the_type(program, tmp_path, pair, dtype):
    for name, image in zip("ab", pair, strict=True):
        values = image.astype(float) / 2 - (60 if dtype[0] != "u" else 0)
        tifffile.imwrite(tmp_path / f"{name}.tif", values.astype(dtype))
    output = tmp_path / "c.tif"
    report, _ = registered(tmp_path / "a.tif", tmp_path / "b.tif", "--output", output, "--overlay",
                           tmp_path / "overlay.png")
    check_shift(report)
    assert tifffile.imread(output).dtype == {"i8": "i4", "u8": "u4"}.get(dtype, dtype)


def test_a_format_that_cannot_hold_the_type_is_refused_before_anything_runs(program, tmp_path, pair):
    for name, image in zip("ab", pair, strict=True):
        tifffile.imwrite(tmp_path / f"{name}.tif", image.astype(np.int16))
    done = run("register", tmp_path / "a.tif", tmp_path / "b.tif", "--output", tmp_path / "c.png")
    assert done.returncode == 2
    assert done.stderr == (f"warpalign: {tmp_path / 'c.png'}: only TIFF can hold pixels of type i16; "
                           "use a name that ends in .tif\n")
    assert not (tmp_path / "c.png").exists()


def test_five_channels_are_registered_by_their_mean_and_all_written(program, tmp_path, pair):
    for name, image in zip("ab", pair, strict=True):
        planes = np.stack([image // 5 * weight for weight in range(1, 6)], -1)
        tifffile.imwrite(tmp_path / f"{name}.tif", planes, photometric="minisblack",
                         planarconfig="contig")
    report, _ = registered(tmp_path / "a.tif", tmp_path / "b.tif", "--output", tmp_path / "c.tif")
    check_shift(report)
    assert tifffile.imread(tmp_path / "c.tif").shape == (240, 240, 5)


def test_arrays_are_registered(program, tmp_path, pair):
    np.save(tmp_path / "a.npy", pair[0].astype(np.int64) - 100)
    np.save(tmp_path / "b.npy", np.repeat(np.asfortranarray(pair[1])[..., None], 3, -1))
    report, _ = registered(tmp_path / "a.npy", tmp_path / "b.npy")
    check_shift(report)


@pytest.fixture
def with_thumbnail(tmp_path, pair):
    """A file whose first page is a thumbnail that is not marked as one."""
    name = tmp_path / "pages.tif"
    with tifffile.TiffWriter(name) as file:
        file.write(pair[0][::4, ::4])
        file.write(pair[0])
    tifffile.imwrite(tmp_path / "b.tif", pair[1])
    return name, tmp_path / "b.tif"


def test_a_page_of_another_size_is_named_in_a_line(program, with_thumbnail):
    done = run("register", *with_thumbnail, "--motion", "translation")
    assert f"{with_thumbnail[0]}: page 0 of 60 x 60 is read, but page 1 has 240 x 240" in done.stderr
    assert "--pages" in done.stderr


def test_pages_are_chosen_by_an_option_or_by_name(program, tmp_path, pair, with_thumbnail):
    pages, moving = with_thumbnail
    for arguments in ([pages, moving, "--pages", "1,0"], [f"{pages}[1]", moving]):
        report, errors = registered(*arguments)
        check_shift(report)
        assert not errors
    done = run("register", pages, moving, "--pages", "2")
    assert done.returncode == 2
    assert done.stderr == f"warpalign: {pages}: has no page 2; its pages are 0 to 1\n"
    done = run("register", pages, moving, "--pages", "1.5")
    assert done.returncode == 2
    assert done.stderr.startswith("warpalign: --pages 1.5: give the number of a page")


def test_a_marked_thumbnail_is_skipped(program, tmp_path, pair):
    with tifffile.TiffWriter(tmp_path / "a.tif") as file:
        file.write(pair[0][::4, ::4], subfiletype=1)
        file.write(pair[0])
    tifffile.imwrite(tmp_path / "b.tif", pair[1])
    report, errors = registered(tmp_path / "a.tif", tmp_path / "b.tif")
    check_shift(report)
    assert "page 0 is a reduced image of 60 x 60; page 1 of 240 x 240 is read" in errors


def test_integers_beyond_32_bits_are_refused(program, tmp_path, pair):
    tifffile.imwrite(tmp_path / "a.tif", pair[0].astype(np.int64) << 30)
    done = run("register", tmp_path / "a.tif", tmp_path / "a.tif")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "does not fit into 32 bits; convert it to float64" in done.stderr


ONE_OF_EACH = {kind.format: kind for kind in reversed(KINDS)}


@pytest.mark.parametrize("kind", ONE_OF_EACH.values(), ids=lambda kind: kind.format)
@pytest.mark.parametrize("share", [0.02, 0.4, 0.9])
def test_a_cut_off_file_is_refused_in_one_line(program, tmp_path, kind, share):
    name = pathlib.Path(kind.write(tmp_path / "image")[0])
    content = name.read_bytes()
    name.write_bytes(content[:max(8, int(share * len(content)))])
    output = tmp_path / "out.tif"
    done = run("register", name, name, "--output", output)
    assert done.returncode == 2, done.stdout
    assert done.stderr.startswith(f"warpalign: {name}: ")
    assert done.stderr.count("\n") == 1
    assert done.stderr.count(name.name) == 1
    assert not output.exists()


def test_a_frame_that_cannot_be_read_is_named_once(program, tmp_path, pair):
    name = tmp_path / "stack.tif"
    with tifffile.TiffWriter(name) as file:
        for size in (240, 240, 200, 240):
            file.write(pair[0][:size, :size])
    done = run("stack", name, "--motion", "translation")
    assert done.returncode == 2
    line = f"warpalign: frame 2: {name}: is 200 x 200, but the first frame is 240 x 240"
    assert line in done.stderr.splitlines()


def test_an_image_is_prefiltered(program, tmp_path, pair):
    Image.fromarray(pair[0]).save(tmp_path / "a.png")
    np.save(tmp_path / "a.npy", pair[0])
    coefficients = []
    for name in ("a.png", "a.npy"):
        done = run("prefilter", tmp_path / name, tmp_path / "c.npy")
        assert done.returncode == 0, done.stderr
        coefficients.append(np.load(tmp_path / "c.npy"))
    assert np.array_equal(*coefficients)
    Image.fromarray(np.dstack([pair[0]] * 3)).save(tmp_path / "rgb.png")
    done = run("prefilter", tmp_path / "rgb.png", tmp_path / "d.npy")
    assert done.returncode == 2
    assert done.stderr.endswith("rgb.png: has 3 channels; save them one by one, as gray images\n")
    assert not (tmp_path / "d.npy").exists()
