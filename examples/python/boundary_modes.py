# %% [markdown]
# # Boundary modes
# `mode=` selects how an array is extended beyond its edges. Names and meanings are those of SciPy.
# The plot shows a signal of eight samples, evaluated from six samples before its first to six after
# its last sample.

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

from warpalign import ndimage

samples = np.array([1.0, 3, 2, 2.5, 4, 3.5, 1.5, 2])
points = np.linspace(-6, len(samples) + 5, 800)
modes = ["mirror", "reflect", "nearest", "constant", "grid-constant", "wrap", "grid-wrap"]

figure, axes = plt.subplots(len(modes), 1, figsize=(8, 10), sharex=True, layout="constrained")
for axis, mode in zip(axes, modes):
    values = ndimage.map_coordinates(samples, [points], mode=mode, order=3, cval=0.5)
    axis.axvspan(0, len(samples) - 1, color="0.92")
    axis.plot(points, values, color="tab:blue")
    axis.plot(samples, "o", color="tab:red", markersize=4)
    axis.set_ylabel(mode, rotation=0, ha="right", va="center")
    axis.set_ylim(-0.2, 4.8)
axes[0].set_title("a cubic spline through eight samples (red); gray: the array; cval=0.5")
axes[-1].set_xlabel("coordinate, in samples");

# %% [markdown]
# The same in two dimensions: an image, framed in red, is extended by half a side in each direction.

# %%
satellite = Image.open(Path(__file__).parents[1] / "data" / "satellite.jpg").convert("L")
image = np.asarray(satellite.crop((180, 40, 420, 280)), np.float32) / 160
figure, axes = plt.subplots(2, 4, figsize=(11, 6), layout="constrained")
for axis, mode in zip(axes.flat, modes):
    wider = ndimage.affine_transform(
        image, np.eye(2), offset=-120, output_shape=(480, 480), mode=mode, cval=0.5)
    axis.imshow(wider, cmap="gray", vmin=0, vmax=1)
    axis.add_patch(plt.Rectangle((119.5, 119.5), 240, 240, fill=False, color="tab:red"))
    axis.set_title(mode)
for axis in axes.flat:
    axis.set_axis_off()
