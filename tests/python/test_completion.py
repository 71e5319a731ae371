"""What shells complete, and the manual pages."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.shell_completion import get_completion_class

from runner import cli
from runner.home import HOME


@pytest.mark.parametrize(
    ("words", "incomplete", "expected"),
    [
        ([], "res", ["resume"]),
        (["known"], "", ["check", "propose"]),
        (["run"], "--timeout", ["--timeout-scale"]),
        (["run", "--tier"], "s", ["smoke", "standard"]),
        (["run", "--suite"], "p2p,topo", ["p2p,topology"]),
        (["run", "--suite"], "comm", ["comm"]),  # not suites/common, which holds no tests
        (["run", "--mpi"], "debian:", ["debian:mpich", "debian:openmpi"]),
    ],
)
def test_what_is_completed(words: list[str], incomplete: str, expected: list[str]) -> None:
    kind = get_completion_class("bash")
    assert kind is not None
    found = kind(cli.assay, {}, "assay", "_ASSAY_COMPLETE").get_completions(words, incomplete)
    assert [one.value for one in found] == expected


@pytest.mark.parametrize("words", [["report"], ["merge", "--out"], ["compare", "a"], ["run", "--baseline"]])
def test_folders_are_completed_by_the_shell(words: list[str]) -> None:
    kind = get_completion_class("bash")
    assert kind is not None
    found = kind(cli.assay, {}, "assay", "_ASSAY_COMPLETE").get_completions(words, "out")
    assert [(one.value, one.type) for one in found] == [("out", "dir")]


def test_bash_completes(tmp_path: Path) -> None:
    command = tmp_path / "assay"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -I -m runner "$@"\n')
    command.chmod(0o755)
    script = f"""
        eval "$({command} completion bash)"
        complete -p assay
        COMP_WORDS=(assay run --tier sm) COMP_CWORD=3
        _assay_completion {command}
        echo "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(["bash", "--norc", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["complete -o nosort -F _assay_completion assay", "smoke"]


def test_an_unknown_shell_is_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["completion", "fsh"]) == 2
    assert "unknown shell 'fsh'; did you mean fish or zsh or bash?" in capsys.readouterr().err


def test_each_command_has_a_manual_page_with_its_first_sentence_and_tables_as_they_are(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("release", HOME / "package" / "release.py")
    assert spec is not None and spec.loader is not None
    release = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(release)
    pages = {path.name: path.read_text() for path in release.man_pages(tmp_path).iterdir()}
    names = {"assay.1"}
    for name, command in cli.assay.commands.items():
        names.add(f"assay-{name}.1")
        if isinstance(command, click.Group):
            names |= {f"assay-{name}-{each}.1" for each in command.commands}
    assert pages.keys() == names
    assert (
        "assay\\-run \\- Run the suite on one or more MPI libraries and report what it found\n" in pages["assay-run.1"]
    )
    assert ".nf\nassay run                     the quick tier on MPICH, 2 ranks\nassay run --mpi" in pages["assay.1"]
    assert "\b" not in "".join(pages.values())
