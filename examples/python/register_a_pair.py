# %% [markdown]
# # Register two photographs
# The demo's two photographs show one flower; the second one is rotated and closer. A cell of a
# notebook that ends in `found` shows the numbers and the two images on each other.

# %%
from pathlib import Path

import numpy as np
from PIL import Image

import warpalign

photographs = Path(__file__).parents[2] / "docs" / "demo"
reference = np.asarray(Image.open(photographs / "reference.jpg").convert("L"))
moving = np.asarray(Image.open(photographs / "moving.jpg").convert("L"))

found = warpalign.register(reference, moving)
found

# %% [markdown]
# `matrix` maps (row, column, 1) of the reference to the moving image, as
# `scipy.ndimage.affine_transform` takes it; `matrix_xy` is for (x, y, 1), as OpenCV takes it.

# %%
print(f"rotated by {found.rotation_deg:.2f} degrees, scaled by {found.scale:.3f}")
print(f"confidence {found.confidence:.3f}, reliable: {found.reliable}")
print(found.matrix)

# %% [markdown]
# Save the warped moving image, and the overlay of the notebook:

# %%
aligned = found.warp(moving)
Image.fromarray(aligned).save("aligned.png")
with open("overlay.png", "wb") as file:
    file.write(found._repr_png_())
