#!/usr/bin/env python3
"""Registers the same pairs with other tools, and scores them in the same way.

    peers.py SET [--methods sift,orb,...] [--split tune] [--output answers.json] [--unrelated N]

| method | description | accepted if |
| --- | --- | --- |
| sift | OpenCV's SIFT, ratio 0.75, homography by MAGSAC++ at 3 px | 15 inliers, convex image |
| orb | OpenCV's ORB, 5000 features, cross-checked, the same estimator | the same |
| sift_ecc | sift, then findTransformECC (homography) if it converges | the same |
| ecc_multiscale | OpenCV 5's findTransformECCMultiScale, homography | correlation of 0.5 |
| phase | scikit-image's phase_cross_correlation, log-polar as in its gallery | always |
| stackreg | pystackreg, scaled rotation, smaller picture padded | always |

Masks are passed to the tools that support them: sift, orb, sift_ecc, ecc_multiscale. Times start
with grey images in memory, and use all cores that the tool uses.
"""

import argparse
import json
import pathlib
import sys
import time

import cv2
import numpy as np

import geometry
import scoring

MIN_INLIERS = 15
MIN_CORRELATION = 0.5


def robust(a, b, shape):
    """Fit a homography to matched points; returns (matrix, accepted)."""
    if len(a) < 8:
        return None, False
    matrix, inliers = cv2.findHomography(a, b, cv2.USAC_MAGSAC, 3.0, maxIters=10000,
                                         confidence=0.9999)
    if matrix is None:
        return None, False
    height, width = shape
    corners = geometry.apply(matrix, np.float64([[0, 0], [width, 0], [width, height], [0, height]]))
    convex = np.isfinite(corners).all() and cv2.isContourConvex(corners.astype(np.float32))
    return matrix, bool(inliers.sum() >= MIN_INLIERS and convex)


def sift(pictures, masks):
    detector = cv2.SIFT_create()
    (ka, da), (kb, db) = (detector.detectAndCompute(p, m) for p, m in zip(pictures, masks))
    if da is None or db is None or min(len(ka), len(kb)) < 2:
        return None, False
    pairs = cv2.BFMatcher().knnMatch(da, db, 2)
    good = [p[0] for p in pairs if len(p) == 2 and p[0].distance < 0.75 * p[1].distance]
    return robust(np.float64([ka[m.queryIdx].pt for m in good]),
                  np.float64([kb[m.trainIdx].pt for m in good]), pictures[0].shape)


def orb(pictures, masks):
    detector = cv2.ORB_create(5000)
    (ka, da), (kb, db) = (detector.detectAndCompute(p, m) for p, m in zip(pictures, masks))
    if da is None or db is None:
        return None, False
    good = cv2.BFMatcher(cv2.NORM_HAMMING, crossCheck=True).match(da, db)
    return robust(np.float64([ka[m.queryIdx].pt for m in good]),
                  np.float64([kb[m.trainIdx].pt for m in good]), pictures[0].shape)


CRITERIA = (cv2.TERM_CRITERIA_COUNT | cv2.TERM_CRITERIA_EPS, 50, 1e-5)


def sift_ecc(pictures, masks):
    matrix, accepted = sift(pictures, masks)
    if not accepted:
        return matrix, accepted
    try:
        _, refined = cv2.findTransformECC(*pictures, matrix.astype(np.float32),
                                          cv2.MOTION_HOMOGRAPHY, CRITERIA, masks[1], 5)
    except cv2.error:
        return matrix, accepted
    return refined.astype(float), accepted


def ecc_multiscale(pictures, masks):
    try:
        parameters = cv2.ECCParameters()
        parameters.motionType = cv2.MOTION_HOMOGRAPHY
        correlation, matrix = cv2.findTransformECCMultiScale(
            *pictures, np.eye(3, dtype=np.float32), parameters, *masks)
    except cv2.error:
        return None, False
    return matrix.astype(float), bool(correlation >= MIN_CORRELATION)


def phase(pictures, _):
    """Rotation and scale from the log-polar magnitude spectra, then the shift."""
    from skimage.filters import difference_of_gaussians, window
    from skimage.registration import phase_cross_correlation
    from skimage.transform import warp_polar

    side = max(max(p.shape) for p in pictures)
    padded = [cv2.copyMakeBorder(p, 0, side - p.shape[0], 0, side - p.shape[1],
                                 cv2.BORDER_REPLICATE).astype(float) / 255 for p in pictures]
    spectra = [np.abs(np.fft.fftshift(np.fft.fft2(
        difference_of_gaussians(p, 5, 20) * window("hann", p.shape)))) for p in padded]
    radius = side // 8
    polar = [warp_polar(s, radius=radius, output_shape=(720, radius), scaling="log")[:360]
             for s in spectra]
    shift, *_ = phase_cross_correlation(*polar, upsample_factor=10, normalization=None)
    angle, scale = shift[0] / 2, np.exp(shift[1] / (radius / np.log(radius)))
    best = None
    for turn in (angle, angle + 180):
        centre = ((side - 1) / 2, (side - 1) / 2)
        # From reference to moving: rotation and scale about the centre, then the shift.
        linear = geometry.full(cv2.getRotationMatrix2D(centre, turn, scale))
        seen = cv2.warpPerspective(padded[1], linear, (side, side),
                                   flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP)
        move, *_ = phase_cross_correlation(padded[0], seen, upsample_factor=10)
        total = linear @ np.array([[1, 0, -move[1]], [0, 1, -move[0]], [0, 0, 1.0]])
        fit = cv2.warpPerspective(padded[1], total, (side, side),
                                  flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP)
        score = np.corrcoef(fit.ravel(), padded[0].ravel())[0, 1]
        if best is None or score > best[0]:
            best = score, total
    return best[1], True


def stackreg(pictures, _):
    from pystackreg import StackReg

    size = [max(p.shape[i] for p in pictures) for i in (0, 1)]
    padded = [cv2.copyMakeBorder(p, 0, size[0] - p.shape[0], 0, size[1] - p.shape[1],
                                 cv2.BORDER_REPLICATE) for p in pictures]
    return StackReg(StackReg.SCALED_ROTATION).register(*(p.astype(float) for p in padded)), True


METHODS = {"sift": sift, "orb": orb, "sift_ecc": sift_ecc, "ecc_multiscale": ecc_multiscale,
           "phase": phase, "stackreg": stackreg}


def grey(path):
    """Convert to 8 bits; with more bits, scale between the 0.1 and 99.9 percentiles."""
    picture = cv2.imread(str(path), cv2.IMREAD_GRAYSCALE | cv2.IMREAD_ANYDEPTH)
    if picture.dtype == np.uint8:
        return picture
    low, high = np.percentile(picture, (0.1, 99.9))
    return np.clip((picture - low) * 255.0 / max(high - low, 1), 0, 255).astype(np.uint8)


def answer(method, folder, pair):
    sides = ("reference", "moving")
    pictures = [grey(folder / pair[s]) for s in sides]
    masks = [cv2.imread(str(folder / pair[f"{s}_mask"]), 0) if pair.get(f"{s}_mask") else None
             for s in sides]
    begin = time.perf_counter()
    matrix, accepted = METHODS[method](pictures, masks)
    seconds = time.perf_counter() - begin
    return {"name": pair["name"], "accepted": accepted, "seconds": seconds,
            "matrix": None if matrix is None else np.asarray(matrix, float).tolist()}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", type=pathlib.Path)
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--split", choices=("all", "tune", "held_back"), default="tune")
    parser.add_argument("--only", default="", help="pairs whose name contains this")
    parser.add_argument("--output", type=pathlib.Path)
    parser.add_argument("--unrelated", type=int, default=0,
                        help="also this many pairs of unrelated.json")
    arguments = parser.parse_args()
    pairs = scoring.load_set(arguments.set, arguments.split, arguments.only)
    unrelated = []
    if arguments.unrelated:
        unrelated = json.loads((arguments.set / "unrelated.json").read_text())
        unrelated = unrelated[:arguments.unrelated]
    results = {}
    for method in arguments.methods.split(","):
        answers = []
        for pair in pairs:
            answers.append(answer(method, arguments.set, pair))
            print(f"{method}: {len(answers)} of {len(pairs)}", end="\r", file=sys.stderr)
        results[method] = rows = scoring.judged(pairs, answers)
        print(f"\n## {method}\n\n{scoring.table(rows)}")
        if unrelated:
            accepted = sum(answer(method, arguments.set, p)["accepted"] for p in unrelated)
            print(f"\nunrelated: {accepted} of {len(unrelated)} accepted")
        if arguments.output:
            arguments.output.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
