"""The reference of the command line, from what the program itself says."""

import re
import subprocess


def help_of(program, *words):
    asked = subprocess.run([program, *words, "--help"], check=True, capture_output=True, text=True,
                           env={"COLUMNS": "100", "NO_COLOR": "1", "PATH": "/usr/bin:/bin"})
    return asked.stdout.rstrip()


def subcommands(text):
    """The names and the summaries of a help's commands, which stand before its options."""
    found = []
    for line in text.split("\n"):
        if re.match(r"  -", line):
            break
        if entry := re.match(r"  ([a-z][a-z-]*)\s{2,}(\S.*)", line):
            found.append([entry[1], entry[2]])
        elif found and re.match(r" {10,}\S", line):
            found[-1][1] += " " + line.strip()
    return found


def section(program, words, level):
    text = help_of(program, *words)
    lines = ["#" * level + " " + " ".join(["warpalign", *words]), "",
             "```text", text, "```", ""]
    for name, _ in subcommands(text):
        lines += section(program, [*words, name], level + 1)
    return lines


def write(program, folder):
    text = help_of(program)
    found = subcommands(text)
    if len(found) < 5:
        raise SystemExit(f"docs: {program} --help lists too few commands: {found}")
    lines = ["# Command line", "",
             "What `warpalign --help` and each command's `--help` say.",
             "File formats and the JSON that the commands print: [the program](program.md).", "",
             "| command | |", "| --- | --- |"]
    lines += [f"| [`{name}`](#warpalign-{name}) | {summary} |" for name, summary in found]
    lines += ["", "```text", text, "```", ""]
    for name, _ in found:
        lines += section(program, [name], 2)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "command-line.md").write_text("\n".join(lines))
