# %% [markdown]
# # Join photographs to a panorama
# A camera that rotates sees more than one photograph can hold. `panorama` finds how it was rotated,
# and its focal length, from what the photographs have in common. Here one large photograph is what
# it sees, so that its rotations are known.

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

import warpalign

demo = Path(__file__).parents[2] / "docs" / "demo"
scene = np.asarray(Image.open(demo / "reference.jpg"))  # 1024 x 1024 pixels, at a distance of 900
random = np.random.default_rng(4)
shape, focal_length = (300, 400), 700.0


def rotated(down, right, roll):
    """The rotation by angles in degrees about the axes x (right), y (down) and z (forward)."""
    matrix = np.eye(3)
    for axis, angle in ((1, right), (0, down), (2, roll)):
        c, s = np.cos(np.radians(angle)), np.sin(np.radians(angle))
        one = np.insert(np.insert([[c, -s], [s, c]], axis, 0, axis=0), axis, 0, axis=1)
        one[axis, axis] = 1
        matrix = one @ matrix
    return matrix


def camera(focal_length, shape):
    """From directions (x, y, z) to pixels (row, column)."""
    rows, columns = shape
    return np.array([[0, focal_length, (rows - 1) / 2], [focal_length, 0, (columns - 1) / 2],
                     [0, 0, 1.0]])


def photograph(rotation, exposure):
    to_scene = camera(900, scene.shape[:2]) @ rotation.T @ np.linalg.inv(
        camera(focal_length, shape))
    seen = warpalign.Transform.homography(to_scene).warp(scene, output_shape=shape)
    return np.clip(np.rint(seen * exposure), 0, 255).astype(np.uint8)


angles = [(down, right) for down in (-10, 10) for right in (-11, 0, 11)]
rotations = [rotated(*(np.array(angle) + random.normal(0, 1, 2)), random.normal(0, 2))
             for angle in angles]
exposures = random.uniform(0.75, 1.1, len(angles))
photographs = [photograph(rotation, exposure)
               for rotation, exposure in zip(rotations, exposures)]

figure, axes = plt.subplots(2, 3, figsize=(8, 4), layout="constrained")
for axis, image in zip(axes.flat, photographs):
    axis.imshow(image)
    axis.set_axis_off()

# %% [markdown]
# Nothing but the photographs is needed, and they may come in any order. The result has a camera for
# each of them and all pairs that were compared, with the confidence of each.

# %%
found = warpalign.panorama(photographs, projection="planar")
print(found)
print("focal length:", round(found.cameras[0].focal_length, 2), "pixels; true:", focal_length)
for pair in found.pairs:
    print(pair.reference, pair.moving, pair.outcome, f"{pair.confidence:.2f}",
          f"{pair.residual:.3f} pixels")

# %% [markdown]
# Rotations are found up to one that all have in common, which levels the horizon. Each gain undoes
# an exposure.

# %%
between = [(one.rotation @ other.rotation.T @ true_other @ true_one.T)
           for one, true_one in zip(found.cameras, rotations)
           for other, true_other in zip(found.cameras, rotations)]
error = max(np.degrees(np.arccos(min(1, (np.trace(matrix) - 1) / 2))) for matrix in between)
print(f"largest error of a rotation relative to another: {error:.4f} degrees")
print("exposures times gains:", np.round([camera.gain * exposure for camera, exposure
                                          in zip(found.cameras, exposures)], 3))

# %%
figure, axis = plt.subplots(figsize=(8, 6), layout="constrained")
axis.imshow(found.image)
axis.set_axis_off()
for index in range(len(photographs)):
    rows, columns = np.array(shape) - 1
    outline = found.locate(index, [(0, 0), (0, columns), (rows, columns), (rows, 0), (0, 0)])
    axis.plot(outline[:, 1], outline[:, 0], linewidth=1)
