# %% [markdown]
# # Align two volumes
# Tiles of a light-sheet microscope, or scans of one specimen, differ by a shift in three
# dimensions. `register_volume` finds it to a fraction of a voxel, even if the volumes overlap only
# partly.

# %%
import numpy as np
from PIL import Image

import warpalign
from warpalign import ndimage

random = np.random.default_rng(3)
specimen = ndimage.zoom(random.random((12, 30, 40)), 3).astype(np.float32)

# %% [markdown]
# Two tiles of the specimen overlap by half of their columns. The second one is brighter, has noise,
# and is sampled between the voxels of the first.

# %%
first = specimen[:, :, :72]
second = ndimage.shift(specimen, (0, -0.4, -36.3), mode="mirror")[:, :, :72]
second = 1.3 * second + 0.1 + random.normal(0, 0.02, second.shape).astype(np.float32)
found = warpalign.register_volume(first, second)
print(found)
print(f"overlap {found.overlap:.0%}")

# %% [markdown]
# The translation is in array axes: the content at an index of the first volume is at that index
# plus the translation in the second volume. `warp` resamples the second volume on the grid of the
# first, with 0 where it has no voxels.

# %%
aligned = found.warp(second)
both = aligned != 0
correlation = np.corrcoef(first[both], aligned[both])[0, 1]
print(f"correlation over the overlap: {correlation:.3f}")

# %% [markdown]
# The middle planes of the first volume, the second one, and the warped second one:

# %%
middle = first.shape[0] // 2
planes = np.hstack([first[middle], second[middle], aligned[middle]])
Image.fromarray(np.clip(planes * 160, 0, 255).astype(np.uint8)).save("tiles.png")
