# %% [markdown]
# # Boundary modes
# `mode=` selects how an array is extended beyond its edges. Names and meanings are those of SciPy.
# The plot shows a signal of eight samples, evaluated from six samples before its first to six after
# its last sample.

# %%
import matplotlib.pyplot as plt
import numpy as np

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
# The same in two dimensions: an image, extended beyond its edges by half a side.

# %%
rows, columns = np.indices((48, 48))
image = (np.hypot(rows - 20, columns - 14) % 9 < 4.5) * 0.6 + columns / 120
figure, axes = plt.subplots(2, 4, figsize=(9, 5), layout="constrained")
for axis, mode in zip(axes.flat, modes):
    wider = ndimage.affine_transform(
        image, np.eye(2), offset=-24, output_shape=(96, 96), mode=mode, cval=0.5)
    axis.imshow(wider, cmap="gray", vmin=0, vmax=1)
    axis.add_patch(plt.Rectangle((23.5, 23.5), 48, 48, fill=False, color="tab:red"))
    axis.set_title(mode)
for axis in axes.flat:
    axis.set_axis_off()
