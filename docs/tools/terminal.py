"""Runs a program in a terminal, and draws the terminal's screen as SVG."""

import os
import pty
import re
import struct
import subprocess
import termios
from fcntl import ioctl
from xml.etree import ElementTree
from xml.sax.saxutils import escape

COLUMNS = 100
TOKEN = re.compile(r"\x1b\[(?P<codes>[0-9;]*)(?P<letter>[A-Za-z])|(?P<control>[\r\n])|(?P<text>.)",
                   re.DOTALL)
COLOURS = {31: "#ff7b72", 32: "#56d364", 33: "#e3b341", 34: "#79c0ff", 36: "#76e3ea"}
PLAIN, GROUND, PROMPT = "#e6edf3", "#161b22", "#8b949e"
WIDTH, HEIGHT, MARGIN = 8.4, 19, 16


def run(command, **options):
    """Run a command in a terminal of COLUMNS columns; returns (exit status, output)."""
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs,
                               **options)
    os.close(theirs)
    written = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # on Linux: the other end is closed
            break
        if not piece:
            break
        written += piece
    os.close(ours)
    return process.wait(), written.decode()


def screen(written):
    """The final screen, as lines of (character, colour)."""
    lines, column, colour = [[]], 0, PLAIN
    for token in TOKEN.finditer(written):
        line = lines[-1]
        if token["control"] == "\n":
            lines.append([])
        elif token["control"] == "\r":
            column = 0
        elif token["letter"] == "K":
            del line[column:]
        elif token["letter"] == "m":
            for code in (token["codes"] or "0").split(";"):
                colour = COLOURS.get(int(code), PLAIN if int(code) == 0 else colour)
        elif token["letter"]:
            raise ValueError(f"unsupported control sequence: {token[0]!r}")
        else:
            line += [(" ", PLAIN)] * (column - len(line))
            line[column:column + 1] = [(token["text"], colour)]
            column += 1
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _runs(line):
    """Divide a line into pieces of one colour: (column, text, colour)."""
    runs = []
    for column, (character, colour) in enumerate(line):
        if runs and runs[-1][2] == colour:
            runs[-1][1] += character
        else:
            runs.append([column, character, colour])
    return runs


def _texts(column, row, text, colour):
    """The phrases of a piece, each with its position and width, so that columns align in any font:
    SVG collapses spaces."""
    for phrase in re.finditer(r"\S+(?: \S+)*", text):
        left = MARGIN + (column + phrase.start()) * WIDTH
        yield (f'<text x="{left:.1f}" y="{MARGIN + (row + 0.75) * HEIGHT:.1f}" fill="{colour}" '
               f'textLength="{len(phrase[0]) * WIDTH:.1f}">{escape(phrase[0])}</text>')


def svg(command, lines):
    """A picture of a terminal after a command."""
    lines = [[(c, PROMPT if i < 2 else PLAIN) for i, c in enumerate(f"$ {command}")], *lines]
    width = 2 * MARGIN + WIDTH * max(len(line) for line in lines)
    height = 2 * MARGIN + HEIGHT * len(lines)
    pieces = []
    for row, line in enumerate(lines):
        drawn = "".join(text for column, *piece in _runs(line)
                        for text in _texts(column, row, *piece))
        pieces.append(f'<g class="line">{drawn}</g>')
    body = "\n".join(pieces)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" '
            f'width="{width:.0f}" height="{height}" font-size="14" '
            'font-family="ui-monospace, \'DejaVu Sans Mono\', Menlo, Consolas, monospace">\n'
            f'<rect width="100%" height="100%" rx="8" fill="{GROUND}"/>\n{body}\n</svg>\n')


def lines_of(picture):
    """The lines of text of such a picture, without the command."""
    space = "{http://www.w3.org/2000/svg}"
    lines = []
    for group in ElementTree.fromstring(picture).iter(f"{space}g"):
        line = ""
        for piece in group.iter(f"{space}text"):
            column = round((float(piece.get("x")) - MARGIN) / WIDTH)
            line = line.ljust(column) + piece.text
        lines.append(line)
    return lines[1:]
