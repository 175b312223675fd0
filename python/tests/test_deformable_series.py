"""Series of volumes that bend: waves whose place is known in each volume, and what the program and
the package say of them."""

import json

import numpy as np
import pytest
from program_runs import kill_after_volumes, run

import warpalign

SHAPE = (44, 52, 56)
VOLUMES = 4
INSIDE = np.s_[12:-12, 12:-12, 12:-12]


def waves(points):
    """A sum of waves of 7 to 30 voxels, at points of shape (3, ...)."""
    random = np.random.default_rng(3)
    total = np.zeros(points.shape[1:])
    for _ in range(40):
        direction = random.normal(size=3)
        number = 2 * np.pi / random.uniform(7, 30) * direction / np.linalg.norm(direction)
        total += np.sin(np.tensordot(number, points, 1) + random.uniform(0, 6))
    return total


def displacement(points, amount):
    """In voxels; smooth, and up to 2.5 times the amount."""
    z, y, x = points
    return amount * np.stack([1.5 * np.sin(y / 11), 2 * np.sin(x / 12 + 1), 2.5 * np.cos(z / 9)])


@pytest.fixture(scope="module")
def amounts():
    return np.linspace(0, 1, VOLUMES)


@pytest.fixture(scope="module")
def series(amounts):
    """The reference shows at p what volume i shows at p + u_i(p)."""
    grid = np.indices(SHAPE).astype(float)
    volumes = []
    for amount in amounts:
        # The inverse of p + u(p), by fixed-point steps; u changes by less than 0.3 a voxel.
        points = grid
        for _ in range(40):
            points = grid - displacement(points, amount)
        volumes.append(waves(points))
    return np.stack(volumes).astype(np.float32)


@pytest.fixture(scope="module")
def found(series):
    aligned = np.empty_like(series)
    return warpalign.register_series(series, motion="deformable", output=aligned), aligned


def rms(values):
    return float(np.sqrt(np.mean(np.square(values))))


def test_the_fields_are_found_and_the_volumes_aligned(series, found, amounts):
    result, aligned = found
    assert (result.motion["status"] == "ok").all()
    grid = np.indices(SHAPE).astype(float)
    for transform, amount, volume in zip(result.transforms, amounts, aligned):
        error = transform.field(SHAPE) - displacement(grid, amount)
        # The bending energy holds back a field that changes by up to 0.3 a voxel; u has an rms of 2.
        assert rms(error[(slice(None), *INSIDE)]) < 0.1
        assert rms((volume - series[0])[INSIDE]) < 0.05 * series[0].std()
    assert all(one.min_jacobian > 0.1 for one in result.deformations)
    assert result.deformations[-1].correlation > result.deformations[-1].correlation_before + 0.05


def test_transforms_align_other_volumes(series, found):
    result, aligned = found
    other = result.transforms[-1].warp(1000 - 3 * series[-1])
    # Single precision of values of about 1000.
    np.testing.assert_allclose(other[INSIDE], 1000 - 3 * aligned[-1][INSIDE], atol=0.01)


def test_rigid_series_have_transforms_too(series):
    result = warpalign.register_series(series[:2], motion="translation")
    assert result.deformations == [None, None]
    corner = np.append(result.matrices[1] @ [1, 2, 3, 1], 1)[:3]
    np.testing.assert_allclose(result.transforms[1].points([[1, 2, 3]])[0], corner)


@pytest.mark.parametrize(("options", "words"), [
    ({"motion": "rigid", "grid_spacing": 5}, "grid"),
    ({"motion": "deformable", "grid_spacing": 1}, "at least 2 voxels"),
    ({"motion": "deformable", "grid_spacing": 60}, "longest side"),
    ({"motion": "deformable", "bending_weight": 0}, "bending_weight"),
])
def test_wrong_options(series, options, words):
    with pytest.raises(ValueError, match=words):
        warpalign.register_series(series, **options)


def stack(*arguments, status=0):
    done = run("stack", *arguments)
    assert done.returncode == status, done.stderr + done.stdout
    return done


def test_the_program_finds_the_same(program, tmp_path, series, found):
    result, aligned = found
    np.save(tmp_path / "in.npy", series)
    done = stack(tmp_path / "in.npy", "--motion", "deformable", "--output", tmp_path / "out.npy",
                 "--json", tmp_path / "m.json", "--transforms", tmp_path / "maps")
    assert "local correlation" in done.stdout
    np.testing.assert_allclose(np.load(tmp_path / "out.npy"), aligned, atol=1e-5)
    lines = json.loads((tmp_path / "m.json").read_text())["volumes"]
    for number, (line, deformation) in enumerate(zip(lines, result.deformations)):
        assert line["deformation"]["correlation"] == pytest.approx(deformation.correlation)
        assert line["deformation"]["min_jacobian"] == pytest.approx(deformation.min_jacobian)
        written = warpalign.Transform.load(tmp_path / "maps" / f"{number}.npz")
        np.testing.assert_allclose(written.field(SHAPE), result.transforms[number].field(SHAPE),
                                   atol=1e-5)
    done = stack(tmp_path / "in.npy", "--apply", tmp_path / "m.json", "--output",
                 tmp_path / "again.npy", status=2)
    assert "--transforms" in done.stderr and not (tmp_path / "again.npy").exists()


def test_channels_follow(program, tmp_path, series, found):
    """Of a recording with the axes T, C, Z, Y, X."""
    recording = np.stack([series, 10 - 2 * series], axis=1)
    np.save(tmp_path / "in.npy", recording)
    stack(tmp_path / "in.npy", "--axes", "TCZYX", "--z", "all", "--channel", 0, "--motion",
          "deformable", "--output", tmp_path / "out.npy")
    both = np.load(tmp_path / "out.npy")
    np.testing.assert_allclose(both[:, 0], found[1], atol=1e-5)
    inside = (slice(None), *INSIDE)
    np.testing.assert_allclose(both[:, 1][inside], 10 - 2 * both[:, 0][inside], atol=1e-3)


def test_an_interrupted_run_is_continued(program, tmp_path, series):
    np.save(tmp_path / "in.npy", np.concatenate([series] * 4))
    outputs = {"--output": "o.npy", "--csv": "m.csv", "--json": "m.json", "--transforms": "maps"}

    def arguments(folder):
        folder.mkdir(exist_ok=True)
        return [tmp_path / "in.npy", "--motion", "deformable", "--resume",
                *(word for option, name in outputs.items() for word in (option, folder / name))]

    whole, broken = tmp_path / "whole", tmp_path / "broken"
    stack(*arguments(whole))
    kill_after_volumes("stack", *arguments(broken), journal=broken / "o.npy.journal")
    if not (broken / "o.npy.journal").exists():
        pytest.skip("the run ended before it was interrupted")
    done = run("stack", *arguments(broken), "--bending-weight", "2")
    assert done.returncode == 2 and "other inputs or options" in done.stderr
    stack(*arguments(broken))
    assert sorted(path.name for path in (broken / "maps").iterdir()) == sorted(
        path.name for path in (whole / "maps").iterdir())
    theirs, ours = (json.loads((folder / "m.json").read_text())["volumes"]
                    for folder in (whole, broken))
    # The start of the first fit after the interruption is rounded, and the fits are iterative.
    np.testing.assert_allclose(
        [[line["deformation"][name] for name in ("correlation", "min_jacobian")] for line in ours],
        [[line["deformation"][name] for name in ("correlation", "min_jacobian")] for line in theirs],
        atol=1e-3)
    # A voxel that lies about one voxel outside of a volume may be kept or not.
    inside = (slice(None), *INSIDE)
    np.testing.assert_allclose(np.load(broken / "o.npy")[inside], np.load(whole / "o.npy")[inside],
                               atol=0.02)


@pytest.mark.parametrize(("options", "words"), [
    (["--grid-spacing", "5"], "--grid-spacing: is for --motion deformable"),
    (["--motion", "deformable", "--grid-spacing", "1"], "--grid-spacing 1"),
    (["--motion", "deformable", "--grid-spacing", "90"], "--grid-spacing 90"),
    (["--motion", "deformable", "--bending-weight", "0"], "--bending-weight 0"),
    (["--motion", "deformable", "--field", "f.npy"], "--field"),
])
def test_wrong_options_of_the_program(program, tmp_path, series, options, words):
    np.save(tmp_path / "in.npy", series[:2])
    done = stack(tmp_path / "in.npy", *options, status=2)
    assert words in done.stderr and done.stderr.count("\n") == 1


def test_transforms_are_of_volumes(program, tmp_path):
    np.save(tmp_path / "in.npy", np.random.default_rng(0).random((3, 64, 64), np.float32))
    done = stack(tmp_path / "in.npy", "--transforms", tmp_path / "maps", status=2)
    assert "--transforms: is for series of volumes" in done.stderr
    assert not (tmp_path / "maps").exists()
