"""Runs the Python blocks of one page, one after the other in one namespace.

    python block_python.py BLOCKS.json OUTPUTS.json      in a folder made by block_inputs.py
"""

import contextlib
import io
import json
import sys
import traceback
from pathlib import Path


def given_names():
    """The names that the pages use without defining them: images, frames, a volume, a function."""
    import numpy as np
    from PIL import Image

    import warpalign
    from warpalign import ndimage

    def someone_elses_function(array):
        import scipy.ndimage

        return scipy.ndimage.zoom(array, 0.5)

    photographs = [np.asarray(Image.open(f"docs/demo/{name}.jpg").convert("L").reduce(3))
                   for name in ("reference", "moving")]
    volume = np.load("in.npy")
    return {
        "np": np, "warpalign": warpalign, "reference": photographs[0], "moving": photographs[1],
        "frames": [np.asarray(Image.open(f"frame{number}.png")) for number in range(3)],
        "volume": volume, "moved_volume": np.roll(volume, (1, 2, 0), (0, 1, 2)),
        "someone_elses_function": someone_elses_function, "ndimage": ndimage,
    }


def main():
    blocks = json.loads(Path(sys.argv[1]).read_text())
    names = given_names()
    outputs = []
    for block in blocks:
        printed = io.StringIO()
        try:
            with contextlib.redirect_stdout(printed):
                exec(compile(block["text"], block["place"], "exec"), names)
            outputs.append({"printed": printed.getvalue()})
        except Exception:
            outputs.append({"failed": traceback.format_exc(limit=-2)})
    Path(sys.argv[2]).write_text(json.dumps(outputs))


if __name__ == "__main__":
    main()
