# %% [markdown]
# # Lay a new aerial survey on an old one
# A surveyor has two GeoTIFFs of the same area. The old one is accurate. The new one has smaller
# pixels, another content at its edges, and lies a few metres off, slightly turned.
# `warpalign.register` takes the paths; the result is saved on the old one's grid, with its
# coordinate reference system. The land is a picture of the gallery, and the error is made here, so
# that it is known. It needs `pip install "warpalign[geotiff]"`.

# %%
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import rasterio
from PIL import Image
from rasterio.transform import Affine

import warpalign
from warpalign import ndimage

picture = Path(__file__).parents[1] / "data" / "satellite.jpg"
land = np.asarray(Image.open(picture).convert("L"), np.float32)
folder = Path(tempfile.mkdtemp())


def write(name, image, transform):
    """A GeoTIFF of one band in UTM zone 33N, in which 0 stands for what was not surveyed."""
    with rasterio.open(folder / name, "w", driver="GTiff", width=image.shape[1],
                       height=image.shape[0], count=1, dtype="uint8", crs="EPSG:32633",
                       transform=transform, nodata=0) as file:
        file.write(np.clip(np.rint(image), 1, 255).astype(np.uint8) * (image > 0), 1)


# The old survey: 0.5 m a pixel.
west, north = 500_000.0, 5_400_000.0
write("old.tif", land[:360, :500], Affine(0.5, 0, west, 0, -0.5, north))

# The new one: 0.4 m a pixel, from a flight that was turned by 1.2 degrees; its file does not know.
angle, size = np.radians(1.2), 0.4 / 0.5
linear = size * np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
first = np.array([31.0, 46.0])  # where its first pixel is in the old one, (row, column)
new = ndimage.affine_transform(land, linear, first, output_shape=(400, 560))
new[:30, :200] = 0  # a corner that was not surveyed
write("new.tif", 0.8 * new + 20 * (new > 0), Affine(0.4, 0, west + 46 / 2 + 3, 0, -0.4,
                                                  north - 31 / 2 + 4))

# %% [markdown]
# Files tell their pixel sizes and where they lie; what was not surveyed is ignored.

# %%
old = warpalign.open(folder / "old.tif")
print(old.format, old.axes, old.shape, old.metadata["crs"])
print(old.spacing, old.units)
found = warpalign.register(old, folder / "new.tif")
print(f"rotated by {found.rotation_deg:.2f} degrees, pixels of {0.5 / found.scale:.4f} m; "
      f"reliable: {found.reliable}")

# %% [markdown]
# The transform knows both maps: in the world, it maps points of the old map, in millimetres, to
# where the new map has them.

# %%
point = old.geometry.points([[180, 250]])
offset = (found.transform.points(point, world=True) - point)[0] / 1000
print(f"in the middle, the new map is {offset[0]:+.2f} m east and {offset[1]:+.2f} m north")

# %% [markdown]
# `warp` lays the new survey on the old one's grid, and `save` writes it with the old one's
# georeference and nodata.

# %%
aligned = found.warp(folder / "new.tif", cval=old.nodata)
old.save(folder / "aligned.tif", aligned)
with rasterio.open(folder / "old.tif") as a, rasterio.open(folder / "aligned.tif") as b:
    print(b.crs, b.transform == a.transform, b.nodata)

figure, axes = plt.subplots(1, 3, figsize=(14, 3.6), layout="constrained")
rows, columns = np.indices(aligned.shape)
fields = ((rows // 45 + columns // 45) % 2 == 1) & (aligned > 0)
panels = {"old": np.asarray(old), "new": np.asarray(warpalign.open(folder / "new.tif")),
          "the new one on the old one": np.where(fields, aligned, old)}
for axis, (title, image) in zip(axes, panels.items()):
    axis.imshow(image, cmap="gray", vmin=0, vmax=150)
    axis.set_title(title)
    axis.set_axis_off()
