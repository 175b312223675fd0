"""Checks the comments of the public C++ and C headers: all names need a comment, numbers a unit,
arrays an extent, functions their errors, and computations a reference."""

import re

UNIT = re.compile(
    r"pixel|voxel|sample|degree|radian|second|byte|frequenc|factor|fraction|ratio|standard dev"
    r"|units of|0 to 1|power|value|matrix|row|Similarity::|cval|scale|correlation|sqrt|\bln\b"
    r"|identical|column|coordinate", re.I)
FAILURE = re.compile(r"Error|[Tt]hrow|status|[Nn]ever fails")
SOURCE = re.compile(
    r"paper|equation|proposition|Ruijters|Champagnat|Unser|SciPy|Lucas|Kuglin|Cooley"
    r"|\b[A-Z]\w+ \(?\d{4}\b")
COMPUTES = re.compile(
    r"(Plan|Registrar|Warper|Resampler|Field)$"
    r"|^(register_\w+|align_batch|find_outliers|warpalign_(register|align|resample|prefilter))$")
# Functions and classes that only call others, which have the reference.
BY_OTHERS = re.compile(r"Registrar\b|\w+Plan\b|warpalign_register\(|the other (?:form|overload)")
# Numbers, except in arrays; and arrays without an extent in their type.
NUMBER_ARGUMENT = re.compile(r"\b(?:double|float) (\w+)(?=\s*[,=)])")
ARRAY_ARGUMENT = re.compile(
    r"(?:\bvoid|\bfloat|\bdouble) \*\s*(\w+)|\b(?:span|vector|array)< (?:const )?(?:float|double)\b"
    r"|\b(?:float|double) \w+\[")
EXTENT = re.compile(
    r"\bbytes\b|\bshape|\brows?\b|\bmatrix\b|for each|every pixel|all pixels|\btaps\b|\bpoles\b"
    r"|\d x \d|\bhandle\b", re.I)


def _where(item):
    return f"{item.header}:{item.line}: {item.name}"


def _is_number(member):
    return re.fullmatch(r"(double|float)(\[\d+\])?", member.type) is not None


def _named_in(name, text):
    return re.search(r"\b" + re.escape(name) + r"\b", text.replace("\\", "")) is not None


def _is_overload(item, before):
    """Whether a function without a comment follows an overload, whose comment applies to both."""
    return (before is not None and item.kind == before.kind == "function"
            and item.short == before.short and not item.words)


def merged(items):
    """Yield each item with the overloads that share its comment."""
    groups = []
    for item in items:
        if groups and _is_overload(item, groups[-1][0]):
            groups[-1].append(item)
        else:
            groups.append([item])
    return groups


def _function_problems(item, comment):
    if not item.words:
        yield f"{_where(item)}: is not documented"
    elif not (item.noexcept or "constexpr" in item.declaration or FAILURE.search(comment)):
        yield f"{_where(item)}: the comment does not say how it fails"
    if item.words:
        yield from _argument_problems(item, comment)


def _argument_problems(item, comment):
    for number in NUMBER_ARGUMENT.findall(item.declaration):
        if not UNIT.search(comment):
            yield f"{_where(item)}: {number}: has no unit"
    if re.match(r"(double|float)$", item.type) and not UNIT.search(comment):
        yield f"{_where(item)}: its result has no unit"
    # A handle of another library is not an array.
    is_handle = re.search(r"handle|first (byte|pixel)", comment, re.I)
    if ARRAY_ARGUMENT.search(item.type + " " + item.declaration) and not is_handle and (
            not EXTENT.search(comment + " " + item.declaration)):
        yield f"{_where(item)}: has no extent of an array"


def _source_problems(item, comment):
    comment = comment.replace("\\", "")
    if COMPUTES.search(item.short) and not (SOURCE.search(comment) or BY_OTHERS.search(comment)):
        yield f"{_where(item)}: does not name the source of its method"


def _member_problems(owner, introduction):
    for member, *_ in merged(owner.members):
        if member.kind == "function":
            comment = " ".join([member.words, owner.words, introduction])
            yield from _function_problems(member, comment)
        elif not member.words and not _named_in(member.short, owner.words):
            yield f"{_where(member)}: is not documented"
        elif _is_number(member) and not UNIT.search(member.words + " " + owner.words):
            yield f"{_where(member)}: has no unit"


def _value_problems(item):
    for value in item.members:
        if not value.words and not _named_in(value.name, item.words):
            yield f"{_where(item)}: {value.name} is not documented"


def _problems(item, structs, introduction):
    if item.kind == "function":
        yield from _function_problems(item, item.words + " " + introduction)
        yield from _source_problems(item, item.words)
    elif item.kind == "enum":
        if not item.words and not item.short.startswith("@"):
            yield f"{_where(item)}: is not documented"
        yield from _value_problems(item)
    elif item.kind == "typedef":
        if not item.words and item.name not in structs:
            yield f"{_where(item)}: is not documented"
    else:
        if not item.words:
            yield f"{_where(item)}: is not documented"
        yield from _source_problems(item, item.words)
        yield from _member_problems(item, introduction)


def problems_of(items, introductions):
    """The problems; `introductions` are the first comments of the headers."""
    structs = {item.name for item in items if item.kind == "struct"}
    return [problem for item, *_ in merged(items)
            for problem in _problems(item, structs, introductions[item.header])]
