#!/usr/bin/env python3
"""Proposes homographies for pairs without a published one, if independent methods agree.

    consensus.py REPOSITORIES PROPOSALS.json [--only TEXT]

For every entry of sources.json with "truth": "consensus":
1. SIFT, ratio test 0.75, mutual, MAGSAC++ at 1.5 px;
2. AKAZE (another detector, binary descriptors), the same test and estimator;
3. the first one refined by intensities (ECC, half and full size).

The proposal is the first one, refined if that changes it by less than 2 px. Its uncertainty is the
largest mean distance between any two of them over the overlap, in moving pixels. Proposals above
3 px are refused, and so are those with fewer than 30 inliers of SIFT or 15 of AKAZE (20 and 10 if
all three agree). Check proposals by eye (show.py) before you add them to consensus.json.
"""

import argparse
import json
import pathlib

import cv2
import numpy as np
from PIL import Image

import collect
import geometry
from repositories import Missing, Repositories

HERE = pathlib.Path(__file__).resolve().parent
MIN_INLIERS, MIN_INLIERS_OF_THREE, MAX_PX = (30, 15), (20, 10), 3.0


def matched(detector, norm, reference, moving):
    """Match mutual nearest neighbours that pass the ratio test, and fit a robust homography."""
    (ka, da), (kb, db) = (detector.detectAndCompute(p, None) for p in (reference, moving))
    if da is None or db is None or min(len(ka), len(kb)) < 8:
        return None, 0
    matcher = cv2.BFMatcher(norm)
    back = {m[0].trainIdx: m[0].queryIdx for m in matcher.knnMatch(db, da, 1) if m}
    back = {q: t for t, q in back.items()}
    good = [m for m, n in (p for p in matcher.knnMatch(da, db, 2) if len(p) == 2)
            if m.distance < 0.75 * n.distance and back.get(m.trainIdx) == m.queryIdx]
    if len(good) < 8:
        return None, 0
    a = np.float64([ka[m.queryIdx].pt for m in good])
    b = np.float64([kb[m.trainIdx].pt for m in good])
    matrix, inliers = cv2.findHomography(a, b, cv2.USAC_MAGSAC, 1.5, maxIters=20000,
                                         confidence=0.99999)
    if matrix is None:
        return None, 0
    kept = inliers.ravel().astype(bool)
    if kept.sum() >= 8:
        matrix = geometry.fit_homography(a[kept], b[kept])
    return matrix, int(kept.sum())


def akaze_detector():
    """AKAZE, which is in the extra modules of OpenCV 5."""
    module = cv2 if hasattr(cv2, "AKAZE_create") else cv2.xfeatures2d
    return module.AKAZE_create(threshold=5e-4)


def refined(matrix, reference, moving):
    """Refine a homography by ECC at half and full size; None if ECC fails."""
    matrix = matrix.copy()
    try:
        for factor in (0.5, 1.0):
            change = np.diag([factor, factor, 1])
            small = [cv2.resize(p, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA)
                     for p in (reference, moving)]
            start = (change @ matrix @ np.linalg.inv(change)).astype(np.float32)
            _, found = cv2.findTransformECC(
                *small, start, cv2.MOTION_HOMOGRAPHY,
                (cv2.TERM_CRITERIA_COUNT | cv2.TERM_CRITERIA_EPS, 60, 1e-6), None, 5)
            matrix = np.linalg.inv(change) @ found.astype(float) @ change
    except cv2.error:
        return None
    return matrix / matrix[2, 2]


def mean_distance(a, b, sizes):
    grid = geometry.overlap_grid(a, *sizes)
    if len(grid) == 0:
        return float("inf")
    return float(np.linalg.norm(geometry.apply(a, grid) - geometry.apply(b, grid), axis=1).mean())


def propose(reference, moving):
    sizes = [p.shape[::-1] for p in (reference, moving)]
    sift, strong = matched(cv2.SIFT_create(12000, contrastThreshold=0.02), cv2.NORM_L2,
                           reference, moving)
    akaze, other = matched(akaze_detector(), cv2.NORM_HAMMING, reference, moving)
    too_few = {"refused": f"{strong} inliers of SIFT, {other} of AKAZE"}
    if sift is None or akaze is None:
        return too_few
    ecc = refined(sift, reference, moving)
    distances = {"SIFT and AKAZE": mean_distance(sift, akaze, sizes)}
    chosen, methods = sift, "SIFT and AKAZE"
    if ecc is not None and mean_distance(sift, ecc, sizes) <= 2:
        chosen, methods = ecc, "SIFT, AKAZE and ECC"
        distances["SIFT and ECC"] = mean_distance(sift, ecc, sizes)
        distances["AKAZE and ECC"] = mean_distance(akaze, ecc, sizes)
    needed = MIN_INLIERS_OF_THREE if len(distances) == 3 else MIN_INLIERS
    if strong < needed[0] or other < needed[1]:
        return too_few
    uncertainty = max(distances.values())
    if uncertainty > MAX_PX:
        return {"refused": f"they differ by {uncertainty:.1f} px"}
    return {"homography": chosen.tolist(), "uncertainty": round(uncertainty, 2),
            "from": f"consensus of {methods}, {strong} and {other} inliers"}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repositories")
    parser.add_argument("proposals", type=pathlib.Path)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    repositories = Repositories(arguments.repositories)
    proposals = {}
    if arguments.proposals.exists():
        proposals = json.loads(arguments.proposals.read_text())
    for source in json.loads((HERE / "sources.json").read_text()):
        for entry in (e for p in source["pairs"] for e in collect.expand(p)):
            name = f"{source['name']}-{entry['name']}"
            if entry["truth"] != "consensus" or arguments.only not in name or name in proposals:
                continue
            try:
                pictures = [grey(repositories, source, entry[s]) for s in ("reference", "moving")]
                proposals[name] = propose(*pictures)
            except Missing as error:
                proposals[name] = {"refused": str(error)}
            verdict = proposals[name].get("refused") or proposals[name]["from"] + (
                f", +-{proposals[name]['uncertainty']} px")
            print(name, told, flush=True)
            arguments.proposals.write_text(one_a_line(proposals))


def one_a_line(proposals):
    """JSON with each pair on a line of its own."""
    lines = (f" {json.dumps(name)}: {json.dumps(proposal)}" for name, proposal in proposals.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def grey(repositories, source, path):
    data = repositories.read(source["repository"], source["commit"], path)
    return np.asarray(collect.opened(data).convert("L"))


if __name__ == "__main__":
    main()
