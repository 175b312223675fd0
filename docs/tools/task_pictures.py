"""Draws the pictures of the how-to and theory pages: the results of the library for synthetic data,
which are compared with the known truth."""

from pathlib import Path

import matplotlib.pyplot as plot
import numpy as np
from PIL import Image

import warpalign
from warpalign import ndimage

PHOTOGRAPH = Path(__file__).parents[1] / "demo/reference.jpg"
DATA = Path(__file__).parents[2] / "examples/data"


def _demand(holds, what):
    if not holds:
        raise SystemExit(f"docs: {what}")


def _show(axis, image, title, **options):
    axis.imshow(image, cmap="gray", **options)
    axis.set_title(title, fontsize=13)
    axis.set_xticks([])
    axis.set_yticks([])


def _save(figure, folder, name):
    figure.savefig(folder / name, dpi=120)
    plot.close(figure)


def _photograph(box, size):
    """A part (left, upper, right, lower) of the demo's reference, with values of 0 to 1."""
    image = Image.open(PHOTOGRAPH).convert("L").crop(box).resize(size, Image.Resampling.BOX)
    return np.asarray(image, np.float32) / 255


def drift_picture(folder):
    """A drifting stack: the drift of its frames, and their mean before and after."""
    random = np.random.default_rng(3)
    scene = _photograph((200, 240, 840, 720), (320, 240))
    drift = np.cumsum(random.normal(0.05, 0.9, (40, 2)), axis=0)
    drift[0] = 0
    frames = [(ndimage.shift(scene, shift, mode="mirror")
               + np.random.default_rng(number).normal(0, 0.05, scene.shape)).astype(np.float32)
              for number, shift in enumerate(drift)]
    stack = warpalign.register_stack(frames, motion="translation")
    found = np.stack([stack.drift["shift_row"], stack.drift["shift_column"]], axis=1)
    _demand(np.abs(found - drift).max() < 0.1, f"a drift of {drift} was measured as {found}")
    after = np.mean([frame for frame in stack.warp(frames) if frame is not None], axis=0)
    figure, axes = plot.subplots(1, 3, figsize=(11, 3.1), layout="constrained")
    axes[0].plot(found[:, 0], label="down")
    axes[0].plot(found[:, 1], label="to the right")
    axes[0].set_title("drift, pixels", fontsize=13)
    axes[0].set_xlabel("frame", fontsize=12)
    axes[0].grid(alpha=0.3)
    axes[0].legend(fontsize=11)
    _show(axes[1], np.mean(frames, axis=0), "mean of the frames", vmin=0, vmax=1)
    _show(axes[2], after, "mean of the aligned frames", vmin=0, vmax=1)
    _save(figure, folder, "drift.png")


def local_picture(folder):
    """A distorted image, the displacement field found, and the remaining difference."""
    image = _photograph((100, 200, 900, 800), (400, 300))
    rows, columns = np.indices(image.shape, np.float32)
    bend = np.stack([4 * np.sin(columns / 50), 5 * np.cos(rows / 45)])
    # The distorted image at x + u(x) equals the image at x; an iteration inverts u.
    back = np.stack([rows, columns])
    for _ in range(30):
        moved = np.stack([4 * np.sin(back[1] / 50), 5 * np.cos(back[0] / 45)])
        back = np.stack([rows, columns]) - moved
    bent = ndimage.map_coordinates(image, back, mode="mirror").astype(np.float32)
    found = warpalign.register_local(image, bent, window=48)
    error = np.sqrt(np.mean((found.field - bend) ** 2))
    _demand(error < 0.5, f"the field of the distorted image has an error of {error} pixels rms")
    figure, axes = plot.subplots(1, 3, figsize=(11, 3.2), layout="constrained")
    _show(axes[0], image, "reference, and the field", vmin=0, vmax=1.2)
    step = (slice(20, None, 32), slice(20, None, 32))
    axes[0].quiver(columns[step], rows[step], found.field[1][step], found.field[0][step],
                   color="tab:red", angles="xy", scale_units="xy", scale=0.3, width=0.006)
    _show(axes[1], np.abs(bent - image), "difference before", vmin=0, vmax=0.4)
    _show(axes[2], np.abs(found.warp(bent) - image), "difference after", vmin=0, vmax=0.4)
    _save(figure, folder, "local.png")


def volume_picture(folder):
    """A plane of a brain, of the same brain rotated, and of that on the first one's grid."""
    first = np.load(DATA / "brain.npz")["t1"].astype(np.float32)
    angle, shift = np.radians(25), np.array([0, 3, -2])
    # About the first axis, from the second one towards the third.
    turn = np.array([[1, 0, 0], [0, np.cos(angle), np.sin(angle)],
                     [0, -np.sin(angle), np.cos(angle)]])
    centre = (np.array(first.shape) - 1) / 2
    second = ndimage.affine_transform(first, turn, offset=centre - turn @ (centre + shift))
    found = warpalign.register_volume(first, second, motion="rigid")
    _demand(abs(found.rotation_deg - 25) < 0.2 and found.reliable,
            f"a volume that is rotated by 25 degrees is found as {found}")
    aligned = found.warp(second)
    figure, axes = plot.subplots(1, 3, figsize=(9, 3.8), layout="constrained")
    for axis, shown, title in zip(axes, (first, second, aligned),
                                  ("reference", "moving", "moving, aligned")):
        _show(axis, shown[38], title, vmin=0, vmax=first.max())
    _save(figure, folder, "volumes.png")


def fmri_picture(folder):
    """A brain that moves from volume to volume: the motion, and what it does to a plane."""
    random = np.random.default_rng(5)
    brain = np.load(DATA / "brain.npz")["t1"].astype(np.float32)[::2, ::2, ::2]
    walk = np.cumsum(random.normal(0, 1, (60, 6)), axis=0) * ([0.12] * 3 + [0.08] * 3)
    walk[35:] += [0, 0, 1, 1.2, 0, 0]  # a nod
    walk[0] = 0
    centre = (np.array(brain.shape) - 1) / 2
    volumes = []
    for number, (x, y, z, *angles) in enumerate(walk):
        a, b, c = np.radians(angles)
        # Voxels of 3 mm; z is the first axis of the array.
        turn = np.array([[1, -a, b], [a, 1, -c], [-b, c, 1]])
        u, _, v = np.linalg.svd(turn)
        moved = ndimage.affine_transform(
            brain, u @ v, offset=centre - u @ v @ (centre + np.array([z, y, x]) / 3))
        noise = np.random.default_rng(number).normal(0, 0.01 * brain.max(), brain.shape)
        volumes.append((moved + noise).astype(np.float32))
    aligned = np.empty((60, *brain.shape), np.float32)
    found = warpalign.register_series(volumes, spacing=3, output=aligned)
    motion = found.motion
    shifts = np.stack([motion[f"trans_{axis}"] for axis in "xyz"], axis=1)
    # The volumes were resampled once more than a scanner's.
    _demand((motion["status"] == "ok").all() and np.abs(shifts - walk[:, :3]).max() < 0.1,
            f"a motion of {walk[:, :3]} mm was measured as {shifts}")
    figure, axes = plot.subplots(2, 3, figsize=(11, 5.6), layout="constrained")
    for axis in "xyz":
        axes[0, 0].plot(motion[f"trans_{axis}"], label=axis)
        axes[0, 1].plot(motion[f"rot_{axis}"], label=axis)
    axes[0, 2].plot(motion["framewise_displacement"], color="black")
    axes[0, 2].axhline(0.5, linestyle="--", color="tab:red")
    titles = ("translation, mm", "rotation, degrees", "framewise displacement, mm")
    for panel, title in zip(axes[0], titles):
        panel.set_title(title, fontsize=13)
        panel.set_xlabel("volume", fontsize=12)
        panel.grid(alpha=0.3)
    axes[0, 0].legend(fontsize=11)
    plane = brain.shape[0] // 2
    before, after = (np.std(series, axis=0)[plane] for series in (volumes, aligned))
    _show(axes[1, 0], volumes[0][plane], "a plane of the reference")
    _show(axes[1, 1], before, "standard deviation before", vmin=0, vmax=before.max())
    _show(axes[1, 2], after, "and after", vmin=0, vmax=before.max())
    _save(figure, folder, "fmri.png")


def reduction_picture(folder):
    """Rings reduced to a quarter: with false patterns, by a Gaussian and by least squares."""
    axis = np.linspace(-1, 1, 512)
    radius_squared = axis[:, None] ** 2 + axis[None, :] ** 2
    rings = (0.5 + 0.5 * np.cos(220 * radius_squared)).astype(np.float32)
    panels = {"512 x 512 pixels": rings}
    for title, antialias in [("a quarter, aliased", False), ("antialias=True", True),
                             ("'least-squares'", "least-squares")]:
        panels[title] = ndimage.zoom(rings, 0.25, mode="mirror", antialias=antialias)
    outside = radius_squared[::4, ::4] > 0.7
    for title in list(panels)[2:]:
        contrast = panels[title][outside].std() / panels["a quarter, aliased"][outside].std()
        _demand(contrast < 0.3, f"{title} leaves {contrast:.0%} of the false patterns")
    figure, axes = plot.subplots(1, 4, figsize=(11, 3.1), layout="constrained")
    for panel, (title, image) in zip(axes, panels.items()):
        _show(panel, image, title, vmin=0, vmax=1)
    _save(figure, folder, "reduction.png")


def _log_polar(magnitude):
    """Rows are angles, columns the logarithm of the radius."""
    side = magnitude.shape[0]
    angles = np.linspace(-np.pi / 2, np.pi / 2, 180, endpoint=False)[:, None]
    radii = np.geomspace(3, side / 2 - 1, 180)[None, :]
    return ndimage.map_coordinates(
        magnitude, [side / 2 - radii * np.sin(angles), side / 2 + radii * np.cos(angles)], order=1)


def log_polar_picture(folder):
    """A rotation, which is a shift in the log-polar plane."""
    random = np.random.default_rng(8)
    side = 256
    image = ndimage.zoom(random.random((16, 64)), (16, 4))
    turned = ndimage.rotate(image, 30, reshape=False, mode="reflect")
    window = np.outer(np.hanning(side), np.hanning(side))
    figure, axes = plot.subplots(2, 3, figsize=(9, 6.2), layout="constrained")
    planes = []
    for row, (picture, title) in enumerate([(image, "image"), (turned, "rotated by 30 degrees")]):
        spectrum = np.fft.fftshift(np.fft.fft2((picture - picture.mean()) * window))
        magnitude = (np.abs(spectrum) ** 0.3).astype(np.float32)
        planes.append(_log_polar(magnitude))
        half = slice(side // 2 - 64, side // 2 + 64)
        _show(axes[row, 0], picture, title)
        _show(axes[row, 1], magnitude[half, half], "magnitude of its spectrum")
        _show(axes[row, 2], planes[-1], "in log-polar coordinates")
        axes[row, 2].set_xlabel("log of the radius", fontsize=12)
        axes[row, 2].set_ylabel("angle", fontsize=12)
    profile = [plane - plane.mean(axis=0) for plane in planes]
    scores = [(np.roll(profile[0], shift, axis=0) * profile[1]).sum() for shift in range(180)]
    _demand(min(abs(int(np.argmax(scores)) - 30), abs(int(np.argmax(scores)) - 150)) <= 2,
            f"the log-polar planes match at {np.argmax(scores)} degrees")
    _save(figure, folder, "log-polar.png")


def write(folder):
    folder.mkdir(parents=True, exist_ok=True)
    plot.switch_backend("agg")
    for picture in (drift_picture, local_picture, volume_picture, fmri_picture, reduction_picture,
                    log_polar_picture):
        picture(folder)
