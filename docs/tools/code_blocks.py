"""Reads the fenced code blocks of the project's pages, and the comments above them.

    <!-- code: from examples/register.c -->     occurs literally in this file of the repository
    <!-- code: output -->                       the output of the block before it
    <!-- code: keys of COMMAND -->              an object with the keys of the command's output
    <!-- code: not run: REASON -->              cannot be compiled or run by the checks
"""

import re
from dataclasses import dataclass

FENCE = re.compile(r"^(?P<fence>`{3,})(?P<language>\S*)[^\n]*\n(?P<text>.*?)^(?P=fence)\s*$",
                   re.M | re.S)
MARK = re.compile(r"<!-- code: (.*?) -->\s*\Z")


@dataclass
class Block:
    page: str
    line: int
    language: str
    text: str
    mark: str

    @property
    def place(self):
        return f"{self.page}:{self.line}"

    def marked(self, word):
        """The text after `word` in the comment above the block; None if it has another word."""
        return self.mark.removeprefix(word).strip() if self.mark.startswith(word) else None


def blocks_of(page, text):
    for found in FENCE.finditer(text):
        mark = MARK.search(text[:found.start()])
        yield Block(page=page, line=text[:found.start()].count("\n") + 1,
                    language=found["language"], text=found["text"],
                    mark=mark[1] if mark else "")


# Text that differs between machines.
LOCAL = re.compile(r"^\s*(device|time)\b")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")


def _agree(line, other):
    """Whether two lines have the same words, and numbers that agree to 1 %."""
    if NUMBER.sub("#", line) != NUMBER.sub("#", other):
        return False
    pairs = zip(NUMBER.findall(line), NUMBER.findall(other))
    return all(abs(float(a) - float(b)) <= 0.01 * max(1, abs(float(a))) for a, b in pairs)


def same_output(written, printed):
    """Whether the output contains the lines that a page shows, in order."""
    def lines(text):
        return [line.strip() for line in text.strip().split("\n") if not LOCAL.match(line)]

    ours, theirs = lines(written), lines(printed)
    return any(all(map(_agree, ours, theirs[start:]))
               for start in range(len(theirs) - len(ours) + 1))
