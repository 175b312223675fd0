"""``python -m warpalign`` runs the command line program."""

import json
import os
import pathlib
import shutil
import stat
import subprocess
import sys

import numpy as np
import pytest
from program_runs import run

import warpalign

SHIPPED = pathlib.Path(warpalign.__file__).parent / "bin" / "warpalign"


@pytest.fixture
def files(tmp_path, scene, moved):
    from PIL import Image

    paths = []
    for name, image in (("a.png", scene), ("b.png", moved(scene, 8, 1, (3, -5)))):
        paths.append(tmp_path / name)
        Image.fromarray(np.clip(image, 0, 255).astype(np.uint8)).save(paths[-1])
    return paths


def test_the_version(program):
    done = run("--version")
    assert done.returncode == 0, done.stderr
    assert warpalign.__version__ in done.stdout


def test_a_pair_is_registered(program, files):
    done = run("register", *files, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["rotation_deg"] == pytest.approx(8, abs=0.05)


@pytest.mark.parametrize("arguments, status", [
    (["register"], 2), (["no-such-command"], 2), (["register", "a.png", "b.png"], 2),
    (["devices", "--help"], 0)])
def test_the_exit_status_is_the_programs(program, arguments, status, tmp_path):
    assert run(*arguments).returncode == status


def test_an_unreliable_pair_has_its_own_status(program, files, tmp_path):
    from PIL import Image

    noise = np.random.default_rng(0).integers(0, 255, (200, 200), dtype=np.uint8)
    Image.fromarray(noise).save(tmp_path / "noise.png")
    done = run("register", files[0], tmp_path / "noise.png")
    assert done.returncode not in (0, 2), done.stdout


def test_signals_reach_the_program(program):
    """The program replaces the Python process."""
    started = subprocess.Popen([sys.executable, "-P", "-m", "warpalign", "warm-up"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        command = pathlib.Path(f"/proc/{started.pid}/comm")
        for _ in range(200):
            if not command.exists() or command.read_text().strip() == "warpalign":
                break
            subprocess.run(["sleep", "0.02"], check=True)
        assert command.read_text().strip() == "warpalign"
    finally:
        started.kill()
        started.wait()


@pytest.mark.skipif(SHIPPED.exists(), reason="the wheel contains the program")
def test_the_program_of_the_path_is_used(tmp_path):
    stand_in = tmp_path / "warpalign"
    stand_in.write_text('#!/bin/sh\necho "$@"\nexit 5\n')
    stand_in.chmod(stand_in.stat().st_mode | stat.S_IXUSR)
    done = run("register", "a b", PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert (done.stdout, done.returncode) == ("register a b\n", 5)


@pytest.mark.skipif(SHIPPED.exists(), reason="the wheel contains the program")
def test_a_missing_program_is_explained(tmp_path):
    done = run("--version", PATH=str(tmp_path))
    assert done.returncode == 127
    assert "WARPALIGN_BUILD_PROGRAM=ON" in done.stderr


@pytest.mark.skipif(not SHIPPED.exists(), reason="the wheel does not contain the program")
def test_the_program_uses_the_library_of_the_package():
    if shutil.which("ldd") is None:
        pytest.skip("ldd is not installed")
    text = subprocess.run(["ldd", SHIPPED], capture_output=True, text=True, check=True).stdout
    (line,) = [line for line in text.splitlines() if "libwarpalign" in line]
    library = pathlib.Path(line.split("=>")[1].split("(")[0].strip())
    assert library.resolve().parent == SHIPPED.parent.parent.resolve()
