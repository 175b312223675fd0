"""Tests of the recipes and of the geometry on which all verdicts depend: pytest
benchmarks/real_pairs."""

import io

import numpy as np
import pytest
from PIL import Image

import calibration
import collect
import derived
import geometry
import reduced
import scoring
import splits
import unrelated

HOMOGRAPHY = np.array([[1.1, 0.1, 5], [-0.05, 0.9, 3], [1e-4, 2e-4, 1]])


def scattered(count=30):
    return np.random.default_rng(0).uniform(0, 400, (count, 2))


def test_fits_recover_what_they_model():
    points = scattered()
    for model, matrix in (("homography", HOMOGRAPHY),
                          ("affine", np.array([[1.1, 0.1, 5], [-0.3, 0.9, 3], [0, 0, 1]])),
                          ("similarity", np.array([[0.9, -0.2, 5], [0.2, 0.9, 3], [0, 0, 1]]))):
        found = geometry.FITS[model](points, geometry.apply(matrix, points))
        # Exact data: the error is that of double precision at coordinates of some hundreds.
        assert np.abs(found - matrix).max() < 1e-9, model
        assert scoring.model_of(found) == model or model == "homography"


@pytest.mark.parametrize("steps", [{"rotate": 30}, {"rotate": 90}, {"shrink": 3},
                                   {"crop": [0.2, 0.1, 0.9, 0.8]},
                                   {"crop": [0.1, 0.1, 0.9, 0.9], "shrink": 2, "rotate": -70}])
def test_a_changed_picture_has_its_content_where_the_map_says(steps):
    # A smooth blob keeps its centre of mass in reduction and interpolation.
    ys, xs = np.mgrid[:180, :240]
    centre = np.array([131.0, 84.0])
    blob = 250 * np.exp(-((xs - centre[0])**2 + (ys - centre[1])**2) / (2 * 6.0**2))
    image, change = derived.changed(Image.fromarray(blob.astype(np.uint8)), steps,
                                    np.random.default_rng(0))
    grey = np.asarray(image, float)
    ys, xs = np.mgrid[:grey.shape[0], :grey.shape[1]]
    found = np.array([(grey * xs).sum(), (grey * ys).sum()]) / grey.sum()
    # Rounding to 8 bits costs a twentieth of a pixel; a wrong centre would cost half a pixel.
    assert np.abs(found - geometry.apply(change, centre[None])[0]).max() < 0.05


def pair(matrix, **truth):
    return {"reference_size": [640, 480], "moving_size": [640, 480],
            "truth": {"homography": matrix.tolist(), "uncertainty": 0.5, **truth}}


def test_a_shift_counts_in_pixels_of_the_coarser_picture():
    finer, coarser = np.diag([4.0, 4, 1]), np.diag([0.25, 0.25, 1])
    shift = np.array([[0, 0, 2.0], [0, 0, 0], [0, 0, 0]])
    assert scoring.Judge(pair(finer)).judge(finer + shift)["error"] == pytest.approx(0.5)
    assert scoring.Judge(pair(coarser)).judge(coarser + shift)["error"] == pytest.approx(2.0)


def test_verdicts():
    judge = scoring.Judge(pair(HOMOGRAPHY))
    exact = judge.judge(HOMOGRAPHY)
    assert exact["right"] and exact["right_as_homography"] and exact["floor"] < 1e-6
    best = geometry.fit_similarity(judge.source, judge.target)
    similar = judge.judge(best)
    assert similar["error"] == pytest.approx(similar["floor"]) and similar["floor"] > 5
    assert not similar["right_as_homography"]
    moved = best + np.array([[0, 0, 40.0], [0, 0, 0], [0, 0, 0]])
    assert not judge.judge(moved)["right"]


def test_noisy_landmarks_have_a_floor_for_every_model():
    points = scattered(20)
    noise = np.random.default_rng(1).normal(0, 3, points.shape)
    marks = np.c_[points, points + noise].tolist()
    verdict = scoring.Judge(pair(np.eye(3), landmarks=marks)).judge(np.eye(3))
    assert verdict["right_as_homography"] and verdict["floor"] > 1


def blob(size, centre):
    ys, xs = np.mgrid[:size[1], :size[0]]
    values = 250 * np.exp(-((xs - centre[0])**2 + (ys - centre[1])**2) / (2 * 8.0**2))
    return Image.fromarray(np.rint(values).astype(np.uint8))


def centre_of(image):
    grey = np.asarray(image, float)
    ys, xs = np.mgrid[:grey.shape[0], :grey.shape[1]]
    return np.array([(grey * xs).sum(), (grey * ys).sum()]) / grey.sum()


def test_reduced_pictures_obey_the_reduced_truth(tmp_path):
    sizes, shift = ([300, 240], [250, 260]), np.array([[1, 0, -31.0], [0, 1, 22], [0, 0, 1]])
    centre = np.array([131.0, 84.0])
    (tmp_path / "images").mkdir()
    listed = {"name": "a", **pair(shift, landmarks=[[*centre, *(centre + (-31, 22))]])}
    for side, size, at in zip(("reference", "moving"), sizes, (centre, centre + (-31, 22))):
        listed |= {side: f"images/{side}.png", f"{side}_size": size}
        blob(size, at).save(tmp_path / listed[side])
    smaller = reduced.Reducer(tmp_path, tmp_path / "smaller", 101).pair(listed)
    centres = []
    for side in ("reference", "moving"):
        image = Image.open(tmp_path / "smaller" / smaller[side])
        assert list(image.size) == smaller[f"{side}_size"] and max(image.size) == 101
        centres.append(centre_of(image))
    # Rounding to 8 bits costs a twentieth of a pixel; corners for centres would cost 0.3.
    mapped = geometry.apply(smaller["truth"]["homography"], centres[0][None])[0]
    assert np.abs(mapped - centres[1]).max() < 0.05
    assert np.abs(np.array(smaller["truth"]["landmarks"][0]) - np.r_[tuple(centres)]).max() < 0.05


def test_every_two_scenes_meet_before_any_meet_again():
    pictures = [{"file": f"{s}{i}", "scene": s, "kind": "", "split": "tune"}
                for s in "abcd" for i in range(3)]
    drawn = unrelated.every_two_scenes(pictures, np.random.default_rng(0))
    pairs = unrelated.draw_pairs(drawn, 12)
    assert len({tuple(p["scenes"]) for p in pairs}) == 12
    assert all(p["scenes"][0] != p["scenes"][1] for p in pairs)


def test_none_of_many_is_still_a_rate():
    # For no accepts, the bound of Clopper and Pearson is 1 - doubt^(1 / n).
    assert calibration.highest_rate(0, 3000) == pytest.approx(1 - 0.05 ** (1 / 3000))
    assert calibration.highest_rate(3, 3) == 1


def answer(name, confidence):
    return {"name": name, "confidence": confidence, "accepted": confidence >= 0.5, "seconds": 0,
            "matrix": np.eye(3).tolist(), "motion": "similarity", "modality": "same",
            "proposed_by": "grid", "correlation": 0.3, "overlap": 0.1, "significance": 20,
            "chance": None}


def test_a_curve_counts_right_wrong_and_unrelated_apart():
    pairs = [{"name": n, "kind": "", "split": "tune", **pair(m)}
             for n, m in (("right", np.eye(3)), ("wrong", np.diag([2.0, 2, 1])))]
    others = [{"name": f"u{i}", "scenes": ["a", "b"]} for i in range(2)]
    found = calibration.search_record(
        "any", pairs, ([answer("right", 0.9), answer("wrong", 0.6)], []),
        others, ([answer("u0", 0.2), answer("u1", 0.7)], ["u2"]))
    counts = {p["confidence"]: (p["right"], p["wrong"], p["unrelated"]) for p in found["curve"]}
    assert counts[0.1] == (1, 1, 2) and counts[0.5] == (1, 1, 1) and counts[0.8] == (1, 0, 0)
    assert found["unrelated_accepted"] == 1 and found["unrelated_not_registered"] == 1
    assert [h["name"] for h in found["highest"]] == ["u1", "u0"]
    assert [w["name"] for w in found["wrong_accepted"]] == ["wrong"]


def png(image):
    data = io.BytesIO()
    image.save(data, "PNG")
    return data.getvalue()


class Files:
    """A repository in memory."""

    def __init__(self, files):
        self.files = files

    def read(self, _, __, path):
        return self.files[path]


# Blobs in two pictures, and the shift between them.
CENTRE, SHIFT = np.array([131.0, 84.0]), np.array([-31.0, 22])
BLOBS = {"a.png": png(blob([300, 240], CENTRE)), "b.png": png(blob([250, 260], CENTRE + SHIFT))}


def collected(folder, entry, files, known=None, **settings):
    """The one pair of a recipe, and its pictures."""
    entry = {"name": "p", "kind": "k", "reference": "a.png", "moving": "b.png", **entry}
    source = {"name": "s", "repository": "o/r", "commit": "c", **settings, "pairs": [entry]}
    collector = collect.Collector(Files({**BLOBS, **files}), folder, known or {})
    collector.run(source)
    assert not collector.missing
    found, = collector.pairs
    return found, [Image.open(folder / found[side]) for side in ("reference", "moving")]


def test_columns_are_landmarks_that_count_from_their_first_pixel(tmp_path):
    there = scattered(90)
    text = "".join(f"{x + 1},{y + 1} {x + 6} {y + 9}\n" for x, y in there) + "\n"
    entry = {"truth": "columns", "landmarks": "l.txt", "model": "affine", "first_pixel": 1}
    files = {"l.txt": text.encode()}
    truth = collected(tmp_path, entry, files)[0]["truth"]
    assert np.abs(np.array(truth["landmarks"]) - np.c_[there, there + (5, 8)]).max() < 1e-9
    assert np.abs(np.array(truth["homography"]) - [[1, 0, 5], [0, 1, 8], [0, 0, 1]]).max() < 1e-9
    assert truth["uncertainty"] == 0
    kept = collected(tmp_path, {**entry, "keep": 40, "uncertainty": 1.5}, files)[0]["truth"]
    # From the first to the last, to a hundredth of a pixel; the fit uses all.
    assert len(kept["landmarks"]) == 40 and kept["homography"] == truth["homography"]
    assert np.abs(np.array(kept["landmarks"])[[0, -1], :2] - there[[0, -1]]).max() < 0.0051
    assert kept["uncertainty"] == 1.5


def test_a_limit_reduces_pictures_and_truth_alike(tmp_path):
    row = " ".join(str(v) for v in [*CENTRE, *(CENTRE + SHIFT)])
    four = scattered(4)
    rows = [row, *(" ".join(str(v) for v in [*p, *(p + SHIFT)]) for p in four)]
    matrix = f"1 0 {SHIFT[0]} 0 1 {SHIFT[1]} 0 0 1"
    for entry in ({"truth": "columns", "landmarks": "l.txt", "first_pixel": 0},
                  {"truth": "matrix", "matrix": "m.txt", "uncertainty": 1.0}):
        found, images = collected(tmp_path, entry, {"l.txt": "\n".join(rows).encode(),
                                                   "m.txt": matrix.encode()}, limit=101)
        assert [list(image.size) for image in images] == [[101, 81], [97, 101]]
        assert [found["reference_size"], found["moving_size"]] == [(101, 81), (97, 101)]
        reference, moving = map(centre_of, images)
        mapped = geometry.apply(found["truth"]["homography"], reference[None])[0]
        # Rounding to 8 bits costs a twentieth of a pixel; corners for centres would cost 0.3.
        assert np.abs(mapped - moving).max() < 0.05
        if "landmarks" in found["truth"]:
            mark = np.array(found["truth"]["landmarks"][0])
            assert np.abs(mark - np.r_[reference, moving]).max() < 0.05
        else:
            assert found["truth"]["uncertainty"] == 1.0


def test_a_consensus_holds_between_the_pictures_as_they_are_written(tmp_path):
    known = {"s-p": {"homography": HOMOGRAPHY.tolist(), "from": "f", "uncertainty": 0.5}}
    found, images = collected(tmp_path, {"truth": "consensus"}, {}, known, limit=101)
    assert found["truth"] == known["s-p"] and images[0].size == (101, 81)


def test_an_exposure_of_a_plate_is_a_third_without_its_frame():
    plate = np.zeros((330, 200), np.uint8)
    for third in range(3):
        plate[110 * third + 5:110 * third + 105, 10:190] = 50 * (third + 1)
    for third, name in enumerate("bgr"):
        image = collect.opened(png(Image.fromarray(plate)), name)
        assert image.size == (180, 100) and image.getextrema() == (50 * (third + 1),) * 2


def test_a_variable_of_a_mat_is_a_picture():
    import scipy.io

    pictures = {name: np.random.default_rng(i).integers(0, 255, (30, 40), np.uint8)
                for i, name in enumerate("IJ")}
    data = io.BytesIO()
    scipy.io.savemat(data, pictures)
    for name, picture in pictures.items():
        assert (np.asarray(collect.opened(data.getvalue(), name)) == picture).all()


def test_more_than_eight_bits_are_stretched():
    values = np.linspace(3000, 5000, 10000).astype(np.uint16).reshape(100, 100)
    stretched = np.asarray(collect.eight_bits(Image.fromarray(values)), int)
    assert stretched.min() == 0 and stretched.max() == 255
    assert abs(stretched[50, 50] - 255 * (int(values[50, 50]) - 3002) / 1996) <= 1
    assert collect.eight_bits(Image.new("L", (4, 4), 7)).getextrema() == (7, 7)


@pytest.mark.parametrize("name", ["sources.json", "fresh.json"])
def test_a_recipe_is_complete(name):
    recipe = collect.recipe_of(collect.HERE / name)
    names, asked = [], set()
    for source in recipe["sources"]:
        assert len(source["commit"]) == 40
        for entry in (e for p in source["pairs"] for e in collect.expand(p)):
            assert entry["truth"] in collect.READERS
            names.append(f"{source['name']}-{entry['name']}")
            if entry["truth"] == "consensus":
                asked.add(names[-1])
    assert len(names) == len(set(names)) and asked == set(recipe["consensus"])


def test_a_recipe_may_hold_all_back():
    pairs = [{"name": f"affnet-{i}", "reference": f"a{i}", "moving": f"b{i}"} for i in range(20)]
    splits.assign(pairs)
    assert {p["split"] for p in pairs} == {"tune"}
    splits.assign(pairs, "held_back")
    assert {p["split"] for p in pairs} == {"held_back"}
