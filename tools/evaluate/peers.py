#!/usr/bin/env python3
"""Registers dumped pairs by what others offer, and reports as `evaluate` does. See README.md.

Each method takes (reference, moving), 8-bit grey arrays, and returns (matrix, accepted): the 2 x 3
similarity from reference to moving pixels, x first, and whether the method itself accepts it; or
None where it finds nothing. Methods whose package is not installed are skipped by name.
"""
import argparse
import importlib
import json
import math
import sys
import time
from pathlib import Path

import numpy as np

LEAST_INLIERS = 12  # of a feature method that accepts its result


def centre(image):
    return (np.array(image.shape[::-1]) - 1) / 2


def similarity(scale, turn_deg, reference_point, moving_point):
    """A = scale [[cos, sin], [-sin, cos]] about a point that lands on another."""
    c, s = (scale * f(math.radians(turn_deg)) for f in (math.cos, math.sin))
    linear = np.array([[c, s], [-s, c]])
    return np.column_stack([linear, moving_point - linear @ reference_point])


def nearest_similarity(affine, reference):
    """The similarity closest to an affine transform, the same at the reference's centre."""
    c, s = (affine[0, 0] + affine[1, 1]) / 2, (affine[0, 1] - affine[1, 0]) / 2
    middle = centre(reference)
    return similarity(math.hypot(c, s), math.degrees(math.atan2(s, c)), middle,
                      affine[:, :2] @ middle + affine[:, 2])


def on_common_canvas(reference, moving):
    """Both, padded with zeros at the right and below to one size: pixels keep their coordinates."""
    height, width = np.maximum(reference.shape, moving.shape)
    def padded(image):
        canvas = np.zeros((height, width), np.float64)
        canvas[:image.shape[0], :image.shape[1]] = image
        return canvas
    return padded(reference), padded(moving)


def by_features(cv2, detector, matcher, reference, moving):
    points_r, descriptors_r = detector.detectAndCompute(reference, None)
    points_m, descriptors_m = detector.detectAndCompute(moving, None)
    if descriptors_r is None or descriptors_m is None:
        return None
    matches = matcher(descriptors_r, descriptors_m)
    if len(matches) < 3:
        return None
    source = np.float32([points_r[m.queryIdx].pt for m in matches])
    target = np.float32([points_m[m.trainIdx].pt for m in matches])
    matrix, inliers = cv2.estimateAffinePartial2D(source, target, method=cv2.RANSAC,
                                                  ransacReprojThreshold=3, maxIters=10000,
                                                  confidence=0.999)
    if matrix is None:
        return None
    return matrix, int(inliers.sum()) >= LEAST_INLIERS


def orb(reference, moving):
    """OpenCV: ORB, 5000 features, mutual nearest neighbours, RANSAC."""
    import cv2
    matcher = cv2.BFMatcher(cv2.NORM_HAMMING, crossCheck=True)
    return by_features(cv2, cv2.ORB_create(nfeatures=5000), matcher.match, reference, moving)


def sift(reference, moving):
    """OpenCV: SIFT, ratio test 0.75, RANSAC."""
    import cv2
    matcher = cv2.BFMatcher(cv2.NORM_L2)
    def match(a, b):
        both = [m for m in matcher.knnMatch(a, b, k=2) if len(m) == 2]
        return [first for first, second in both if first.distance < 0.75 * second.distance]
    return by_features(cv2, cv2.SIFT_create(nfeatures=5000), match, reference, moving)


def sift_ecc(reference, moving):
    """OpenCV: SIFT and RANSAC, then findTransformECC (affine); SIFT's result where that fails."""
    import cv2
    start = sift(reference, moving)
    if start is None:
        return None
    criteria = (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, 100, 1e-8)
    try:
        _, affine = cv2.findTransformECC(reference, moving, start[0].astype(np.float32),
                                         cv2.MOTION_AFFINE, criteria, None, 5)
    except cv2.error:
        return start[0], False
    return nearest_similarity(affine.astype(np.float64), reference), start[1]


def phase_correlate(reference, moving):
    """OpenCV: phaseCorrelate with a Hann window; translation only."""
    import cv2
    a, b = on_common_canvas(reference, moving)
    window = cv2.createHanningWindow(a.shape[::-1], cv2.CV_64F)
    (x, y), _ = cv2.phaseCorrelate(a, b, window)
    return similarity(1, 0, np.zeros(2), np.array([x, y])), True


def correlation(a, b):
    inside = b > 0
    if inside.sum() < 100 or a[inside].std() == 0 or b[inside].std() == 0:
        return -1
    return np.corrcoef(a[inside], b[inside])[0, 1]


def skimage_log_polar(reference, moving):
    """scikit-image's gallery recipe, and for the translation, which the gallery leaves out, its
    phase_cross_correlation after undoing the turn, for both half-turns."""
    from scipy.fft import fft2, fftshift
    from skimage.filters import difference_of_gaussians, window
    from skimage.registration import phase_cross_correlation
    from skimage.transform import AffineTransform, warp, warp_polar
    a, b = on_common_canvas(reference, moving)
    radius = a.shape[0] // 8
    def polar(image):
        filtered = difference_of_gaussians(image, 5, 20) * window("hann", image.shape)
        spectrum = np.abs(fftshift(fft2(filtered)))
        whole = warp_polar(spectrum, radius=radius, output_shape=a.shape, scaling="log", order=0)
        return whole[:a.shape[0] // 2, :]
    (rows, columns), _, _ = phase_cross_correlation(polar(a), polar(b), upsample_factor=10,
                                                    normalization=None)
    turn = 360 / a.shape[0] * rows
    scale = math.exp(columns * math.log(radius) / a.shape[1])
    best = None
    for half_turn in (0, 180):
        middle = centre(a)
        matrix = similarity(scale, turn + half_turn, middle, middle)
        def undone(m):
            return warp(b, AffineTransform(np.vstack([m, [0, 0, 1]])), order=3, cval=0)
        shift = phase_cross_correlation(a, undone(matrix), upsample_factor=10)[0][::-1]
        matrix[:, 2] -= matrix[:, :2] @ shift
        score = correlation(a, undone(matrix))
        if best is None or score > best[0]:
            best = score, matrix
    return best[1], True


def imreg(reference, moving):
    """imreg_dft.similarity, 3 iterations. The transform is read off what its own transform_img
    does to two ramps."""
    import imreg_dft
    a, b = on_common_canvas(reference, moving)
    try:
        found = imreg_dft.similarity(a, b, numiter=3)
    except (ValueError, IndexError, ZeroDivisionError):
        return None
    rows, columns = np.mgrid[:a.shape[0], :a.shape[1]].astype(np.float64)
    def moved(image, order=1):
        return imreg_dft.transform_img(image, found["scale"], found["angle"], found["tvec"],
                                       mode="constant", bgval=0.0, order=order)
    inside = moved(np.ones_like(a)) > 0.9999
    inside[[0, -1], :] = inside[:, [0, -1]] = False
    if inside.sum() < 100:
        return None
    x, y = columns[inside], rows[inside]
    u, v = moved(columns)[inside], moved(rows)[inside]
    zero, one = np.zeros_like(x), np.ones_like(x)
    left = np.vstack([np.column_stack([x, y, one, zero]), np.column_stack([y, -x, zero, one])])
    (c, s, tx, ty), *_ = np.linalg.lstsq(left, np.concatenate([u, v]), rcond=None)
    return np.array([[c, s, tx], [-s, c, ty]]), True


METHODS = {  # name: (function, modules it needs)
    "orb": (orb, ["cv2"]),
    "sift": (sift, ["cv2"]),
    "sift_ecc": (sift_ecc, ["cv2"]),
    "phase_correlate": (phase_correlate, ["cv2"]),
    "skimage_log_polar": (skimage_log_polar, ["skimage", "scipy"]),
    "imreg_dft": (imreg, ["imreg_dft"]),
}


def score(pair, result, milliseconds):
    """As score.cpp does."""
    one = {"index": pair["index"], "reliable": bool(result is not None and result[1]),
           "milliseconds": milliseconds}
    if not pair["related"]:
        return one
    one.update(solved=False, corner_error=math.inf, rotation_error_deg=math.inf,
               scale_error=math.inf, translation_error=math.inf)
    if result is None or not np.isfinite(result[0]).all():
        return one
    found, truth = np.asarray(result[0], np.float64), np.array(pair["matrix"])
    width, height = pair["reference_size"]
    corners = np.array([[x, y, 1] for x in (0, width - 1) for y in (0, height - 1)], np.float64).T
    def error_at(points):
        return np.hypot(*((found - truth) @ points))
    def turn(m):
        return math.degrees(math.atan2(m[0, 1] - m[1, 0], m[0, 0] + m[1, 1]))
    scale = math.sqrt(abs(np.linalg.det(found[:, :2])))
    one["corner_error"] = float(error_at(corners).mean())
    one["solved"] = bool(one["corner_error"] < 0.01 * math.hypot(*pair["moving_size"]))
    one["rotation_error_deg"] = abs(math.remainder(turn(found) - pair["rotation_deg"], 360))
    one["scale_error"] = abs(scale / pair["scale"] - 1)
    one["translation_error"] = float(
        error_at(np.array([(width - 1) / 2, (height - 1) / 2, 1])).mean())
    return one


def quantile(values, part):
    values = sorted(values)
    if not values:
        return math.nan
    at = part * (len(values) - 1)
    low = values[int(at)]
    high = values[min(int(at) + 1, len(values) - 1)]
    return low if low == high else low + (at - int(at)) * (high - low)


def summary(scores):
    """As score.cpp does: corner errors over all pairs, the others over the solved ones."""
    related = [s for s in scores if "solved" in s]
    solved = [s for s in related if s["solved"]]
    reliable = [s for s in scores if s["reliable"]]
    def over(these, key, part=0.5):
        return quantile([s[key] for s in these], part)
    return {
        "pairs": len(scores), "solved": len(solved), "reliable": len(reliable),
        "false_ok": sum(not s.get("solved", False) for s in reliable),
        "false_refused": sum(not s["reliable"] for s in solved),
        "corner_error_median": over(related, "corner_error"),
        "corner_error_p95": over(related, "corner_error", 0.95),
        "rotation_error_deg_median": over(solved, "rotation_error_deg"),
        "scale_error_median": over(solved, "scale_error"),
        "translation_error_median": over(solved, "translation_error"),
        "milliseconds_median": over(scores, "milliseconds"),
    }


TABLE_HEAD = (f"{'group':<13}{'pairs':>6}{'solved':>8}{'reliable':>10}{'false ok':>10}"
              f"{'refused':>10}{'corner px':>10}{'p95 px':>10}{'rot deg':>10}{'scale':>10}"
              f"{'shift px':>10}{'ms':>9}")


def table_row(name, s):
    def number(value):
        return f"{'-':>10}" if math.isnan(value) else f"{value:>10.2g}"
    errors = [s[k] for k in ("corner_error_median", "corner_error_p95",
                             "rotation_error_deg_median", "scale_error_median",
                             "translation_error_median")]
    return (f"{name:<13}{s['pairs']:>6}{s['solved']:>8}{s['reliable']:>10}{s['false_ok']:>10}"
            f"{s['false_refused']:>10}" + "".join(map(number, errors)) +
            f"{s['milliseconds_median']:>9.1f}")


def finite(value):
    """JSON has no infinities: null, as in evaluate's."""
    if isinstance(value, dict):
        return {k: finite(v) for k, v in value.items()}
    if isinstance(value, list):
        return [finite(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def versions(modules):
    return {m: getattr(sys.modules[m], "__version__", "unknown") for m in modules}


def missing(modules):
    for module in modules:
        try:
            importlib.import_module(module)
        except ImportError as error:
            return f"{module}: {error}"
    return None


def run_method(function, folder, pairs, read):
    groups = {}
    for pair in pairs:
        images = [read(folder / pair[key]) for key in ("reference", "moving")]
        start = time.perf_counter()
        result = function(*images)
        milliseconds = 1000 * (time.perf_counter() - start)
        groups.setdefault(pair["group"], []).append(score(pair, result, milliseconds))
    return groups


def image_reader():
    """A function that reads grey PNG files, by whichever package there is."""
    if missing(["cv2"]) is None:
        import cv2
        return lambda path: cv2.imread(str(path), cv2.IMREAD_GRAYSCALE)
    if missing(["skimage.io"]) is None:
        from skimage import io
        return lambda path: io.imread(path)
    sys.exit("peers.py: reading PNG needs opencv-python-headless or scikit-image")


def parse_arguments():
    parser = argparse.ArgumentParser(description="Registers dumped pairs by what others offer")
    parser.add_argument("folder", type=Path, help="what `evaluate --dump` wrote")
    parser.add_argument("--methods", default=",".join(METHODS), help="separated by commas")
    parser.add_argument("--groups", help="separated by commas; default: all that were dumped")
    parser.add_argument("--json", type=Path, help="write the results into this file")
    arguments = parser.parse_args()
    arguments.methods = arguments.methods.split(",")
    for name in arguments.methods:
        if name not in METHODS:
            parser.error(f"no method '{name}'; there are {', '.join(METHODS)}")
    if not (arguments.folder / "truth.json").is_file():
        parser.error(f"{arguments.folder}: holds no truth.json; write pairs by evaluate --dump")
    if arguments.json and not arguments.json.absolute().parent.is_dir():
        parser.error(f"{arguments.json}: there is no such folder")
    return arguments, parser


def main():
    arguments, parser = parse_arguments()
    truth = json.loads((arguments.folder / "truth.json").read_text())
    pairs = truth.pop("pairs")
    if arguments.groups:
        wanted = set(arguments.groups.split(","))
        if unknown := wanted - {pair["group"] for pair in pairs}:
            parser.error(f"no pairs of {', '.join(sorted(unknown))} in {arguments.folder}")
        pairs = [pair for pair in pairs if pair["group"] in wanted]
    read = image_reader()
    reports = []
    for name in arguments.methods:
        function, modules = METHODS[name]
        if reason := missing(modules):
            print(f"{name}: skipped, {reason}\n")
            continue
        print(f"{name} ({', '.join(f'{m} {v}' for m, v in versions(modules).items())})")
        print(TABLE_HEAD, flush=True)
        groups = run_method(function, arguments.folder, pairs, read)
        report = {"method": name, "versions": versions(modules),
                  "date": time.strftime("%Y-%m-%d", time.gmtime()), **truth, "groups": []}
        for group, scores in groups.items():
            print(table_row(group, summary(scores)))
            report["groups"].append({"group": group, **summary(scores), "scores": scores})
        print(flush=True)
        reports.append(report)
    if arguments.json:
        whole = arguments.json.with_name(arguments.json.name + ".part")
        whole.write_text(json.dumps(finite(reports), indent=1) + "\n")
        whole.replace(arguments.json)


if __name__ == "__main__":
    main()
