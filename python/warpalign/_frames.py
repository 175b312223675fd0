"""The frames of a stack, one after the other, from whatever holds them."""

import numpy as np


def _rows_of_chunks(array):
    """How many frames a chunk of the array has, for each run of chunks along its first axis."""
    chunks = getattr(array, "chunks", None)
    if not chunks:  # NumPy and its memory maps have none; h5py says None where there are none
        return None
    along = chunks[0]  # Zarr and h5py: a number; Dask: a number for each chunk
    if isinstance(along, tuple):
        return along
    whole, rest = divmod(array.shape[0], along)
    return (along,) * whole + ((rest,) if rest else ())


def iterate_frames(frames):
    """The frames of an array of three axes, or of any other iterable.

    Nothing is kept of them. An array in chunks (Zarr, Dask, h5py) is read a row of chunks at a time:
    for each frame anew its whole chunk would be read or computed again.
    """
    if getattr(frames, "ndim", None) != 3:
        yield from frames
        return
    runs = _rows_of_chunks(frames)
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
