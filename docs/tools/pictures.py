"""Draws the pictures of the conventions page, and compares each with the library's result.

The pairs are drawn, corner by corner, by the formula that the conventions page states. Each is then
registered: a sign or a direction that differs from the drawing fails the build.
"""

import math

import matplotlib.pyplot as plot
import numpy as np
from PIL import Image, ImageDraw

import warpalign

SIDE = 240
CENTRE = np.array([(SIDE - 1) / 2, (SIDE - 1) / 2])  # (x, y)
# An F shows which way is up and which is left.
LETTER = [(70, 50), (170, 50), (170, 78), (102, 78), (102, 108), (150, 108), (150, 134), (102, 134),
          (102, 190), (70, 190)]
MARK = np.array([164.0, 64.0])  # the upper right corner of the F, which the pictures mark


def scene():
    """Polygons (x, y) with their grey levels: triangles to register by, and an F."""
    random = np.random.default_rng(11)
    shapes = []
    for _ in range(260):
        at = random.uniform(-140, SIDE + 140, 2)
        shapes.append((at + random.uniform(-16, 16, (3, 2)), int(random.uniform(120, 200))))
    return [*shapes, (np.array(LETTER, float), 20)]


def mapped(points, rotation_deg, scale, translation):
    """Map points (x, y) of the reference to the moving image, by the formula of the page."""
    r = math.radians(rotation_deg)
    a = scale * np.array([[math.cos(r), math.sin(r)], [-math.sin(r), math.cos(r)]])
    return (points - CENTRE) @ a.T + CENTRE + translation


def drawn(transform):
    """Draw the transformed scene at four times the size, and reduce it."""
    fine = 4
    image = Image.new("L", (SIDE * fine, SIDE * fine), 230)
    draw = ImageDraw.Draw(image)
    for corners, grey in scene():
        # Pixel centres have integer coordinates, so the corner of the image is at -1/2.
        moved = (transform(corners) + 0.5) * fine - 0.5
        draw.polygon([tuple(corner) for corner in moved], fill=grey)
    return np.asarray(image.resize((SIDE, SIDE), Image.Resampling.BOX))


def registered(rotation_deg=0.0, scale=1.0, translation=(0.0, 0.0)):
    """Draw a pair, and check that its registration finds the true transform."""
    translation = np.array(translation)
    reference = drawn(lambda points: points)
    moving = drawn(lambda points: mapped(points, rotation_deg, scale, translation))
    found = warpalign.register(reference, moving)
    landed = found.matrix_xy @ [*MARK, 1]
    expected = mapped(MARK, rotation_deg, scale, translation)
    errors = {
        "rotation_deg": abs(found.rotation_deg - rotation_deg) / 0.1,
        "scale": abs(found.scale - scale) / 0.003,
        "translation_xy": np.abs(found.translation_xy - translation).max() / 0.2,
        "matrix_xy": np.abs(landed[:2] - expected).max() / 0.3,
    }
    wrong = [name for name, error in errors.items() if error > 1]
    if not found.reliable or wrong:
        raise SystemExit(f"docs: the conventions page's pair ({rotation_deg}, {scale}, "
                         f"{translation}) gives {found}: {wrong} differ from what was drawn")
    return reference, moving, found


def _show(axis, image, title):
    axis.imshow(image, cmap="gray", vmin=0, vmax=255)
    axis.set_title(title, fontsize=13)
    axis.set_xticks([])
    axis.set_yticks([])


def _save(figure, folder, name):
    figure.savefig(folder / name, dpi=120)
    plot.close(figure)


def axes_picture(folder):
    """The positions of pixels and axes."""
    figure, axis = plot.subplots(figsize=(7.2, 3.8), layout="constrained")
    columns, rows = 5, 3
    for y in range(rows):
        for x in range(columns):
            axis.add_patch(plot.Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor="0.95",
                                          edgecolor="0.6"))
            axis.plot(x, y, ".", color="0.4")
            axis.text(x, y + 0.32, f"({x}, {y})", ha="center", va="center", fontsize=12)
    arrow = {"arrowstyle": "-|>", "color": "tab:red", "lw": 2}
    axis.annotate("", (columns - 0.1, -0.75), (-0.5, -0.75), arrowprops=arrow)
    axis.annotate("", (-0.75, rows - 0.1), (-0.75, -0.5), arrowprops=arrow)
    axis.text(columns, -0.75, "x, columns", color="tab:red", va="center", fontsize=13)
    axis.text(-0.75, rows + 0.12, "y, rows", color="tab:red", ha="center", fontsize=13)
    centre = ((columns - 1) / 2, (rows - 1) / 2)
    axis.plot(*centre, "x", color="tab:blue", markersize=12, mew=2)
    axis.text(columns - 0.35, 1.0, f"centre: {centre}", color="tab:blue", fontsize=13,
              va="center")
    axis.set_xlim(-1.2, columns + 2.2)
    axis.set_ylim(rows + 0.3, -1.0)
    axis.set_aspect("equal")
    axis.set_axis_off()
    _save(figure, folder, "axes.png")


def signs_picture(folder):
    """The meaning of positive parameters."""
    cases = [
        ("rotation_deg = +25", {"rotation_deg": 25.0}),
        ("scale = 1.25", {"scale": 1.25}),
        ("translation = (+30, 0)", {"translation": (30.0, 0.0)}),
        ("translation = (0, +30)", {"translation": (0.0, 30.0)}),
    ]
    figure, axes = plot.subplots(2, 3, figsize=(9, 6.6), layout="constrained")
    figure.get_layout_engine().set(hspace=0.08)
    places = [axes[0, 1], axes[0, 2], axes[1, 1], axes[1, 2]]
    axes[1, 0].set_axis_off()
    for place, (title, drawing) in zip(places, cases):
        reference, moving, found = registered(**drawing)
        x, y = found.translation_xy
        _show(place, moving, title)
        # + 0.0 changes -0.0 to 0.0, whose sign has no meaning.
        place.set_xlabel(
            f"found: {round(found.rotation_deg, 2) + 0.0:.2f}°, {found.scale:.3f}, "
            f"({round(x, 1) + 0.0:.1f}, {round(y, 1) + 0.0:.1f})", fontsize=12)
    _show(axes[0, 0], reference, "reference")
    _save(figure, folder, "signs.png")


def matrix_picture(folder):
    """The direction of the matrix, and the effect of warping with it."""
    reference, moving, found = registered(20.0, 0.8, (24.0, -10.0))
    x, y, _ = found.matrix_xy @ [*MARK, 1]
    figure, axes = plot.subplots(1, 3, figsize=(10.5, 3.9), layout="constrained")
    _show(axes[0], reference, f"reference: p = ({MARK[0]:.0f}, {MARK[1]:.0f})")
    _show(axes[1], moving, f"moving: ({x:.1f}, {y:.1f})")
    _show(axes[2], found.warp(moving), "moving, warped")
    axes[0].plot(*MARK, "o", color="tab:red")
    axes[1].plot(x, y, "o", color="tab:red")
    axes[2].plot(*MARK, "o", color="tab:red")
    figure.canvas.draw()
    arrow = plot.matplotlib.patches.ConnectionPatch(
        xyA=MARK, coordsA=axes[0].transData, xyB=(x, y), coordsB=axes[1].transData,
        arrowstyle="-|>", color="tab:red", lw=1.8, mutation_scale=16, shrinkA=5, shrinkB=5)
    figure.add_artist(arrow)
    _save(figure, folder, "matrix.png")


def rotate_picture(folder):
    """`ndimage.rotate` and positive angles of registrations have the same direction."""
    reference = drawn(lambda points: points)
    turned = warpalign.ndimage.rotate(reference, 25, reshape=False, mode="mirror")
    found = warpalign.register(reference, turned)
    if abs(found.rotation_deg - 25) > 0.1:
        raise SystemExit(f"docs: ndimage.rotate by 25 degrees is found as {found}")
    figure, axes = plot.subplots(1, 2, figsize=(6.4, 3.5), layout="constrained")
    _show(axes[0], reference, "image")
    _show(axes[1], turned, "ndimage.rotate(image, 25)")
    _save(figure, folder, "rotate.png")


def basis_picture(folder):
    """The B-splines: the values of the library for one coefficient of 1 among zeros."""
    coefficients = np.zeros(13)
    coefficients[6] = 1
    points = np.linspace(-3.2, 3.2, 641)
    figure, axis = plot.subplots(figsize=(7.2, 3.4), layout="constrained")
    for degree in range(6):
        values = warpalign.ndimage.map_coordinates(
            coefficients, [points + 6], order=degree, prefilter=False, mode="mirror")
        axis.plot(points, values, label=f"degree {degree}")
    at_integers = warpalign.ndimage.map_coordinates(
        coefficients, [[5.0, 6.0, 7.0]], order=3, prefilter=False, mode="mirror")
    if not np.allclose(at_integers, [1 / 6, 2 / 3, 1 / 6], atol=1e-6):
        raise SystemExit(f"docs: the cubic B-spline at -1, 0, 1 is {at_integers}")
    axis.set_xlabel("x, in samples", fontsize=12)
    axis.legend(fontsize=11)
    axis.grid(alpha=0.3)
    _save(figure, folder, "bsplines.png")


def write(folder):
    folder.mkdir(parents=True, exist_ok=True)
    plot.switch_backend("agg")
    for picture in (
            axes_picture, signs_picture, matrix_picture, rotate_picture, basis_picture):
        picture(folder)
