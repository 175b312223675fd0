"""Runs one page of the gallery cell by cell, and records the output and figures of each cell.

    python gallery_run.py PAGE.py OUTPUT.json      in the folder where its pictures are to appear
"""

import ast
import contextlib
import io
import json
import re
import sys
from pathlib import Path

import matplotlib

matplotlib.use("agg")

PICTURES = (".png", ".jpg", ".svg")


def cells_of(text):
    """Yield (is Markdown, lines) for each cell of a page in percent format."""
    parts = re.split(r"^# %%( \[markdown\])?\n", text, flags=re.M)
    for marker, body in zip(parts[1::2], parts[2::2]):
        if marker:
            body = re.sub(r"^# ?", "", body, flags=re.M)
        yield bool(marker), body.strip("\n")


def shown(value):
    """The output of a notebook for the value of a cell's last expression."""
    if value is None:
        return {}
    if hasattr(value, "_repr_html_"):
        return {"html": value._repr_html_()}
    return {"text": repr(value)}


def figures(folder, number):
    """Save the figures that a cell left open, as pictures."""
    import matplotlib.pyplot as plot

    names = []
    for figure in plot.get_fignums():
        name = f"figure_{number}_{figure}.png"
        plot.figure(figure).savefig(folder / name, dpi=110)
        names.append(name)
    plot.close("all")
    return names


def run_cell(code, page, names):
    """Execute a cell; returns the value of its last statement if that is an expression."""
    tree = ast.parse(code, str(page))
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, str(page), "exec"), names)
    # As in a notebook, a semicolon suppresses the output of the value.
    if last is None or code.rstrip().endswith(";"):
        if last is not None:
            exec(compile(ast.Module([last], []), str(page), "exec"), names)
        return None
    return eval(compile(ast.Expression(last.value), str(page), "eval"), names)


def run(page, folder):
    names = {"__name__": "__main__", "__file__": str(page)}
    cells = []
    for number, (is_markdown, body) in enumerate(cells_of(page.read_text())):
        if is_markdown:
            cells.append({"markdown": body})
            continue
        before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            value = run_cell(body, page, names)
        drawn = figures(folder, number)
        drawn += sorted(path.name for path in folder.iterdir()
                        if path.suffix in PICTURES and path.name not in drawn
                        and before.get(path.name) != path.stat().st_mtime_ns)
        cells.append({"code": body, "printed": printed.getvalue(), "pictures": drawn,
                      **shown(value)})
    return cells


if __name__ == "__main__":
    output = Path(sys.argv[2])
    output.write_text(json.dumps(run(Path(sys.argv[1]).resolve(), Path.cwd())))
