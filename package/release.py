"""Makes a release: the wheel with programs for libraries with the ABI of MPI-5.0, its source archive and their sums.

    ./assay test && .venv/bin/python package/release.py dist

Needs what `./assay test` has installed; with --only-wheel nothing is checked, and only the wheel is made. The wheel
runs where glibc is at least as new as its name says (auditwheel finds that out); the other libraries that the programs
need are in it. Nothing is uploaded and no tag is made: the last line says what is left to do.
"""

from __future__ import annotations

import copy
import hashlib
import inspect
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path

import click

from runner.home import HOME
from runner.libraries import build, targets

PROGRAMS = (build.SUITE, "assay_recording")  # targets of CMakeLists.txt


def programs(folder: Path, note: build.Note = print) -> Path:
    """Build what the wheel brings, into `folder`; none of it remembers where the MPI library of this machine is."""
    library = targets.resolve(targets.known()["default"])
    made = build.build(library, note=note, programs=PROGRAMS)
    folder.mkdir(parents=True, exist_ok=True)
    for name in (build.SUITE, "libassay_recording.so"):
        shutil.copy2(made / name, folder / name)
        _run([_tool("patchelf"), "--remove-rpath", str(folder / name)])
    return folder


def wheel(out: Path, prebuilt: Path | None = None) -> Path:
    """Make the wheel in `out`; with the programs in the folder `prebuilt` one for this architecture. Returns its path.

    The library under test is never in it.
    """
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"}
    hatch = [sys.executable, "-I", "-m", "hatchling", "build", "-t", "wheel", "-d"]
    with tempfile.TemporaryDirectory(prefix="assay-wheel-") as raw:
        if prebuilt is None:
            environment.pop("ASSAY_PREBUILT", None)
            _run([*hatch, str(out)], environment)
        else:
            pages = man_pages(Path(raw) / "man")
            _run([*hatch, raw], {**environment, "ASSAY_PREBUILT": str(prebuilt), "ASSAY_MAN": str(pages)})
            (plain,) = Path(raw).glob("*.whl")
            repair = [sys.executable, "-I", "-m", "auditwheel", "repair", "--exclude", targets.ABI_NAME, "-w", str(out)]
            _run([*repair, str(plain)], environment)
    (made,) = out.glob("assay-*.whl")
    return made


def man_pages(folder: Path) -> Path:
    """Write a manual page for each command into `folder`, and return it."""
    from click_man.core import write_man_pages

    from runner.cli import assay
    from runner.machine import version

    folder.mkdir(parents=True, exist_ok=True)
    write_man_pages("assay", _for_man(copy.deepcopy(assay)), version=version(), target_dir=str(folder))
    return folder


def _for_man(command: click.Command) -> click.Command:
    """Changes a command so that click-man writes its first sentence in full, and leaves tables as they are."""
    lines = inspect.cleandoc(command.help or "").split("\n\n")
    command.short_help = " ".join(lines[0].split()).removesuffix(".")
    blocks = [f".nf\n{part[2:]}\n.fi" if part.startswith("\b") else part for part in lines]
    command.help = "\n\n".join(blocks)
    for each in command.commands.values() if isinstance(command, click.Group) else ():
        _for_man(each)
    return command


def faults(home: Path = HOME) -> list[str]:
    """What keeps this tree from being released: versions that do not agree, a changelog without them, open changes."""
    version = tomllib.loads((home / "pyproject.toml").read_text())["project"]["version"]
    found = []
    for name in ("CMakeLists.txt", "transports/CMakeLists.txt"):
        there = re.search(r"project\(\S+ VERSION (\S+)", (home / name).read_text())
        if there is None or there[1] != version:
            found.append(f"{name} says version {there[1] if there else 'none'}, pyproject.toml {version}")
    newest = re.search(r"^## (\S+)(.*)$", (home / "CHANGELOG.md").read_text(), re.MULTILINE)
    if newest is None or newest[1] != version:
        found.append(f"the first section of CHANGELOG.md is {newest[1] if newest else 'none'}, not {version}")
    elif not re.fullmatch(r" \(\d{4}-\d\d-\d\d\)", newest[2]):
        found.append(f"CHANGELOG.md gives {version} no date; write `## {version} (YYYY-MM-DD)`")
    if _said(["git", "-C", str(home), "status", "--porcelain"]):
        found.append("there are changes that are not committed; `git status` names them")
    return found


def _tool(name: str) -> str:
    """A program of the Python environment that runs this."""
    return str(Path(sys.executable).with_name(name))


def _run(command: Sequence[str], environment: dict[str, str] | None = None) -> None:
    done = subprocess.run(command, cwd=HOME, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"release: {' '.join(command)} ended with {done.returncode}: {(done.stderr or done.stdout).strip()}")


def _said(command: Sequence[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


@click.command()
@click.argument("folder", metavar="[DIR]", default="dist")
@click.option("--only-wheel", is_flag=True, help="Make the wheel alone, whatever the state of the tree.")
def main(folder: str, only_wheel: bool) -> None:
    """Make a release of this tree in DIR (default: dist). Exit code 1 when it cannot be released."""
    out = Path(folder).absolute()
    if out.exists() and any(out.iterdir()):
        raise click.ClickException(f"{out} holds files already; name a new folder")
    if not only_wheel and (wrong := faults()):
        raise click.ClickException("; ".join(wrong))
    made = wheel(out, programs(HOME / "build" / "prebuilt"))
    if only_wheel:
        print(made)
        return
    _run([sys.executable, "-I", "-m", "hatchling", "build", "-t", "sdist", "-d", str(out)])
    files = sorted(out.iterdir())
    sums = "".join(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files)
    (out / "SHA256SUMS").write_text(sums)
    print(sums, end="")
    version = made.name.split("-")[1]
    print(f"next: git tag v{version} && git push origin v{version}, and upload the files of {out}")


if __name__ == "__main__":
    main()
