"""Checks the docstrings of the public Python package, beyond numpydoc's validation: arrays need a
shape, numbers a unit, and functions their exceptions, an example and a reference.

    python docs/tools/check_docstrings.py      lists the problems; exit status 1 if there are any
"""

import importlib
import inspect
import re
import sys

from numpydoc.docscrape import get_doc_object
from numpydoc.validate import validate

MODULES = ("warpalign", "warpalign.ndimage", "warpalign.dask", "warpalign.compat")

# Checks of numpydoc: no docstring or summary; parameters that are missing, unknown, or without a
# type or description; results and yielded values without a section or description.
CHECKED = {"GL08", "SS01", "PR01", "PR02", "PR04", "PR07", "RT01", "RT03", "YD01"}
UNIT = re.compile(
    r"pixel|voxel|millimet|unit vector|\bsamples|degree|radian|second|frequenc|factor|fraction"
    r"|deviation|0 to 1|power|value|scale|correlation|coordinate|translation|beyond|ndimage"
    r"|counter-clockwise|``sqrt",
    re.I)
SHAPE = re.compile(r"shape|rank|images?\b|volume|one-dim|array", re.I)
# Functions that compute something must have a reference; those of compat name their original.
COMPUTES = re.compile(r"^(register\w*|\w*Registrar)$")
# Classes that users instantiate.
MADE = re.compile(r"(Registrar|StackReg)$")


def public_names():
    """Yield (qualified name, object) for everything that users may import."""
    for module in MODULES:
        loaded = importlib.import_module(module)
        for name in loaded.__all__:
            value = getattr(loaded, name)
            if not inspect.ismodule(value) and not isinstance(value, str):
                yield f"{module}.{name}", value


def methods_of(name, value):
    for method, function in vars(value).items():
        if not method.startswith("_") and callable(getattr(value, method)):
            yield f"{name}.{method}", getattr(value, method)


def _fields(doc):
    for section in ("Parameters", "Attributes", "Returns", "Yields"):
        for field in doc[section]:
            yield field, " ".join(field.desc)


def _field_problems(name, doc):
    for field, description in _fields(doc):
        label = field.name or field.type
        if "array_like" in field.type and not SHAPE.search(field.type + " " + description):
            yield f"{name}: {label}: has no shape"
        if re.search(r"\bfloats?\b", field.type) and not UNIT.search(label + " " + description):
            yield f"{name}: {label}: has no unit"


def _raises_problem(name, doc):
    if doc["Parameters"] and not doc["Raises"]:
        yield f"{name}: has no section Raises"


def _section_problems(name, doc, short):
    if not doc["Raises"]:
        yield f"{name}: has no section Raises"
    if not doc["Examples"]:
        yield f"{name}: has no example"
    yield from _source_problem(name, doc, short)


def _source_problem(name, doc, short):
    source = doc["References"] or re.search(r"scipy|skimage|cv2|stitcher", "".join(doc["Notes"]))
    computes = re.search(r"\.(ndimage|dask)\.", name) and short != "patch"
    if (COMPUTES.search(short) or computes) and not source:
        yield f"{name}: has no reference for its method"


def _known(name, value, code, text):
    """Whether a message of numpydoc is a false alarm."""
    result = inspect.isclass(value) and get_doc_object(value)["Attributes"]
    if code == "PR01" and (result or "options" in text and "**options" in (value.__doc__ or "")):
        return True  # fields of results are under Attributes; shared options are one entry
    # Classes of the extension module have no signature.
    return code == "PR02" and value.__module__.endswith("_core")


def problems():
    for name, value in public_names():
        checked = [(name, value)]
        if inspect.isclass(value):
            methods = list(methods_of(name, value))
            checked += methods
            for label, method in methods:
                yield from _raises_problem(label, get_doc_object(method))
        if inspect.isclass(value) and MADE.search(name):
            yield from _raises_problem(name, get_doc_object(value))
            if not name.startswith("warpalign.compat."):
                yield from _source_problem(name, get_doc_object(value), name.rsplit(".", 1)[-1])
        for label, thing in checked:
            for code, text in validate(label)["errors"]:
                if code in CHECKED and not _known(label, thing, code, text):
                    yield f"{label}: {text} ({code})"
            if thing.__doc__:
                yield from _field_problems(label, get_doc_object(thing))
        if inspect.isfunction(value):
            yield from _section_problems(name, get_doc_object(value), name.rsplit(".", 1)[-1])


def main():
    found = list(problems())
    for problem in found:
        print(problem)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
