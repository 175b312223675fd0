"""Makes the gallery: the programs of examples/python with their output and figures."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

from PIL import Image

# In the order in which a newcomer looks at them.
ORDER = ["register_a_pair", "another_modality", "drift_of_a_stack", "join_tiles", "join_photographs",
         "bend_a_brain", "flatten_sections", "still_a_breathing_volume", "align_two_volumes",
         "align_exposures", "align_surveys", "refused_pair", "resample_a_volume",
         "arrays_on_a_device", "spline_degrees", "boundary_modes", "antialiased_zoom"]
SMALL = 420  # pixels; smaller pictures are enlarged
# The pages whose thumbnail in the overview is not their last picture.
FACES = {"spline_degrees": 0}
# Which part of that picture's width, where the whole is too wide.
PARTS = {"another_modality": (2 / 3, 1), "drift_of_a_stack": (1 / 3, 1),
         "join_tiles": (1 / 2, 1), "bend_a_brain": (1 / 3, 1),
         "still_a_breathing_volume": (1 / 3, 1),
         "resample_a_volume": (0, 2 / 3), "arrays_on_a_device": (1 / 3, 1),
         "antialiased_zoom": (1 / 2, 1)}


def _picture(folder, name, title):
    lines = [f"```{{image}} {name}", f":alt: {title}"]
    if not name.endswith(".svg"):
        width = Image.open(folder / name).width
        if width < SMALL:
            lines.append(f":width: {width * (SMALL // width + 1)}px")
    return [*lines, ":class: picture", "```", ""]


def _cell(cell, folder, title):
    if "markdown" in cell:
        return [cell["markdown"], ""]
    lines = ["```python", cell["code"], "```", ""]
    printed = cell["printed"] + cell.get("text", "")
    if printed:
        lines += ["```{code-block} text", ":class: printed", "", printed.rstrip("\n"), "```", ""]
    if "html" in cell:
        lines += ["```{raw} html", f'<div class="shown">{cell["html"]}</div>', "```", ""]
    for name in cell["pictures"]:
        lines += _picture(folder, name, title)
    return lines


def _summary(cells):
    """The title of the page, and its first paragraph."""
    first = next(cell["markdown"] for cell in cells if "markdown" in cell)
    title, _, text = first.partition("\n")
    return title.removeprefix("# "), text.strip().split("\n\n")[0].replace("\n", " ")


def _thumbnail(cells, folder):
    names = [name for cell in cells for name in cell.get("pictures", ())]
    picture = Image.open(folder / names[FACES.get(folder.name, -1)]).convert("RGB")
    left, right = (share * picture.width for share in PARTS.get(folder.name, (0, 1)))
    picture = picture.crop((round(left), 0, round(right), picture.height))
    factor = min(480 / picture.width, 300 / picture.height)
    picture = picture.resize([max(1, round(length * factor)) for length in picture.size])
    frame = Image.new("RGB", (480, 300), "white")
    frame.paste(picture, ((480 - picture.width) // 2, (300 - picture.height) // 2))
    frame.save(folder / "thumbnail.png")


def _run(page, folder):
    """Run a page; returns the results of its cells, and puts its pictures into its own folder."""
    folder.mkdir(parents=True)
    notes = folder / "cells.json"
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("gallery_run.py")), str(page), str(notes)],
        cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"docs: the gallery's {page.name} fails:\n{done.stderr}")
    cells = json.loads(notes.read_text())
    notes.unlink()
    if not any(cell.get("pictures") for cell in cells):
        raise SystemExit(f"docs: the gallery's {page.name} draws no picture")
    return cells


def write(sources, folder, work):
    """Run all pages below `sources`, and write them and an overview."""
    shutil.rmtree(work, ignore_errors=True)
    pages = {page.stem: page for page in sources.glob("*.py")}
    if set(pages) != set(ORDER):
        raise SystemExit(
            f"docs: ORDER in gallery.py and examples/python differ: {set(pages) ^ set(ORDER)}")
    cards = []
    for name in ORDER:
        target = folder / name
        cells = _run(pages[name], target)
        title, summary = _summary(cells)
        _thumbnail(cells, target)
        lines = [line for cell in cells for line in _cell(cell, target, title)]
        lines.append(f"*This page is {{download}}`{name}.py <{name}.py>`, run for this site.*")
        shutil.copyfile(pages[name], target / f"{name}.py")
        (target / "index.md").write_text("\n".join(lines) + "\n")
        cards += [f":::{{grid-item-card}} {title}", f":img-top: {name}/thumbnail.png",
                  f":img-alt: {title}",
                  f":link: {name}/index", ":link-type: doc", "", summary, ":::", ""]
    entries = "\n".join(f"{name}/index" for name in ORDER)
    (folder / "index.md").write_text(
        "# Gallery\n\nEach page is a Python program that ran when this site was built; its text, "
        "numbers and pictures are from that run.\n\n"
        "::::{grid} 1 2 2 3\n:gutter: 3\n\n" + "\n".join(cards) + "::::\n\n"
        f"```{{toctree}}\n:hidden:\n\n{entries}\n```\n")
