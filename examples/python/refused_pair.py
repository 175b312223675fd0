# %% [markdown]
# # A pair that is refused
# Two images that show different things have no transform between them. `reliable` says so: a
# result is always returned, and it is for the caller to look at this flag before using it.

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

import warpalign

photographs = Path(__file__).parents[2] / "docs" / "demo"
reference = np.asarray(Image.open(photographs / "reference.jpg").convert("L"))
moving = np.asarray(Image.open(photographs / "moving.jpg").convert("L"))

# %% [markdown]
# The moving photograph, and beside it the same one with all of its detail moved about: blocks of 32
# pixels in random order. Its grey levels and its contrast are the same, but no rotation, scale and
# shift lays it on the reference.

# %%
side = 32
rows, columns = (length // side for length in moving.shape)
cropped = moving[:rows * side, :columns * side]
blocks = cropped.reshape(rows, side, columns, side).swapaxes(1, 2).reshape(-1, side, side)
shuffled = np.random.default_rng(1).permutation(blocks)
unrelated = shuffled.reshape(rows, columns, side, side).swapaxes(1, 2).reshape(cropped.shape)

pairs = {"the same place": moving, "shuffled": unrelated}
results = {name: warpalign.register(reference, image) for name, image in pairs.items()}
for name, found in results.items():
    print(f"{name}: reliable {found.reliable}, confidence {found.confidence:.3f}, "
          f"significance {found.significance:.0f}")

# %% [markdown]
# `significance` is how far the correlation stands above that of unrelated images. `confidence`
# reaches 0.5 a little above the highest significance that unrelated images were ever seen to have,
# and `reliable` means a confidence of at least 0.5.
#
# The reference in green, each of the two images in magenta where the result would lay it:

# %%
figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
for axis, (name, found) in zip(axes, results.items()):
    aligned = found.warp(pairs[name])
    axis.imshow(np.dstack([aligned, reference, aligned]))
    axis.set_title(f"{name}: reliable = {found.reliable}")
    axis.set_axis_off()
