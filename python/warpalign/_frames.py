"""Iteration over the frames of a stack: an array, a chunked array or any iterable."""

import numpy as np

from ._files._open import is_file, opened


def rows_of_chunks(array):
    """The length of each chunk along the first axis; None for an array without chunks."""
    chunks = getattr(array, "chunks", None)
    if not chunks:  # no attribute: NumPy arrays and memory maps; None: contiguous h5py datasets
        return None
    along = chunks[0]  # Zarr and h5py: one length; Dask: a length for each chunk
    if isinstance(along, tuple):
        return along
    whole, rest = divmod(array.shape[0], along)
    return (along,) * whole + ((rest,) if rest else ())


def iterate_frames(frames):
    """Yield the frames of an array with three axes, or of any other iterable.

    Frames are not kept. A chunked array (Zarr, Dask, h5py) is read one row of chunks at a time:
    reading frame by frame would load or compute each chunk once per frame.
    """
    if is_file(frames):
        frames = opened(frames)._frames()
    if getattr(frames, "ndim", None) != 3:
        yield from frames
        return
    runs = rows_of_chunks(frames)
    if runs is None:
        for index in range(frames.shape[0]):
            yield frames[index]
        return
    start = 0
    for length in runs:
        chunk = np.asarray(frames[start:start + length])
        for index in range(length):
            yield chunk[index]
        del chunk
        start += length
