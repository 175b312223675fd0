"""Compares warpalign.dask and dask-image on the same Dask arrays, against SciPy on the whole array.

    python benchmarks/dask_image.py [--side 1024] [--chunk 256]

Prints a Markdown table: for each function and mode, the largest difference from SciPy (samples are
0 to 1), the number of tasks in the graph, and the time on all cores with Dask's threads.
"""

import argparse
import importlib.metadata
import time
import warnings

import dask
import dask.array as da
import dask_image.ndinterp
import numpy as np
import scipy.ndimage

import warpalign
import warpalign.dask

MODES = ["constant", "grid-constant", "nearest", "mirror", "reflect", "grid-mirror", "wrap",
         "grid-wrap"]
MATRIX, OFFSET = np.array([[0.98, 0.17], [-0.17, 0.98]]), np.array([-17.4137, 42.2291])


def measured(make, expected):
    """Measure a lazy array; returns the error of a library that does not support it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            lazy = make()
            tasks = len(lazy.__dask_optimize__(lazy.dask, lazy.__dask_keys__()))
            lazy.compute(scheduler="threads")  # compiles kernels
            start = time.perf_counter()
            found = lazy.compute(scheduler="threads")
            seconds = time.perf_counter() - start
    except Exception as error:  # libraries raise exceptions of any kind
        return [f"refused ({type(error).__name__})", "", ""]
    return [f"{np.abs(found - expected).max():.1e}", str(tasks), f"{seconds * 1e3:.0f} ms"]


def rows(side, chunk):
    """Yield function, mode, and the call of each library."""
    image = np.random.default_rng(0).random((side, side))
    source = da.from_array(image, chunks=chunk)
    index = np.indices((side // 2, side // 2)).astype(float)
    points = np.stack([1.9 * index[0] + 3 * np.sin(index[1] / 40) + 4.137, 1.8 * index[1] - 7.221])
    points = points.reshape(2, -1)  # dask-image needs one dimension of points
    cut = da.from_array(points, chunks=(2, chunk * chunk // 4))
    # dask-image prefilters only on request.
    for mode in MODES:
        keywords = {"order": 3, "mode": mode, "prefilter": True}
        expected = scipy.ndimage.affine_transform(image, MATRIX, OFFSET, **keywords)
        yield ["`affine_transform`", f"`{mode}`"] + [
            cell for library in (warpalign.dask, dask_image.ndinterp)
            for cell in measured(
                lambda: library.affine_transform(source, MATRIX, OFFSET, **keywords), expected)]
    for mode in MODES:
        keywords = {"order": 3, "mode": mode, "prefilter": True}
        expected = scipy.ndimage.map_coordinates(image, points, **keywords)
        yield ["`map_coordinates`", f"`{mode}`"] + [
            cell for library in (warpalign.dask, dask_image.ndinterp)
            for cell in measured(
                lambda: library.map_coordinates(source, cut, **keywords), expected)]
    for mode in MODES:
        expected = scipy.ndimage.spline_filter(image, 3, mode=mode)
        yield ["`spline_filter`", f"`{mode}`"] + [
            cell for library in (warpalign.dask, dask_image.ndinterp)
            for cell in measured(lambda: library.spline_filter(source, 3, mode=mode), expected)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--side", type=int, default=1024, help="side of the image [1024]")
    parser.add_argument("--chunk", type=int, default=256, help="side of a chunk [256]")
    given = parser.parse_args()
    print(f"warpalign {warpalign.__version__} on {warpalign.open_device().id}, dask-image "
          f"{importlib.metadata.version('dask-image')}, dask {dask.__version__}, "
          f"SciPy {scipy.__version__}; "
          f"{given.side} x {given.side} in chunks of {given.chunk} x {given.chunk}\n")
    print("| function | mode | warpalign.dask: error | tasks | time "
          "| dask-image: error | tasks | time |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for row in rows(given.side, given.chunk):
        print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
