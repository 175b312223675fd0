"""Compares the options on the how-to pages with the program's help.

A mark names the options that a page describes: `<!-- options: COMMAND, GROUP -->`. The page must
have every option under that heading of the command's help, and a table below the mark must not have
other options. A table with the column "default" must have the defaults of the help.
"""

import re

import command_line

MARK = re.compile(r"<!-- options: (?P<command>[\w-]+), (?P<group>[\w ]+) -->\n+"
                  r"(?P<table>(?:\|.*\n)*)")
# "  --max-shift N   Longest translation [any]", with its continuation lines.
OPTION = re.compile(r"^  (?:-\w, )?(--[\w-]+)[^\n]*(?:\n {20,}[^\n]*)*", re.M)


def groups_of(text):
    """The options of a help text by heading, each with its default or None."""
    groups = {}
    for heading, body in re.findall(r"^(\w[\w ]*):\n((?:  .*\n?)+)", text, re.M):
        for option in OPTION.finditer(body):
            default = re.search(r"\[([^\]]*)\]\s*$", " ".join(option[0].split()))
            groups.setdefault(heading, {})[option[1]] = default and default[1]
    return groups


def rows_of(table):
    """The rows of a table, as dictionaries by column heading."""
    lines = [[cell.strip() for cell in line.strip("|").split("|")]
             for line in table.strip().split("\n") if line]
    return [dict(zip(lines[0], line)) for line in lines[2:]]


def problems(page, text, help_of):
    """The problems of a page; `help_of(command)` returns the help of a command."""
    for mark in MARK.finditer(text):
        groups = groups_of(help_of(mark["command"]))
        known = {name: default for group in groups.values() for name, default in group.items()}
        if mark["group"] not in groups:
            yield f"{page}: the help of {mark['command']} has no heading '{mark['group']}'"
        for name in groups.get(mark["group"], ()):
            if not re.search(rf"`{re.escape(name)}(?![\w-])", text):
                yield f"{page}: lacks {name} of {mark['command']}"
        for row in rows_of(mark["table"]):
            for name in re.findall(r"`(--[\w-]+)", row.get("option", "")):
                if name not in known:
                    yield f"{page}: {mark['command']} has no {name}"
                elif known[name] and row.get("default", known[name]).strip("`") != known[name]:
                    yield f"{page}: the default of {name} is {known[name]}, not {row['default']}"


def check(root, program):
    """The problems of all pages."""
    found = 0
    for page in sorted((root / "docs/howto").glob("*.md")):
        text = page.read_text()
        found += len(MARK.findall(text))
        yield from problems(page.name, text, lambda command: command_line.help_of(program, command))
    if found == 0:
        yield "docs/howto: no page has a mark <!-- options: COMMAND, GROUP -->"
