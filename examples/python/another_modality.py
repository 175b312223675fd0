# %% [markdown]
# # A satellite image and a map
# A satellite sees colours, a relief map shows heights: the same place has unrelated grey levels in
# both. `modality="other"` compares gradient orientations, which coasts and mountains have in both.

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

import warpalign

data = Path(__file__).parents[1] / "data"
satellite = np.asarray(Image.open(data / "satellite.jpg"))
relief = np.asarray(Image.open(data / "relief.jpg"))


def grey(image):
    return image.mean(axis=2).astype(np.float32)


# %% [markdown]
# The map is rotated by 25 degrees, and has 25 pixels a degree of latitude where the satellite image
# has 30, which is a scale of 0.8333. Grey levels come close to that; gradients come closer.

# %%
for modality in ("same", "other"):
    found = warpalign.register(grey(satellite), grey(relief), modality=modality)
    print(f"{modality}: rotated by {found.rotation_deg:.2f} degrees, scaled by {found.scale:.4f}, "
          f"reliable: {found.reliable}")

# %% [markdown]
# Both images, and the map on the satellite image in every other field of a chessboard: coasts run
# on from field to field. The frame is where the map lies.

# %%
aligned = np.dstack([found.warp(np.ascontiguousarray(relief[..., colour])) for colour in range(3)])
rows, columns = np.indices(satellite.shape[:2])
fields = ((rows // 60 + columns // 60) % 2 == 1) & (aligned.max(axis=2) > 0)
mixed = np.where(fields[..., None], aligned, satellite)

height, width = relief.shape[:2]
corners = np.array([[0, 0, 1], [width, 0, 1], [width, height, 1], [0, height, 1], [0, 0, 1]])
frame = corners @ np.linalg.inv(found.matrix_xy).T
frame = frame[:, :2] / frame[:, 2:]

figure, axes = plt.subplots(1, 3, figsize=(14, 3.6), layout="constrained")
panels = {"satellite": satellite, "map": relief, "the map on the satellite image": mixed}
for axis, (title, image) in zip(axes, panels.items()):
    axis.imshow(image)
    axis.set_title(title)
    axis.set_axis_off()
axes[2].plot(*frame.T, "w--")
axes[2].set_xlim(0, satellite.shape[1])
axes[2].set_ylim(satellite.shape[0], 0);
