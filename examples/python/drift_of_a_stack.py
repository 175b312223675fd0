# %% [markdown]
# # Remove the drift of a stack
# Frames of a microscope drift and are noisy. This example simulates them with known shifts.

# %%
import numpy as np
from PIL import Image

import warpalign
from warpalign import ndimage

random = np.random.default_rng(3)
scene = ndimage.zoom(random.random((60, 70)), 4)
drift = np.cumsum(random.normal(0, 0.8, (12, 2)), axis=0)
drift[0] = 0


def frames():
    """Yield one frame after the other, like a reader of files."""
    for number, shift in enumerate(drift):
        frame = ndimage.shift(scene, shift, mode="mirror")
        noise = np.random.default_rng(number).normal(0, 0.05, frame.shape)
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
table = stack.drift
error = np.hypot(table["shift_row"] - drift[:, 0], table["shift_column"] - drift[:, 1])
print(f"largest error: {error.max():.3f} pixels")

# %% [markdown]
# The mean of the frames before and after the correction, side by side:

# %%
aligned = [frame for frame in stack.warp(frames()) if frame is not None]
before = np.mean(list(frames()), axis=0)
means = np.hstack([before, np.mean(aligned, axis=0)])
levels = np.clip(means * 255, 0, 255).astype(np.uint8)
Image.fromarray(levels).save("before_and_after.png")
