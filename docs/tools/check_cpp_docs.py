"""What the comments of public C++ and C must say: every name what it is, numbers their unit,
functions how they fail, and the classes that compute the source of what they compute."""

import re

UNIT = re.compile(
    r"pixel|voxel|sample|degree|radian|second|byte|frequenc|factor|fraction|ratio|standard dev"
    r"|units of|0 to 1|power|value|matrix|row|Similarity::|cval|scale|correlation|sqrt|\bln\b"
    r"|identical|column|coordinate", re.I)
FAILURE = re.compile(r"Error|[Tt]hrow|status|[Nn]ever fails")
SOURCE = re.compile(
    r"paper|equation|proposition|Ruijters|Champagnat|Unser|SciPy|Lucas|Kuglin|Cooley|Wernet")
COMPUTES = re.compile(r"(Plan|Registrar)$")


def _where(item):
    return f"{item.header}:{item.line}: {item.name}"


def _is_number(member):
    return re.fullmatch(r"(double|float)(\[\d+\])?", member.type) is not None


def _named_in(name, text):
    return re.search(r"\b" + re.escape(name) + r"\b", text.replace("\\", "")) is not None


def _is_overload(item, before):
    """Whether a function without a comment stands below an overload, whose comment is for both."""
    return (before is not None and item.kind == before.kind == "function"
            and item.short == before.short and not item.words)


def merged(items):
    """The items, each with the overloads that share its comment."""
    groups = []
    for item in items:
        if groups and _is_overload(item, groups[-1][0]):
            groups[-1].append(item)
        else:
            groups.append([item])
    return groups


def _function_problems(item, said):
    if not item.words:
        yield f"{_where(item)}: is not documented"
    elif not (item.noexcept or "constexpr" in item.declaration or FAILURE.search(said)):
        yield f"{_where(item)}: nothing says how it fails"


def _member_problems(owner, introduction):
    for member, *_ in merged(owner.members):
        if member.kind == "function":
            said = " ".join([member.words, owner.words, introduction])
            yield from _function_problems(member, said)
        elif not member.words and not _named_in(member.short, owner.words):
            yield f"{_where(member)}: is not documented"
        elif _is_number(member) and not UNIT.search(member.words + " " + owner.words):
            yield f"{_where(member)}: says no unit"


def _value_problems(item):
    for value in item.members:
        if not value.words and not _named_in(value.name, item.words):
            yield f"{_where(item)}: {value.name} is not documented"


def _problems(item, structs, introduction):
    is_c = item.header.endswith(".h")
    if item.kind == "function":
        yield from _function_problems(item, introduction if is_c else item.words + introduction)
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
        if COMPUTES.search(item.short) and not SOURCE.search(item.words):
            yield f"{_where(item)}: does not name the source of what it computes"
        yield from _member_problems(item, introduction)


def problems_of(items, introductions):
    """What is missing; `introductions` are the comments that the headers begin with."""
    structs = {item.name for item in items if item.kind == "struct"}
    return [problem for item, *_ in merged(items)
            for problem in _problems(item, structs, introductions[item.header])]
