"""`warpalign stack` with recordings of several channels and planes: tifffile is the oracle."""

import json

import numpy as np
import pytest
from program_runs import run

tifffile = pytest.importorskip("tifffile")

DRIFT = np.array([[0, 0], [3.25, -2.5], [-1.75, 4.0], [6.5, 1.25], [-5.0, -3.0]])  # x, y
HEIGHT, WIDTH = 120, 140
# Shifts are found to some hundredths of a pixel, and images of unsigned bytes round to 0.5. The
# scene's slope of up to 20 gray levels a pixel turns 0.05 pixels into 1 gray level.
CLOSE = 2.5


def scene(seed, shift=(0, 0), bend=lambda x, y: (x, y)):
    """Gaussian spots, evaluated where the content shifted by (x, y) is read: an exact drift."""
    random = np.random.default_rng(seed)
    y, x = np.mgrid[:HEIGHT, :WIDTH].astype(float)
    x, y = bend(x - shift[0], y - shift[1])
    image = np.full(np.shape(x), 20.0)
    for _ in range(150):
        cx, cy = random.uniform(-20, WIDTH + 20), random.uniform(-20, HEIGHT + 20)
        size, height = random.uniform(2, 5), random.uniform(15, 45)
        image += height * np.exp(-((x - cx) ** 2 + (y - cy) ** 2) / (2 * size**2))
    return image


def recording(slices=1, channels=2, dtype=np.uint8, gain=1, drift=DRIFT):
    """Frames (T, Z, C, Y, X), of which each plane shows another scene with the same drift."""
    frames = [[[scene(10 * z + c, shift) for c in range(channels)] for z in range(slices)]
              for shift in drift]
    return (np.clip(np.array(frames) * gain, 0, 255 * gain)).round().astype(dtype)


def ok(*arguments, **environment):
    done = run("stack", *arguments, **environment)
    assert done.returncode == 0, done.stderr
    return done


def refused(*arguments, status=2):
    done = run("stack", *arguments)
    assert done.returncode == status, (done.returncode, done.stderr)
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr


def inside(planes, margin=10):
    return planes[..., margin:-margin, margin:-margin].astype(float)


def check_aligned(aligned, first, gain=1):
    """All frames show what the first one does, apart from the margin that left the frame."""
    assert aligned.dtype == first.dtype
    difference = np.abs(inside(aligned) - inside(first)[None])
    assert difference.max() < CLOSE * gain


SHIFT = ("--motion", "translation", "--quiet")


@pytest.fixture
def imagej(tmp_path):
    """A hyperstack of two channels and three planes in z, with the metadata that ImageJ keeps."""
    frames = recording(slices=3, dtype=np.uint16, gain=200)
    labels = [f"plane {i}" for i in range(frames.shape[0] * 6)]
    tifffile.imwrite(
        tmp_path / "in.tif", frames, imagej=True, resolution=(1 / 0.325, 1 / 0.325),
        metadata={"axes": "TZCYX", "unit": "um", "spacing": 1.5, "finterval": 0.25,
                  "mode": "composite", "Labels": labels, "Ranges": (0.0, 900.0, 10.0, 50000.0),
                  "LUTs": [np.array([np.arange(256) * k for k in (1, 0, 0)], np.uint8),
                           np.array([np.arange(256) * k for k in (0, 1, 0)], np.uint8)],
                  "Info": "Objective: 40x"})
    return tmp_path / "in.tif", frames


def test_imagej_hyperstack_stays_one(program, imagej, tmp_path):
    path, frames = imagej
    for byte_order in "<>":
        if byte_order == ">":  # as ImageJ itself writes
            with tifffile.TiffFile(path) as file:
                meta = dict(file.imagej_metadata)
            tifffile.imwrite(path, frames, imagej=True, byteorder=">",
                             resolution=(1 / 0.325, 1 / 0.325),
                             metadata={"axes": "TZCYX", "unit": "um", "spacing": 1.5,
                                       "finterval": 0.25, "mode": "composite",
                                       **{k: meta[k] for k in ("Labels", "Ranges", "LUTs", "Info")}})
        out = tmp_path / f"out{ord(byte_order)}.tif"
        ok(path, "--channel", 1, "--z", "max", *SHIFT, "--output", out)
        with tifffile.TiffFile(path) as before, tifffile.TiffFile(out) as after:
            assert after.is_imagej
            assert after.series[0].axes == "TZCYX"
            assert after.series[0].shape == frames.shape
            expected, got = before.imagej_metadata, after.imagej_metadata
            assert expected.keys() == got.keys()
            for key, value in expected.items():
                np.testing.assert_array_equal(got[key], value, err_msg=key)
            assert len(after.pages) == 30
            tags = before.pages[0].tags, after.pages[0].tags
            for name in ("XResolution", "YResolution"):
                wanted, found = (t[name].value[0] / t[name].value[1] for t in tags)
                assert found == pytest.approx(wanted, rel=1e-6)  # libtiff reads single precision
            assert tags[0]["ResolutionUnit"].value == tags[1]["ResolutionUnit"].value
            check_aligned(after.asarray(), frames[0], gain=200)


@pytest.mark.parametrize("order", ["TZCYX", "CTZYX", "ZCTYX", "TCZYX"])
def test_ome_keeps_axes_names_and_pixel_sizes(program, tmp_path, order):
    frames = recording(slices=2, dtype=np.uint16, gain=100)
    stored = np.transpose(frames, ["TZCYX".index(axis) for axis in order])
    metadata = {"axes": order, "PhysicalSizeX": 0.2, "PhysicalSizeXUnit": "µm",
                "PhysicalSizeY": 0.21, "PhysicalSizeYUnit": "µm", "PhysicalSizeZ": 0.5,
                "TimeIncrement": 0.1, "Channel": {"Name": ["GCaMP <6>", "td & Tomato"]},
                "Plane": {"DeltaT": [float(i) for i in range(20)]}}
    path, out = tmp_path / "in.ome.tif", tmp_path / "out.tif"
    tifffile.imwrite(path, stored, metadata=metadata)
    ok(path, "--channel-weights", "1,0.5", "--z", "mean", *SHIFT, "--output", out)
    with tifffile.TiffFile(path) as before, tifffile.TiffFile(out) as after:
        assert after.is_ome
        series = after.series[0]
        assert series.axes == order
        check_aligned(np.transpose(series.asarray(), [order.index(axis) for axis in "TZCYX"]),
                      frames[0], gain=100)
        old = tifffile.xml2dict(before.ome_metadata)["OME"]["Image"]["Pixels"]
        new = tifffile.xml2dict(after.ome_metadata)["OME"]["Image"]["Pixels"]
        for key in old:
            if key not in ("TiffData", "BigEndian", "Plane"):
                assert new[key] == old[key], key
        assert len(new["Plane"]) == 20
        assert tifffile.validate_ome(after.ome_metadata) if hasattr(tifffile, "validate_ome") else True
        assert "UUID" not in after.ome_metadata


def test_a_label_that_tifffile_writes_may_mean_frames(program, tmp_path):
    path, out = tmp_path / "in.tif", tmp_path / "out.tif"
    frames = recording(channels=1)[:, 0, 0]
    tifffile.imwrite(path, frames, imagej=True)  # as so many channels
    assert "--channel 0 to 4, or give --axes TYX if they are frames" in refused(path)
    ok(path, "--axes", "TYX", *SHIFT, "--output", out)
    check_aligned(tifffile.imread(out), frames[0])


def test_a_thumbnail_before_the_frames(program, tmp_path):
    path, out = tmp_path / "in.tif", tmp_path / "out.tif"
    frames = recording(channels=1)[:, 0, 0]
    with tifffile.TiffWriter(path) as writer:
        for page in (frames[0, ::4, ::4], *frames):
            writer.write(page, photometric="minisblack", metadata=None)
    done = ok(path, "--motion", "translation", "--output", out)
    assert done.stderr == (f"warpalign: {path}: its first page is 35 x 30, and the other 5 are "
                           "140 x 120; the first one is left out\n")
    check_aligned(tifffile.imread(out), frames[0])


def test_only_channel_reads_one(program, imagej, tmp_path):
    path, frames = imagej
    out = tmp_path / "out.tif"
    ok(path, "--channel", 1, "--only-channel", "--z", 2, "--only-z", *SHIFT, "--output", out)
    with tifffile.TiffFile(out) as file:
        assert file.series[0].axes == "TYX"
        assert file.imagej_metadata["unit"] == "um"
        check_aligned(file.asarray(), frames[0, 2, 1], gain=200)


def test_one_time_point_aligns_planes_in_z(program, tmp_path):
    frames = recording(dtype=np.uint8)[:, 0]
    path, out = tmp_path / "in.tif", tmp_path / "out.tif"
    tifffile.imwrite(path, frames, imagej=True, metadata={"axes": "ZCYX", "spacing": 2.0})
    ok(path, "--channel", 0, *SHIFT, "--output", out)
    with tifffile.TiffFile(out) as file:
        assert file.series[0].axes == "ZCYX"
        assert file.imagej_metadata["spacing"] == 2.0
        check_aligned(file.asarray(), frames[0])
    assert "the frames" in refused(path, "--channel", 0, "--z", 1, "--output", out)


def test_other_outputs_of_several_planes(program, imagej, tmp_path):
    path, frames = imagej
    ok(path, "--channel", 0, "--z", 1, *SHIFT, "--output", tmp_path / "out.npy",
       "--output-folder", tmp_path / "images", "--output-video", tmp_path / "out.y4m",
       "--report", tmp_path / "page.html")
    check_aligned(np.load(tmp_path / "out.npy"), frames[0], gain=200)
    images = sorted((tmp_path / "images").iterdir())
    assert [image.name for image in images] == [f"{i:04}_in.tif" for i in range(5)]
    with tifffile.TiffFile(images[3]) as file:
        assert file.series[0].axes == "ZCYX"
        np.testing.assert_array_equal(file.asarray(), np.load(tmp_path / "out.npy")[3])
    video = (tmp_path / "out.y4m").read_bytes()
    assert video.startswith(b"YUV4MPEG2 W140 H120 ")
    last = np.frombuffer(video[-HEIGHT * WIDTH * 2:], np.uint16).reshape(HEIGHT, WIDTH)
    np.testing.assert_array_equal(last, np.load(tmp_path / "out.npy")[4, 1, 0])


def test_choices_that_do_not_fit(program, imagej, tmp_path):
    path, _ = imagej
    out = tmp_path / "out.tif"
    for arguments, words in [
            ((), "has 2 channels; choose by which to register with --channel 0 to 1"),
            (("--channel", 2, "--z", 0), "--channel can be 0 to 1"),
            (("--channel", 0), "has 3 planes in z; choose by which to register with --z 0 to 2"),
            (("--channel", 0, "--z", 3), "--z can be 0 to 2"),
            (("--channel", 0, "--z", "most"), "invalid value 'most' for --z"),
            (("--channel-weights", "1", "--z", 0), "--channel-weights: has 1 numbers"),
            (("--channel-weights", "0,0", "--z", 0), "all weights are 0"),
            (("--channel-weights", "1,1", "--channel", 0), "omit --channel"),
            (("--only-channel", "--z", 0), "--only-channel: needs --channel"),
            (("--only-z", "--z", "max", "--channel", 0), "--only-z: needs --z")]:
        message = refused(path, *arguments, "--output", out)
        assert words in message
        assert message.count(str(path)) <= 1
        assert not out.exists()


def test_a_file_that_ends_in_the_middle(program, imagej, tmp_path):
    path, frames = imagej
    with tifffile.TiffFile(path) as file:
        cut = file.pages[20].dataoffsets[0] + 100  # in the fourth frame
    damaged, out = tmp_path / "cut.tif", tmp_path / "out.tif"
    damaged.write_bytes(path.read_bytes()[:cut])
    done = run("stack", damaged, "--channel", 0, "--z", 0, *SHIFT, "--output", out)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 and done.stderr.count("cut.tif") == 1
    with tifffile.TiffFile(out) as file:
        assert file.series[0].shape == (3, *frames.shape[1:])
        check_aligned(file.asarray(), frames[0], gain=200)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["cut.tif", "in.tif", "out.tif"]


def test_resume_continues_with_all_planes(program, imagej, tmp_path):
    path, _ = imagej
    whole, part = tmp_path / "whole.tif", tmp_path / "part.tif"
    same = (path, "--channel", 0, "--z", "max", *SHIFT)
    ok(*same, "--output", whole)
    for shard in ("1/2", "2/2"):
        ok(*same, "--output", part, "--shard", shard)
    ok(*same, "--output", part, "--resume")
    assert whole.read_bytes() == part.read_bytes()
    done = run("stack", *same, "--output", part, "--resume", "--channel-weights", "1,1")
    assert done.returncode == 2


def test_several_files_are_one_recording(program, imagej, tmp_path):
    path, frames = imagej
    second, out = tmp_path / "second.tif", tmp_path / "out.tif"
    tifffile.imwrite(second, frames[::-1], imagej=True, metadata={"axes": "TZCYX"})
    ok(path, second, "--channel", 0, "--z", 0, *SHIFT, "--output", out)
    with tifffile.TiffFile(out) as file:  # the number was not known at the start
        assert file.series[0].axes == "TZCYX"
        assert file.series[0].shape == (10, 3, 2, HEIGHT, WIDTH)
        assert file.imagej_metadata["frames"] == 10
        check_aligned(file.asarray(), frames[0], gain=200)
    one = tmp_path / "one.tif"
    tifffile.imwrite(one, frames[:, :, 0], imagej=True, metadata={"axes": "TZYX"})
    done = run("stack", path, one, "--channel", 0, "--z", 0, *SHIFT, "--output", out)
    assert done.returncode == 2
    assert "one.tif: has 1 channels and 3 planes in z" in done.stderr


@pytest.mark.parametrize("order", ["TCYX", "CTYX", "TZCYX", "ZTCYX", "YXCT", "TYXC", "TYX"])
def test_arrays_keep_their_axes(program, tmp_path, order):
    frames = recording(slices=2 if "Z" in order else 1, channels=2 if "C" in order else 1,
                       dtype=np.int16, gain=100)
    keep = [axis for axis in "TZCYX" if axis in order]
    whole = frames.reshape([n for n, axis in zip(frames.shape, "TZCYX") if axis in order])
    np.save(tmp_path / "in.npy", np.transpose(whole, [keep.index(axis) for axis in order]))
    by = [*(["--channel", 0] if "C" in order else []), *(["--z", "mean"] if "Z" in order else [])]
    same = (tmp_path / "in.npy", "--axes", order, *by, *SHIFT)
    ok(*same, "--output", tmp_path / "out.npy", "--json", tmp_path / "drift.json")
    out = np.load(tmp_path / "out.npy")
    assert out.shape == np.load(tmp_path / "in.npy").shape
    aligned = np.transpose(out, [order.index(axis) for axis in keep])
    check_aligned(aligned, whole[0], gain=100)
    for shard in ("2/2", "1/2"):
        ok(*same, "--output", tmp_path / "parts.npy", "--shard", shard)
    ok(*same, "--output", tmp_path / "parts.npy", "--resume")
    np.testing.assert_array_equal(np.load(tmp_path / "parts.npy"), out)
    # As TIFF: ImageJ reads no signed integers, so OME describes several planes.
    ok(*same, "--output", tmp_path / "out.tif")
    with tifffile.TiffFile(tmp_path / "out.tif") as file:
        assert file.series[0].axes == "".join(keep) or order == "TYX"
        np.testing.assert_array_equal(file.asarray(), aligned)


def test_plain_tiff_with_axes_becomes_a_hyperstack(program, tmp_path):
    frames = recording()[:, 0]
    tifffile.imwrite(tmp_path / "in.tif", frames, resolution=(4, 4))
    ok(tmp_path / "in.tif", "--axes", "TCYX", "--channel", 1, *SHIFT, "--output",
       tmp_path / "out.tif")
    with tifffile.TiffFile(tmp_path / "out.tif") as file:
        assert file.is_imagej
        assert file.series[0].axes == "TCYX"
        assert file.pages[9].tags["XResolution"].value == (4, 1)
        check_aligned(file.asarray(), frames[0])


def with_line_offset(offset):
    """Frames of two channels whose odd lines lie `offset` pixels to the right."""
    def bend(x, y):
        return x - offset * (np.round(y).astype(int) % 2), y

    frames = []
    for shift in np.round(DRIFT):  # whole lines, so that odd lines stay odd in the drawing
        frames.append([scene(c, (0, 0), lambda x, y, s=shift: (bend(x, y)[0] - s[0], y - s[1]))
                       for c in range(2)])
    return np.array(frames).round().astype(np.uint8)


def test_bidirectional_scans(program, tmp_path):
    bent, straight = with_line_offset(2.4), with_line_offset(0)
    for name, frames in (("bent", bent), ("straight", straight)):
        tifffile.imwrite(tmp_path / f"{name}.tif", frames, imagej=True, metadata={"axes": "TCYX"})
    by = ("--channel", 0, *SHIFT)
    ok(tmp_path / "bent.tif", *by, "--bidirectional", "--output", tmp_path / "out.tif",
       "--json", tmp_path / "out.json")
    lines = json.loads((tmp_path / "out.json").read_text())["line_offset"]
    assert lines["undone"] and lines["confidence"] > 0.9 and lines["frames"] == 5
    # Rounding to bytes and five frames leave some thousandths of a pixel.
    assert abs(lines["pixels"] - 2.4) < 0.02
    assert lines["standard_error"] < 0.02
    out = tifffile.imread(tmp_path / "out.tif")
    check_aligned(out, straight[0])
    # The same with the known offset; and without it lines stay shifted.
    ok(tmp_path / "bent.tif", *by, "--line-offset", lines["pixels"], "--output",
       tmp_path / "known.tif")
    np.testing.assert_array_equal(tifffile.imread(tmp_path / "known.tif"), out)
    ok(tmp_path / "bent.tif", *by, "--output", tmp_path / "left.tif")
    left = inside(tifffile.imread(tmp_path / "left.tif"))
    assert np.abs(left - inside(straight[0])[None]).max() > 10 * CLOSE


def test_bidirectional_without_certainty_changes_nothing(program, tmp_path):
    noise = np.random.default_rng(1).poisson(3, (4, HEIGHT, WIDTH)).astype(np.uint16)
    np.save(tmp_path / "in.npy", noise)
    done = run("stack", tmp_path / "in.npy", *SHIFT[:2], "--bidirectional", "--output",
               tmp_path / "out.npy", "--json", tmp_path / "out.json")
    assert done.returncode == 1
    assert "--bidirectional: the offset of the lines is not certain" in done.stderr
    assert not json.loads((tmp_path / "out.json").read_text())["line_offset"]["undone"]
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy")[0], noise[0])
    assert "below the width" in refused(tmp_path / "in.npy", "--line-offset", 140)


def test_apply_gives_what_the_first_run_wrote(program, imagej, tmp_path):
    path, frames = imagej
    by = (path, "--channel", 1, "--z", 1)
    ok(*by, *SHIFT, "--output", tmp_path / "first.tif", "--json", tmp_path / "drift.json",
       "--csv", tmp_path / "drift.csv")
    first = tifffile.imread(tmp_path / "first.tif")
    ok(path, "--apply", tmp_path / "drift.json", "--quiet", "--output", tmp_path / "again.tif",
       "--csv", tmp_path / "again.csv")
    np.testing.assert_array_equal(tifffile.imread(tmp_path / "again.tif"), first)
    # CSV has the same numbers but for the last bits of a matrix.
    ok(path, "--apply", tmp_path / "drift.csv", "--quiet", "--output", tmp_path / "csv.tif")
    assert np.abs(tifffile.imread(tmp_path / "csv.tif").astype(int) - first).max() <= 1
    # Another file with one channel, and a part of it.
    np.save(tmp_path / "other.npy", frames[:, 0, 0])
    ok(tmp_path / "other.npy", "--apply", tmp_path / "drift.json", "--quiet",
       "--output", tmp_path / "other_out.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "other_out.npy"), first[:, 0, 0])
    np.save(tmp_path / "crop.npy", frames[:, 0, 0, 20:100, 30:120])
    ok(tmp_path / "crop.npy", "--apply", tmp_path / "drift.json", "--crop-at", "30,20", "--quiet",
       "--output", tmp_path / "crop_out.npy")
    # The mirrored ends of the crop differ, which reaches some 12 pixels inwards.
    difference = inside(np.load(tmp_path / "crop_out.npy"), 20) - inside(
        first[:, 0, 0, 20:100, 30:120], 20)
    assert np.abs(difference).max() <= 1


def test_apply_checks_count_and_size_first(program, imagej, tmp_path):
    path, frames = imagej
    ok(path, "--channel", 1, "--z", 1, *SHIFT, "--json", tmp_path / "drift.json")
    drift = tmp_path / "drift.json"
    np.save(tmp_path / "four.npy", frames[:4, 0, 0])
    np.save(tmp_path / "crop.npy", frames[:, 0, 0, 20:100, 30:120])
    out = tmp_path / "out.npy"

    def refuses(words, *arguments):
        assert words in refused(*arguments, "--output", out)
        assert not out.exists()

    refuses("holds the transforms of 5 frames, and there are 4", tmp_path / "four.npy", "--apply",
            drift)
    refuses("holds transforms of frames of 140 x 120, and these are 90 x 80", tmp_path / "crop.npy",
            "--apply", drift)
    refuses("do not lie within", tmp_path / "crop.npy", "--apply", drift, "--crop-at", "60,20")
    refuses("--crop-at: is for --apply", path, "--channel", 0, "--z", 0, "--crop-at", "1,1")
    refuses("registers nothing; omit", path, "--apply", drift, "--motion", "rigid")
    cut = tmp_path / "cut.json"
    cut.write_text(drift.read_text()[:400])
    refuses("cut.json: it is not the JSON of a stack; it may be cut short", path, "--apply", cut)
    table = tmp_path / "t.csv"
    table.write_text("frame,file,status,spread\n")
    refuses("t.csv: holds local or deformable motion", path, "--apply", table)


def test_channels_are_aligned_with_one_interpolation(program, tmp_path):
    apart = (1.6, -2.3)  # where the second channel shows what the first one does

    def frame(shift):
        one = scene(1, shift)
        other = scene(1, np.add(shift, apart)) * 0.8 + scene(3, np.add(shift, apart)) * 0.2
        return [one, other]

    frames = np.array([frame(shift) for shift in DRIFT])
    frames = (frames * 100).round().astype(np.uint16)
    path = tmp_path / "in.tif"
    tifffile.imwrite(path, frames, imagej=True, metadata={"axes": "TCYX"})
    by = (path, "--channel", 0, *SHIFT)
    ok(*by, "--align-channels", "translation", "--output", tmp_path / "out.tif",
       "--json", tmp_path / "out.json")
    channels = json.loads((tmp_path / "out.json").read_text())["channels"]
    assert channels[0]["matrix"] == [[1, 0, 0], [0, 1, 0]]
    found = np.array(channels[1]["matrix"])[:, 2]
    assert np.abs(found - apart).max() < 0.1
    out = tifffile.imread(tmp_path / "out.tif").astype(float)
    truth = scene(1) * 80 + scene(3) * 20
    check = np.abs(inside(out[:, 1], 14) - inside(truth, 14)[None])
    assert check.max() < CLOSE * 100
    # The transforms of that run for another one, with the drift of that run.
    ok(path, "--apply", tmp_path / "out.json", "--align-channels", tmp_path / "out.json", "--quiet",
       "--output", tmp_path / "again.tif")
    np.testing.assert_array_equal(tifffile.imread(tmp_path / "again.tif"), out)
    # One interpolation: SciPy's cubic spline at the composed shift, not two of them.
    from scipy import ndimage
    drift = json.loads((tmp_path / "out.json").read_text())["frames"][1]["matrix"]
    dx, dy = np.array(drift)[:, 2] + found
    once = ndimage.shift(frames[1, 1].astype(float), (-dy, -dx), order=3, mode="mirror")
    assert np.abs(inside(out[1, 1]) - inside(once)).max() <= 1  # rounding to integers


def test_channels_that_cannot_be_aligned(program, tmp_path):
    frames = np.array([[scene(1, shift), scene(2, shift)] for shift in DRIFT]).astype(np.uint8)
    path, out = tmp_path / "in.tif", tmp_path / "out.tif"
    tifffile.imwrite(path, frames, imagej=True, metadata={"axes": "TCYX"})
    by = (path, "--channel", 0, *SHIFT)
    message = refused(*by, "--align-channels", "translation", "--output", out)
    assert "channel 1 does not register to channel 0" in message
    assert "one channel" in refused(*by, "--only-channel", "--align-channels", "rigid",
                                    "--output", out)
    assert "invalid value 'much'" in refused(*by, "--align-channels", "much", "--output", out)
    three = tmp_path / "three.json"
    one = {"matrix": [[1, 0, 0], [0, 1, 0]]}
    three.write_text(json.dumps({"transforms": [one, one, one]}))
    assert "holds 3 transforms, and the frames have 2 channels" in refused(
        *by, "--align-channels", three, "--output", out)
    assert not out.exists()


def test_a_plane_that_the_description_lacks(program, tmp_path):
    frames = recording(channels=2)[:, 0]
    path, out = tmp_path / "in.ome.tif", tmp_path / "out.ome.tif"
    tifffile.imwrite(path, frames, metadata={"axes": "TCYX"})
    text = tifffile.tiffcomment(path)
    pages = [i for i in range(10) if i != 5]  # channel 1 of frame 2
    listed = "".join(f'<TiffData IFD="{i}" FirstT="{i // 2}" FirstC="{i % 2}" FirstZ="0" '
                     'PlaneCount="1"/>' for i in pages)
    start = text.index("<TiffData")
    end = text.index("/>", start) + 2
    tifffile.tiffcomment(path, text[:start] + listed + text[end:])
    done = run("stack", path, "--channel", 0, *SHIFT, "--output", out, "--json",
               tmp_path / "out.json")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "frame 2" in done.stderr and "missing" in done.stderr
    aligned = tifffile.imread(out)
    assert aligned.shape == frames.shape
    assert not aligned[2].any()  # the whole frame, so that channels belong together
    check_aligned(np.delete(aligned, 2, axis=0), frames[0])


def test_local_motion_moves_all_channels(program, tmp_path):
    random = np.random.default_rng(3)
    from scipy import ndimage
    texture = [ndimage.gaussian_filter(random.normal(0, 1, (160, 200)), 1.5) for _ in range(2)]
    texture = [(t - t.min()) / np.ptp(t) * 200 for t in texture]
    frames = np.array([[ndimage.shift(t, (0.4 * k, -0.7 * k), mode="mirror") for t in texture]
                       for k in range(4)]).round().clip(0, 255).astype(np.uint8)
    path, out = tmp_path / "in.tif", tmp_path / "out.tif"
    tifffile.imwrite(path, frames, imagej=True, metadata={"axes": "TCYX"})
    ok(path, "--channel", 0, "--motion", "local", "--window", 64, "--quiet", "--output", out)
    aligned = tifffile.imread(out)
    assert aligned.shape == frames.shape
    difference = inside(aligned, 16) - inside(frames[0], 16)[None]
    assert np.sqrt((difference**2).mean()) < 3  # of a texture with a deviation of some 25
    assert "--align-channels" in refused(path, "--channel", 0, "--motion", "local",
                                         "--align-channels", "rigid", "--output", out)


def test_memory_does_not_grow_with_the_number_of_frames(program, tmp_path):
    import subprocess
    import sys

    one = recording(channels=2, drift=DRIFT)[:, 0]
    peaks = []
    for repeats in (20, 200):
        path = tmp_path / f"{repeats}.npy"
        np.save(path, np.concatenate([one] * repeats))
        code = ("import resource, subprocess, sys\n"
                "subprocess.run(sys.argv[1:], check=True)\n"
                "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
        done = subprocess.run(
            [sys.executable, "-c", code, sys.executable, "-P", "-m", "warpalign", "stack", path,
             "--axes", "TCYX", "--channel", "0", *SHIFT, "--output", tmp_path / "out.tif"],
            text=True, capture_output=True, check=True)
        peaks.append(int(done.stdout))
    # 1000 frames are 34 MB; what an allocator keeps varies by some MB.
    assert peaks[1] - peaks[0] < 12000


def test_devices_share_the_frames(program, tmp_path):
    drift = np.stack([3 * np.sin(np.arange(40) / 3), 2 * np.cos(np.arange(40) / 5)], axis=1)
    np.save(tmp_path / "in.npy", recording(channels=1, drift=drift)[:, 0, 0])
    by = (tmp_path / "in.npy", *SHIFT)
    devices = json.loads(run("devices", "--json").stdout)["backends"]
    name = next(backend["devices"][0]["id"] for backend in devices if backend.get("devices"))
    tables = []
    for i, listed in enumerate([name, f"{name},{name},{name}"]):
        ok(*by, "--device", listed, "--csv", tmp_path / f"{i}.csv", "--output",
           tmp_path / f"{i}.npy")
        tables.append((tmp_path / f"{i}.csv").read_bytes())
    assert tables[0] == tables[1]
    np.testing.assert_array_equal(np.load(tmp_path / "0.npy"), np.load(tmp_path / "1.npy"))
    assert "there is no such device" in refused(*by, "--device", "none:all")
    assert "local motion runs on one device" in refused(
        tmp_path / "in.npy", "--motion", "local", "--device", f"{name},{name}")
