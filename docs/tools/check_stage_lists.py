"""Whether the pages that list the stages, folder by folder, name every one of them."""

import re
from pathlib import Path

STAGES = "core/backend_interface/warpalign/backend/stages"
PAGES = ("docs/architecture.md", "kernels_cl/README.md", "backend_cuda/README.md",
         "backend_opencl/README.md")
# Tables of weights that stages share.
NO_STAGES = {"axis_weights"}


def stages_of(root):
    """(folder, stage) of every stage that there is."""
    return [(path.parent.name, path.stem) for path in sorted((root / STAGES).glob("*/*.hpp"))
            if path.stem not in NO_STAGES]


def missing(text, stages):
    """The stages that are not in the row of their folder."""
    for folder, stage in stages:
        row = re.search(rf"^\| `{folder}/` \|.*$", text, re.M)
        if not row:
            yield f"has no row for {folder}/"
        elif not re.search(rf"\b(real_)?{stage}\b", row[0]) and f"{folder}/" != f"{stage}/":
            yield f"{stage} is not in the row of {folder}/"


def problems(root):
    stages = stages_of(Path(root))
    for page in PAGES:
        for problem in missing((Path(root) / page).read_text(), stages):
            yield f"{page}: {problem}"
