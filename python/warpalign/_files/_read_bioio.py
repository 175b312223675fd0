"""What bioio reads, if the user has it, with the packages for its formats."""

from ._image_file import ImageFile
from ._refusal import check_level, number_of_scene


def reader():
    """The function that reads by bioio, or None if it is not installed."""
    try:
        import bioio
    except ImportError:
        return None

    def read(path, scene, level):
        image = bioio.BioImage(path)
        names = list(image.scenes)
        image.set_scene(number_of_scene(scene, names))
        check_level(level, len(image.resolution_levels))
        image.set_resolution_level(image.resolution_levels[level])
        array = image.dask_data
        axes = [axis.lower() for axis in image.dims.order]
        # bioio always gives T, C, Z, Y, X; axes of one element say nothing.
        kept = [i for i, axis in enumerate(axes) if array.shape[i] > 1 or axis in "yx"]
        array = array[tuple(slice(None) if i in kept else 0 for i in range(array.ndim))]
        axes = ["c" if axes[i] == "s" else axes[i] for i in kept]
        sizes = image.physical_pixel_sizes
        spacing = {axis: size for axis, size in zip("zyx", (sizes.Z, sizes.Y, sizes.X)) if size}
        return ImageFile(path, "bioio", array, axes, spacing=spacing,
                         units=dict.fromkeys(spacing, "micrometer"),
                         channels=image.channel_names or (), scenes=names,
                         metadata={"bioio": image.metadata})

    return read
