"""Removes the drift of a stack of frames, with several processes.

    python align_frames.py FRAMES ALIGNED.zarr [--drift drift.csv] [--workers 2] [--chunk 16]

FRAMES is a folder of images of one size, in the order of their names, or a Zarr array of shape
(frames, rows, columns).
"""

import argparse
import csv
import pathlib

import dask.array
import numpy as np
import zarr
from distributed import Client, LocalCluster

import warpalign.dask


def frames_of_folder(folder, chunk):
    """The images of a folder as a Dask array, which tasks read."""
    from PIL import Image

    files = sorted(path for path in folder.iterdir() if path.suffix.lower() in
                   {".png", ".tif", ".tiff", ".jpg", ".jpeg"})
    if not files:
        raise SystemExit(f"{folder}: there are no images in this folder")

    def read(path):
        return np.asarray(Image.open(path).convert("F"), np.float32)

    def read_chunk(block_info):
        first, last = block_info[None]["array-location"][0]
        return np.stack([read(path) for path in files[first:last]])

    shape = read(files[0]).shape
    # One task for each chunk. Chains of tasks would be fused differently in the graphs of the drift
    # and of the frames, which run at the same time, and Dask needs one definition for each key.
    chunks = dask.array.core.normalize_chunks((chunk, *shape), (len(files), *shape))
    return dask.array.map_blocks(read_chunk, chunks=chunks, dtype=np.float32,
                                 meta=np.empty((0, 0, 0), np.float32))


def frames_of(source, chunk):
    """The frames of a folder or a Zarr array as a Dask array."""
    path = pathlib.Path(source)
    if path.is_dir() and not any((path / name).exists() for name in ("zarr.json", ".zarray")):
        return frames_of_folder(path, chunk)
    frames = dask.array.from_zarr(str(path))
    if frames.ndim != 3:
        raise SystemExit(f"{source}: the array must have three axes, not the shape {frames.shape}")
    return frames


def write_table(path, table):
    """Write the drift table as CSV, without the matrices."""
    names = [name for name in table.dtype.names if name != "matrix"]
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows([line[name] for name in names] for line in table)


def align(source, target, drift=None, chunk=16):
    """Register all frames to the first one, and write them without their drift."""
    frames = frames_of(source, chunk)
    # The table is small and stays in memory. The frames do not: warp() reads them again.
    stack = warpalign.dask.register_stack(frames, motion="translation").persist()
    aligned = stack.warp(frames)
    array = zarr.create_array(store=target, shape=aligned.shape, dtype=aligned.dtype,
                              chunks=(aligned.chunks[0][0], *aligned.shape[1:]), overwrite=True)
    # No lock: each task writes its own whole chunks.
    dask.array.store(aligned, array, lock=False)
    lines = stack.drift.compute()
    if drift:
        write_table(drift, lines)
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("frames", help="a folder of images, or a Zarr array")
    parser.add_argument("aligned", help="the Zarr array to write")
    parser.add_argument("--drift", help="a CSV file for the drift table")
    parser.add_argument("--workers", type=int, default=2, help="processes [2]")
    parser.add_argument("--chunk", type=int, default=16, help="frames of a folder at once [16]")
    options = parser.parse_args()
    with LocalCluster(n_workers=options.workers, threads_per_worker=1,
                      dashboard_address=None) as cluster, Client(cluster):
        lines = align(options.frames, options.aligned, options.drift, options.chunk)
    print(f"{len(lines)} frames, {int(lines['reliable'].sum())} reliable, drift up to "
          f"{np.nanmax(np.hypot(lines['shift_row'], lines['shift_column'])):.2f} pixels")


if __name__ == "__main__":
    main()
