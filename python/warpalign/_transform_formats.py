"""The names of the file formats of transforms."""

from . import _core

# Those that are images or HDF5, which _transform_images reads, and OME-Zarr.
IMAGE_FORMATS = ("itk-h5", "itk-nifti", "fnirt-relative", "fnirt-absolute", "niftyreg", "ome-zarr")


def transform_formats():
    """All names."""
    return ("json", "npz", *_core.transform_formats(), *IMAGE_FORMATS, "suite2p")
