"""Checks of the geometry that every verdict rests on: pytest benchmarks/real_pairs."""

import numpy as np
import pytest
from PIL import Image

import derived
import geometry
import scoring

HOMOGRAPHY = np.array([[1.1, 0.1, 5], [-0.05, 0.9, 3], [1e-4, 2e-4, 1]])


def scattered(count=30):
    return np.random.default_rng(0).uniform(0, 400, (count, 2))


def test_fits_recover_what_they_model():
    points = scattered()
    for model, matrix in (("homography", HOMOGRAPHY),
                          ("affine", np.array([[1.1, 0.1, 5], [-0.3, 0.9, 3], [0, 0, 1]])),
                          ("similarity", np.array([[0.9, -0.2, 5], [0.2, 0.9, 3], [0, 0, 1]]))):
        found = geometry.FITS[model](points, geometry.apply(matrix, points))
        # Exact data: what is left is double precision, amplified by coordinates of some hundreds.
        assert np.abs(found - matrix).max() < 1e-9, model
        assert scoring.model_of(found) == model or model == "homography"


@pytest.mark.parametrize("steps", [{"rotate": 30}, {"rotate": 90}, {"shrink": 3},
                                   {"crop": [0.2, 0.1, 0.9, 0.8]},
                                   {"crop": [0.1, 0.1, 0.9, 0.9], "shrink": 2, "rotate": -70}])
def test_a_changed_picture_has_its_content_where_the_map_says(steps):
    # A smooth blob: its centre of mass survives reduction and interpolation.
    ys, xs = np.mgrid[:180, :240]
    centre = np.array([131.0, 84.0])
    blob = 250 * np.exp(-((xs - centre[0])**2 + (ys - centre[1])**2) / (2 * 6.0**2))
    image, change = derived.changed(Image.fromarray(blob.astype(np.uint8)), steps,
                                    np.random.default_rng(0))
    grey = np.asarray(image, float)
    ys, xs = np.mgrid[:grey.shape[0], :grey.shape[1]]
    found = np.array([(grey * xs).sum(), (grey * ys).sum()]) / grey.sum()
    # Eight bits cut the blob's rim: a twentieth of a pixel; half a pixel would be a wrong centre.
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
