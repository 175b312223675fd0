"""The shifts of suite2p, which its ops.npy keeps: a pickled dictionary."""

import numpy as np

FORMAT = "suite2p"
_KEYS = ("yoff", "xoff")
_BLOCK_KEYS = ("yoff1", "xoff1", "yblock", "xblock", "nblocks", "Ly", "Lx")


def is_pickle(file):
    """Whether the start of a .npy file says that it holds Python objects."""
    try:
        version = np.lib.format.read_magic(file)
        reader = (np.lib.format.read_array_header_1_0 if version == (1, 0)
                  else np.lib.format.read_array_header_2_0)
        return reader(file)[2].hasobject
    except ValueError:
        return False


def load(cls, path, trust):
    """The transforms of the frames, from the pixels of the registered images to those of the frame.
    Raises ValueError."""
    if not trust:
        raise ValueError("it holds Python objects, and reading them can run any code: pass "
                         "trust=True if you know who wrote it")
    try:
        ops = np.load(path, allow_pickle=True)
        ops = ops.item() if ops.shape == () else ops
    except Exception as error:  # whatever the pickled objects raise
        raise ValueError(f"it is damaged ({error})") from error
    if not isinstance(ops, dict) or any(key not in ops for key in _KEYS):
        raise ValueError("it has no shifts of suite2p (yoff and xoff)")
    shifts = np.stack([_floats(ops, key, 1) for key in _KEYS], 1)
    rigid = [cls.translation(shift) for shift in shifts]
    if ops.get("yoff1") is None or not np.size(ops["yoff1"]):
        return tuple(rigid)
    fields = _block_fields(cls, ops)
    if len(fields) != len(rigid):
        raise ValueError(f"it has shifts of {len(rigid)} frames, and blocks of {len(fields)}")
    # suite2p moves a frame as a whole, and then its blocks.
    return tuple(shift @ field for shift, field in zip(rigid, fields))


def _floats(ops, key, ndim):
    try:
        values = np.asarray(ops[key], np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"its {key} is not of numbers") from error
    if values.ndim != ndim or not len(values) or not np.isfinite(values).all():
        raise ValueError(f"its {key} is not an array of {ndim} axes of finite numbers")
    return values


def _weights(length, centres):
    """The weight of each block for each pixel: linear between centres, constant beyond them."""
    index = np.interp(np.arange(length), centres, np.arange(len(centres)))
    low = np.minimum(index.astype(int), max(len(centres) - 2, 0))
    weights = np.zeros((length, len(centres)))
    rows = np.arange(length)
    weights[rows, low] = 1 - (index - low)
    if len(centres) > 1:
        weights[rows, low + 1] += index - low
    return weights


def _block_fields(cls, ops):
    if missing := [key for key in _BLOCK_KEYS if ops.get(key) is None]:
        raise ValueError(f"it has shifts of blocks, but no {', '.join(missing)}")
    try:
        counts = tuple(int(count) for count in ops["nblocks"])
        shape = int(ops["Ly"]), int(ops["Lx"])
    except (TypeError, ValueError) as error:
        raise ValueError("its nblocks, Ly or Lx are not numbers") from error
    blocks = [_floats(ops, key, 2) for key in ("yblock", "xblock")]
    shifts = np.stack([_floats(ops, key, 2) for key in ("yoff1", "xoff1")], 1)
    if (len(counts) != 2 or min(counts) < 1 or min(shape) < 1 or max(shape) > 1 << 20
            or any(block.shape != (counts[0] * counts[1], 2) for block in blocks)
            or shifts.shape[2] != counts[0] * counts[1]):
        raise ValueError("its blocks do not match their shifts")
    shifts = shifts.reshape(-1, 2, *counts)
    # Blocks are numbered row by row.
    centres = [blocks[0][::counts[1]].mean(1), blocks[1][:counts[1]].mean(1)]
    if any((np.diff(axis) <= 0).any() for axis in centres):
        raise ValueError("its blocks are not in order")
    if all(count > 1 and np.ptp(np.diff(axis)) == 0 for count, axis in zip(counts, centres)):
        grid = {"origin": [axis[0] for axis in centres],
                "spacing": [axis[1] - axis[0] for axis in centres]}
        return [cls.displacement(frame.astype(np.float32), **grid) for frame in shifts]
    rows, columns = (_weights(length, axis) for length, axis in zip(shape, centres))
    return [cls.displacement((rows @ frame @ columns.T).astype(np.float32)) for frame in shifts]
