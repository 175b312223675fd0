"""Runs the pages of examples/python and checks their files and figures."""

import pathlib
import runpy

import numpy as np
import pytest

FOLDER = pathlib.Path(__file__).parents[2] / "examples" / "python"
# The files that each page writes. A page without files draws figures.
PICTURES = {
    "register_a_pair": {"aligned.png", "overlay.png"},
    "another_modality": set(),
    "drift_of_a_stack": set(),
    "align_two_volumes": set(),
    "align_exposures": set(),
    "align_surveys": set(),
    "refused_pair": set(),
    "resample_a_volume": set(),
    "arrays_on_a_device": set(),
    "spline_degrees": set(),
    "boundary_modes": set(),
    "antialiased_zoom": set(),
    "join_tiles": set(),
    "join_photographs": set(),
    "bend_a_brain": set(),
    "flatten_sections": set(),
    "still_a_breathing_volume": set(),
}


# The packages that a single page needs.
NEEDS = {"align_exposures": "astropy", "align_surveys": "rasterio"}


def test_every_page_is_tested():
    assert {page.stem for page in FOLDER.glob("*.py")} == set(PICTURES)


@pytest.mark.parametrize("name", sorted(PICTURES))
def test_pages_run(name, tmp_path, monkeypatch, capsys):
    image = pytest.importorskip("PIL.Image")
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    plot = pytest.importorskip("matplotlib.pyplot")
    pytest.importorskip(NEEDS.get(name, "PIL"))
    plot.close("all")
    monkeypatch.chdir(tmp_path)
    values = runpy.run_path(str(FOLDER / f"{name}.py"))
    assert {path.name for path in tmp_path.iterdir()} == PICTURES[name]
    for picture in PICTURES[name]:
        assert min(image.open(tmp_path / picture).size) >= 64
    assert PICTURES[name] or plot.get_fignums()
    if name == "register_a_pair":
        assert values["found"].reliable
    if name == "another_modality":
        assert values["found"].reliable and abs(values["found"].rotation_deg - 25) < 0.1
        assert abs(values["found"].scale - 25 / 30) < 0.001
    if name == "drift_of_a_stack":
        assert values["error"].max() < 0.2  # pixels, at noise of a fifth of the range
    if name == "flatten_sections":
        by_motion = {motion: frames[values["inside"]].std(0).mean()
                     for motion, frames in values["flat"].items()}
        assert by_motion["deformable"] < 0.5 * by_motion["similarity"]
    if name == "still_a_breathing_volume":
        assert values["after"] < 0.15 * values["before"]  # interpolation and the edges remain
    if name == "resample_a_volume":
        assert "True" in capsys.readouterr().out
    if name == "align_two_volumes":
        np.testing.assert_allclose(values["found"].translation, (2, -4.5, 6.25), atol=0.05)
        assert abs(values["found"].rotation_deg - 14) < 0.05
        assert values["correlation"] > 0.97  # with noise
    if name == "align_exposures":
        assert values["found"].rotation_deg == pytest.approx(9, abs=0.01)
        np.testing.assert_allclose(values["found"].translation, (11.3, -6.8), atol=0.05)
        assert values["sky"].separation(values["truth"]).arcsec < 1e-6
    if name == "align_surveys":
        # The middle of the old map, by the matrix that made the new one.
        pixel = np.linalg.solve(values["linear"], np.array([180, 250]) - values["first"])
        expected = np.array([26.0, -11.5]) + [0.4, -0.4] * (pixel[::-1] + 0.5)
        expected -= np.array([250.5, -180.5]) / 2
        np.testing.assert_allclose(values["offset"][:2], expected, atol=0.02)  # metres
    if name == "arrays_on_a_device":
        assert abs(values["found"].rotation_deg - 12) < 0.01 and values["difference"] < 0.02
    if name == "refused_pair":
        assert [found.reliable for found in values["results"].values()] == [True, False]
    if name == "spline_degrees":
        # A spline of a higher degree loses less. Degree 0 moves samples without smoothing.
        losses = [values["losses"][order] for order in range(1, 6)]
        assert losses == sorted(losses, reverse=True)
    if name == "antialiased_zoom":
        cubic, *others = (values[key][values["outside"]].std()
                          for key in ("cubic", "gaussian", "nearest"))
        assert max(others) < cubic / 10
    if name == "join_tiles":
        assert np.abs(np.delete(values["error"], 6, axis=0)).max() < 0.1  # pixels, with noise
        assert np.abs(values["error"][6]).max() < 8  # by the stage's model, which is off by up to 5
    if name == "join_photographs":
        assert values["found"].placed.all() and values["found"].model == "rotation"
        assert values["error"] < 0.05  # degrees: 0.6 pixels
        assert abs(values["found"].cameras[0].focal_length - 700) < 3.5  # without a ring
    if name == "bend_a_brain":
        assert values["found"].deformation.min_jacobian > 0
        warped = [values[name].warp(values["second"]) for name in ("affine", "found")]
        before, after = (np.corrcoef(values["first"].ravel(), image.ravel())[0, 1]
                         for image in warped)
        assert after > before
