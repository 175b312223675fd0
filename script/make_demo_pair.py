#!/usr/bin/env python3
"""Make the demo pair: two pictures of one scene with a known similarity between them.

Each picture is resampled only once, from one larger original, so that neither
is a resampled copy of the other:

 1. The original is low-passed in double precision by a Gaussian matched to
    the down-sampling of that picture (sigma = LOWPASS x original pixels per
    output pixel). The low-passes of the two pictures differ, since they
    sample the scene at different densities.
 2. The low-passed original is sampled by a cubic spline at the positions of
    the output pixels. The reference is an axis-aligned crop; the moving
    picture is rotated, scaled and shifted relative to it. The script fails
    if any output pixel, with the support of its low-pass, would be outside
    the original.
 3. The moving picture gets a mild exposure change (gain and offset), and each
    picture gets its own sensor noise. Both are rounded to 8 bits.

Conventions. Pixel centres are at integer coordinates, x to the right, y down.
The matrix in truth.json maps REFERENCE to MOVING pixel coordinates:

    p_m = s [[cos r, sin r], [-sin r, cos r]] (p_r - c_r) + c_m + (tx, ty)

where c = ((w - 1) / 2, (h - 1) / 2) of each picture, (tx, ty) is in moving
pixels, r > 0 rotates the content counter-clockwise as displayed in the moving
picture, and s > 1 enlarges it there.

Writes reference.jpg, moving.jpg and truth.json into --out. Without --no-check
it then reads the files back, warps the moving picture to the reference by the
matrix, and prints the remaining difference.

Needs numpy, scipy and Pillow. The defaults make the pair in docs/demo; see
docs/demo/README.md for the original.
"""

import argparse
import json
import os

import numpy as np
from PIL import Image
from scipy import ndimage

TRUNCATE = 5.0  # Gaussians are truncated at this many sigmas


def read_rgb(path):
    """An image file as a float64 array (height, width, 3)."""
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB"), dtype=np.float64)


def truth_matrix(ref_size, mov_size, rotation_deg, scale, shift):
    """The 2 x 3 matrix from reference to moving pixel coordinates."""
    r = np.deg2rad(rotation_deg)
    linear = scale * np.array([[np.cos(r), np.sin(r)], [-np.sin(r), np.cos(r)]])
    c_ref = (np.array(ref_size) - 1) / 2
    c_mov = (np.array(mov_size) - 1) / 2
    offset = c_mov + np.array(shift) - linear @ c_ref
    return np.hstack([linear, offset[:, None]])


def inverse(matrix):
    """The inverse of a 2 x 3 affine matrix."""
    linear = np.linalg.inv(matrix[:, :2])
    return np.hstack([linear, -linear @ matrix[:, 2:]])


def compose(outer, inner):
    """The 2 x 3 matrix that applies inner, then outer."""
    return outer @ np.vstack([inner, [0.0, 0.0, 1.0]])


def positions(size, matrix):
    """The positions to which matrix maps each pixel of a picture of this size: x and y maps."""
    y, x = np.mgrid[0 : size[1], 0 : size[0]].astype(np.float64)
    return (
        matrix[0, 0] * x + matrix[0, 1] * y + matrix[0, 2],
        matrix[1, 0] * x + matrix[1, 1] * y + matrix[1, 2],
    )


def render(original, size, to_original, lowpass):
    """Draw a picture of this size from the original, low-passed first.

    to_original maps the picture's pixel coordinates to the original's.
    """
    step = np.sqrt(abs(np.linalg.det(to_original[:, :2])))
    sigma = lowpass * step
    margin = np.ceil(TRUNCATE * sigma) + 2
    x, y = positions(size, to_original)
    height, width = original.shape[:2]
    if (
        x.min() < margin
        or y.min() < margin
        or x.max() > width - 1 - margin
        or y.max() > height - 1 - margin
    ):
        raise SystemExit(
            f"the picture needs x {x.min():.0f}..{x.max():.0f}, "
            f"y {y.min():.0f}..{y.max():.0f} and {margin:.0f} px around it; "
            f"the original is {width} x {height}"
        )
    planes = []
    for channel in range(original.shape[2]):
        plane = ndimage.gaussian_filter(
            original[:, :, channel], sigma, mode="mirror", truncate=TRUNCATE
        )
        planes.append(ndimage.map_coordinates(plane, [y, x], order=3, mode="mirror"))
    return np.stack(planes, axis=2)


def to_8_bit(picture):
    return np.clip(np.rint(picture), 0, 255).astype(np.uint8)


def check(args, matrix):
    """Read the written pair back and print how well the matrix aligns it."""
    ref = read_rgb(os.path.join(args.out, "reference.jpg"))
    mov = (read_rgb(os.path.join(args.out, "moving.jpg")) - args.offset) / args.gain
    # Bring the moving picture, sampled more densely, to the reference's blur.
    sigma = args.lowpass * np.sqrt(max(args.scale**2 - 1, 0))
    mov = ndimage.gaussian_filter(mov, (sigma, sigma, 0), mode="mirror")
    x, y = positions(args.ref_size, matrix)
    warped = np.stack(
        [ndimage.map_coordinates(mov[:, :, c], [y, x], order=3) for c in range(3)], axis=2
    )
    inside = (x >= 8) & (y >= 8) & (x <= args.mov_size[0] - 9) & (y <= args.mov_size[1] - 9)
    inside[:8] = inside[-8:] = False
    inside[:, :8] = inside[:, -8:] = False
    # Gain and offset cannot restore saturated pixels.
    inside &= ndimage.maximum_filter(ref.max(axis=2), 9) < 250
    difference = warped - ref
    rms = np.sqrt(np.mean(difference[inside] ** 2))
    plain = np.sqrt(np.mean((ref[inside] - ref[inside].mean(axis=0)) ** 2))
    print(f"RMS difference {rms:.2f} grey levels (the reference's own contrast: {plain:.1f})")
    print(f"median difference {np.median(np.abs(difference[inside])):.2f} grey levels")

    # The affine motion that would reduce the remaining difference: one
    # least-squares step on the brightness constancy equation.
    a = ndimage.gaussian_filter(ref.mean(axis=2), 1.5)
    b = ndimage.gaussian_filter(warped.mean(axis=2), 1.5)
    gx = (ndimage.sobel(a, 1) + ndimage.sobel(b, 1)) / 16
    gy = (ndimage.sobel(a, 0) + ndimage.sobel(b, 0)) / 16
    v, u = np.mgrid[0 : a.shape[0], 0 : a.shape[1]].astype(np.float64)
    half = (a.shape[1] - 1) / 2, (a.shape[0] - 1) / 2
    u, v = (u - half[0]) / half[0], (v - half[1]) / half[1]
    ok = ndimage.binary_erosion(inside, iterations=8)
    columns = [gx, gx * u, gx * v, gy, gy * u, gy * v, np.ones_like(a)]
    system = np.stack([c[ok] for c in columns], axis=1)
    p = np.linalg.lstsq(system, (a - b)[ok], rcond=None)[0]
    dx = p[0] + p[1] * u[ok] + p[2] * v[ok]
    dy = p[3] + p[4] * u[ok] + p[5] * v[ok]
    length = np.hypot(dx, dy)
    print(
        f"residual motion over the common part: mean {length.mean():.4f} px, "
        f"max {length.max():.4f} px"
    )


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("original", help="the larger original, an image file")
    add("--out", default="docs/demo", help="folder to write into (default: %(default)s)")
    add("--zoom", type=float, default=2.3, help="original px per reference px (%(default)s)")
    add(
        "--center", type=float, nargs=2, default=[1850.0, 1480.0], metavar=("X", "Y"),
        help="where the reference's centre lies in the original (%(default)s)",
    )
    size = dict(type=int, nargs=2, metavar=("W", "H"))
    add("--ref-size", default=[1024, 1024], help="(%(default)s)", **size)
    add("--mov-size", default=[1100, 960], help="(%(default)s)", **size)
    add("--rotation", type=float, default=31.7, help="r in degrees (%(default)s)")
    add("--scale", type=float, default=1.23, help="s (%(default)s)")
    add(
        "--shift", type=float, nargs=2, default=[48.3, -27.6], metavar=("TX", "TY"),
        help="in moving pixels (%(default)s)",
    )
    add("--lowpass", type=float, default=0.6, help="Gaussian sigma in output px (%(default)s)")
    add("--noise", type=float, default=2.0, help="sigma of the noise, grey levels (%(default)s)")
    add("--gain", type=float, default=0.93, help="exposure of the moving picture (%(default)s)")
    add("--offset", type=float, default=5.0, help="its black level, grey levels (%(default)s)")
    add("--seed", type=int, default=20, help="of the noise (%(default)s)")
    add("--quality", type=int, default=95, help="of the JPEGs (%(default)s)")
    add("--no-check", action="store_true", help="do not read the pair back and check it")
    return parser.parse_args()


def main():
    args = parse_arguments()
    original = read_rgb(args.original)
    matrix = truth_matrix(args.ref_size, args.mov_size, args.rotation, args.scale, args.shift)
    c_ref = (np.array(args.ref_size) - 1) / 2
    ref_to_original = np.hstack(
        [args.zoom * np.eye(2), (np.array(args.center) - args.zoom * c_ref)[:, None]]
    )
    mov_to_original = compose(ref_to_original, inverse(matrix))

    x, y = positions(args.ref_size, matrix)
    mov_w, mov_h = args.mov_size
    common = np.mean((x >= 0) & (y >= 0) & (x <= mov_w - 1) & (y <= mov_h - 1))
    x, y = positions(args.mov_size, inverse(matrix))
    ref_w, ref_h = args.ref_size
    common_mov = np.mean((x >= 0) & (y >= 0) & (x <= ref_w - 1) & (y <= ref_h - 1))
    print(f"common content: {common:.1%} of the reference, {common_mov:.1%} of the moving picture")

    ref = render(original, args.ref_size, ref_to_original, args.lowpass)
    mov = render(original, args.mov_size, mov_to_original, args.lowpass)
    mov = args.gain * mov + args.offset
    random = np.random.default_rng(args.seed)
    ref = ref + random.normal(0, args.noise, ref.shape)
    mov = mov + random.normal(0, args.noise, mov.shape)

    os.makedirs(args.out, exist_ok=True)
    for name, picture in (("reference.jpg", ref), ("moving.jpg", mov)):
        Image.fromarray(to_8_bit(picture)).save(
            os.path.join(args.out, name), quality=args.quality, subsampling=0, optimize=True
        )
    truth = {
        "matrix": matrix.tolist(),
        "rotation_deg": args.rotation,
        "scale": args.scale,
        "translation": list(args.shift),
    }
    with open(os.path.join(args.out, "truth.json"), "w", encoding="utf-8") as file:
        json.dump(truth, file, indent=2)
        file.write("\n")
    if not args.no_check:
        check(args, matrix)


if __name__ == "__main__":
    main()
