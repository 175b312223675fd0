"""Passes parts of Dask arrays to tasks, and makes arrays of such tasks."""

import functools
import itertools
import operator

import numpy as np

try:
    import dask.array
    from dask.base import tokenize
    from dask.delayed import Delayed
    from dask.highlevelgraph import HighLevelGraph
except ImportError as error:
    raise ImportError("warpalign.dask needs Dask: pip install warpalign[dask]") from error

from .. import Device
from .._files._open import is_file, opened


def as_dask(array):
    """Convert an array to a Dask array, unless it is one. Zarr arrays and files keep their
    chunks."""
    if is_file(array):
        return _of_file(opened(array))
    if isinstance(array, dask.array.Array):
        _check_known("the input", array)
        return array
    return dask.array.asarray(array)


def _of_file(file):
    """The Dask array of an ImageFile or of its Frames, whose tasks open the file themselves."""
    array = getattr(file, "array", file)
    if isinstance(array, dask.array.Array):
        return array
    chunks = getattr(array, "chunks", None) or "auto"
    return dask.array.from_array(file, chunks=chunks, asarray=True, fancy=False)


def frames_as_dask(frames):
    """Convert the frames of a stack to a Dask array of three axes."""
    return _of_file(opened(frames)._frames()) if is_file(frames) else as_dask(frames)


def _check_known(what, array):
    if any(np.isnan(length) for length in array.shape):
        raise ValueError(
            f"{what} has chunks of unknown size; call its method compute_chunk_sizes() first")


def device_name(device):
    """The name of a device for tasks: an opened Device cannot be sent to other processes."""
    if isinstance(device, Device):
        return device.id
    return device


def _pieces_of_axis(chunks, wanted):
    """The chunks that hold the slice `wanted`, as (number, slice of the chunk). Beyond the end of
    the axis, the slice continues at the beginning."""
    ends = np.cumsum(chunks)
    length = int(ends[-1])
    pieces, at = [], wanted.start
    while at < wanted.stop:
        inside = at % length
        number = int(np.searchsorted(ends, inside, side="right"))
        start = int(ends[number]) - chunks[number]
        count = min(wanted.stop - at, int(ends[number]) - inside)
        pieces.append((number, slice(inside - start, inside - start + count)))
        at += count
    return pieces


class Part:
    """A box of a Dask array: the keys of its chunks, and the slices that put_together() joins."""

    def __init__(self, array, wanted):
        axes = [_pieces_of_axis(chunks, part) for chunks, part in zip(array.chunks, wanted)]
        self.keys = self._keys(array.name, axes, ())
        self.slices = [[piece for _, piece in axis] for axis in axes]

    def _keys(self, name, axes, numbers):
        if not axes:
            return (name, *numbers)
        return [self._keys(name, axes[1:], (*numbers, number)) for number, _ in axes[0]]


def put_together(blocks, slices, picked=()):
    """Join the chunks of a Part to the box that it describes."""
    if len(picked) == len(slices):
        return np.asarray(blocks)[picked]
    parts = [put_together(block, slices, (*picked, piece))
             for block, piece in zip(blocks, slices[len(picked)])]
    return parts[0] if len(parts) == 1 else np.concatenate(parts, len(picked))


def regions_of(chunks):
    """Yield (number, slices) of every chunk of an array."""
    axes = []
    for lengths in chunks:
        ends = np.cumsum(lengths).tolist()
        axes.append([slice(end - length, end) for length, end in zip(lengths, ends)])
    for number in itertools.product(*(range(len(axis)) for axis in axes)):
        yield number, tuple(axis[i] for axis, i in zip(axes, number))


def array_of_tasks(what, make_task, chunks, dtype, dependencies, token):
    """Make an array with one task for each chunk. make_task(number, slices) returns a tuple of the
    function that the task calls and the keys of its arguments."""
    name = f"warpalign-{what}-{tokenize(what, chunks, dtype, *dependencies, token)}"
    graph = {(name, *number): make_task(number, slices)
             for number, slices in regions_of(chunks)}
    graph = HighLevelGraph.from_collections(name, graph, dependencies=list(dependencies))
    return dask.array.Array(graph, name, chunks, dtype=dtype)


def component_of(tuples, index, what, dtype):
    """The array of one element of each of the tuples that an array's tasks return."""

    def task(number, _region):
        return operator.itemgetter(index), (tuples.name, *number)

    return array_of_tasks(what, task, tuples.chunks, dtype, [tuples], index)


def delayed_task(what, function, keys, dependencies, token):
    """Make a Delayed of one task, which calls a function with the values of keys."""
    name = f"warpalign-{what}-{tokenize(what, *dependencies, token)}"
    graph = HighLevelGraph.from_collections(name, {name: (function, *keys)},
                                            dependencies=list(dependencies))
    return Delayed(name, graph)


def shared(what, value, token):
    """Make a Delayed of a value, which tasks take from the graph in place of a copy in each one."""
    name = f"warpalign-{what}-{tokenize(what, token)}"
    return Delayed(name, HighLevelGraph.from_collections(name, {name: value}, dependencies=()))


def bound(function, **arguments):
    """Bind the arguments of a task's function that do not come from other tasks."""
    return functools.partial(function, **arguments)
