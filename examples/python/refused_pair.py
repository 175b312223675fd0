# %% [markdown]
# # A pair that is refused
# There is no transform between two images of different scenes. A registration always returns a
# result: check its flag `reliable` before you use it.

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

import warpalign

photographs = Path(__file__).parents[2] / "docs" / "demo"
reference = np.asarray(Image.open(photographs / "reference.jpg").convert("L"))
moving = np.asarray(Image.open(photographs / "moving.jpg").convert("L"))
tissue = np.asarray(Image.open(Path(__file__).parents[1] / "data" / "cells.jpg"))

# %% [markdown]
# Two moving images: the demo's second photograph, which shows the same flower, and tissue under a
# microscope. The tissue has fine lines in every direction, as the flower has, but no rotation,
# scale and shift lays it on the reference.

# %%
pairs = {"the same flower": moving, "tissue": tissue}
results = {name: warpalign.register(reference, image) for name, image in pairs.items()}
for name, found in results.items():
    print(f"{name}: reliable {found.reliable}, confidence {found.confidence:.3f}, "
          f"significance {found.significance:.0f}")

# %% [markdown]
# `significance` is the correlation in standard deviations of that of unrelated images. `confidence`
# is 0.5 slightly above the highest significance that was measured on unrelated images, and
# `reliable` means a confidence of at least 0.5.
#
# The reference in green, and each image in magenta, warped by its result:

# %%
figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
for axis, (name, found) in zip(axes, results.items()):
    aligned = found.warp(pairs[name])
    axis.imshow(np.dstack([aligned, reference, aligned]))
    axis.set_title(f"{name}: reliable = {found.reliable}")
    axis.set_axis_off()
