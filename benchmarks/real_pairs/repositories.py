"""Reads files of fetched repositories at a fixed commit, from clones or bare snapshots."""

import pathlib
import subprocess


class Missing(Exception):
    """A repository or one of its files is missing."""


class Repositories:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def directory(self, name):
        """The git directory of `owner/name` in any of the usual layouts."""
        owner, short = name.split("/")
        for stem in (f"{owner}+{short}", f"{owner}/{short}", f"{owner}_{short}", short):
            for tail in ("repo", "."):
                candidate = self.folder / stem / tail
                if (candidate / ".git").exists() or (candidate / "HEAD").exists():
                    return candidate
        raise Missing(f"{name}: there is no clone in {self.folder}")

    def read(self, name, commit, path):
        command = ["git", "-C", str(self.directory(name)), "cat-file", "blob", f"{commit}:{path}"]
        done = subprocess.run(command, capture_output=True, check=False)
        if done.returncode:
            raise Missing(f"{name}: {commit[:8]} has no {path}")
        return done.stdout
