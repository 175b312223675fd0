# %% [markdown]
# # Take the drift out of a stack
# A microscope's stage drifts while it records, and single frames are noisy. `register_stack`
# follows the drift, so that the frames can be averaged. The tissue is real; the drift is made here,
# so that it is known.

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

import warpalign
from warpalign import ndimage

tissue = np.asarray(Image.open(Path(__file__).parents[1] / "data" / "cells.jpg"), np.float32) / 255
random = np.random.default_rng(3)
drift = np.cumsum(random.normal((0.5, -0.7), 1.2, (24, 2)), axis=0)
drift[0] = 0


def frames():
    """Yields one frame after the other, as a reader of files does."""
    for number, shift in enumerate(drift):
        frame = ndimage.shift(tissue, shift, mode="mirror")
        noise = np.random.default_rng(number).normal(0, 0.2, frame.shape)
        yield (frame + noise).astype(np.float32)


# %% [markdown]
# `to="mean"` registers each frame to the mean of the frames before it, which averages out noise. In
# a terminal or a notebook, a bar shows the progress if tqdm is installed.

# %%
stack = warpalign.register_stack(frames(), to="mean", motion="translation")
stack

# %% [markdown]
# `stack.drift` is a structured array, and `stack.to_pandas()` returns it as a DataFrame.

# %%
found = np.stack([stack.drift["shift_row"], stack.drift["shift_column"]], axis=1)
error = np.hypot(*(found - drift).T)
print(f"largest error: {error.max():.3f} pixels")

# %% [markdown]
# One frame, the mean of all frames, and the mean of the aligned frames with the path that the stage
# has taken, three times enlarged: the line is what was found, the circles are the truth.

# %%
aligned = [frame for frame in stack.warp(frames()) if frame is not None]
panels = {"one frame": next(frames()), "mean": np.mean(list(frames()), axis=0),
          "mean of the aligned frames": np.mean(aligned, axis=0)}
window = (slice(60, 260), slice(100, 320))  # what all frames show
figure, axes = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")
for axis, (title, image) in zip(axes, panels.items()):
    axis.imshow(image[window], cmap="gray", vmin=0.1, vmax=1)
    axis.set_title(title)
    axis.set_axis_off()
for path, style in [(found, "-"), (drift, "o")]:
    rows, columns = (3 * path - 3 * drift.mean(axis=0) + (120, 80)).T
    axes[2].plot(columns, rows, style, color="tab:red", linewidth=2, markerfacecolor="none")
