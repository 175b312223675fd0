"""Makes the reference of the command line from the program's own help."""

import re
import subprocess


def help_of(program, *words):
    done = subprocess.run([program, *words, "--help"], check=True, capture_output=True, text=True,
                           env={"COLUMNS": "100", "NO_COLOR": "1", "PATH": "/usr/bin:/bin"})
    return done.stdout.rstrip()


def subcommands(text):
    """The names and descriptions of the commands that a help text lists under headings."""
    if not re.search(r"^Usage: .* COMMAND \.\.\.", text, re.M):
        return []
    listed = re.split(r"^Messages:$", text, maxsplit=1, flags=re.M)[0]
    # A line with a deeper indent continues the previous description.
    return re.findall(r"^  ([a-z]\S*)\s{2,}(\S.*)$", listed, re.M)


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
             "File formats and the JSON that the commands print: "
             "[the program](program-output.md).", "",
             "| command | |", "| --- | --- |"]
    lines += [f"| [`{name}`](#warpalign-{name}) | {summary} |" for name, summary in found]
    lines += ["", "```text", text, "```", ""]
    for name, _ in found:
        lines += section(program, [name], 2)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "command-line.md").write_text("\n".join(lines))
