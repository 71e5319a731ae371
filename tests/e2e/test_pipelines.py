"""The files that `assay pipeline` prints: their commands are run here as GitHub, GitLab and ReFrame would."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import junitparser
import pytest
from installed import DEFAULT, REPO, RING, WRONG, Installed
from ruamel.yaml import YAML

pytestmark = pytest.mark.xdist_group("package")  # the tests share what is installed

SYSTEM = "/usr/bin:/bin"
OPTIONS = f"--mpi {DEFAULT} --no-known --select {RING},{WRONG}"  # the second fails


def printed(installed: Installed, name: str, folder: Path, schema: str) -> Any:
    """What `assay pipeline` prints, read as YAML once the schema that check-jsonschema brings has accepted it."""
    path = folder / f"{name}.yml"
    path.write_text(installed("pipeline", name))
    command = [sys.executable, "-I", "-m", "check_jsonschema", "--builtin-schema", schema, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return YAML(typ="safe").load(path)


def shell(script: str, folder: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=300, check=False)


def environment(installed: Installed, given: dict[str, str]) -> dict[str, str]:
    """That of a job, with the wheel at hand and cases that take no time."""
    assert {"ASSAY_PACKAGE", "ASSAY_OPTIONS"} <= given.keys()
    ours = {"ASSAY_PACKAGE": str(installed.wheel), "ASSAY_OPTIONS": OPTIONS}
    return {**given, **installed.env, **ours, "PATH": f"{installed.env['PATH']}:{SYSTEM}"}


def check_reports(results: Path) -> None:
    """What the run left: one test failed, one passed."""
    xml = junitparser.JUnitXml.fromfile(str(results / "junit.xml"))
    assert (xml.tests, xml.failures, xml.errors) == (2, 1, 0)
    assert (results / "report.html").exists()


def test_the_workflow_for_github(installed: Installed, tmp_path: Path) -> None:
    (job,) = printed(installed, "github", tmp_path, "vendor.github-workflows")["jobs"].values()
    summary = tmp_path / "summary.md"
    env = {**environment(installed, job["env"]), "GITHUB_STEP_SUMMARY": str(summary), "GITHUB_ACTIONS": "true"}
    failed, said = False, ""
    for step in job["steps"]:
        if "run" in step and (not failed or "!cancelled()" in step.get("if", "")):
            done = shell(step["run"], tmp_path, env)
            said += done.stdout
            failed = failed or done.returncode != 0
            assert (done.returncode == 0) == (step["name"] != "Run the tests"), done.stderr
        elif "upload-artifact" in step.get("uses", ""):
            assert "!cancelled()" in step["if"] and (tmp_path / step["with"]["path"] / "run.json").exists()
    assert failed  # the job is red
    assert "\n::error title=Assay%3A count in MPI_Get_elements::" in said
    assert "## 1 suspected defect in 1 cases" in summary.read_text()
    check_reports(tmp_path / "assay-results")


def test_the_job_for_gitlab(installed: Installed, tmp_path: Path) -> None:
    (job,) = printed(installed, "gitlab", tmp_path, "vendor.gitlab-ci").values()
    env = {"CI_PROJECT_DIR": str(tmp_path), **environment(installed, job["variables"])}
    done = shell("\n".join([*job["before_script"], *job["script"]]), tmp_path, env)
    assert done.returncode == 1 != job["allow_failure"]["exit_codes"], done.stderr
    assert shell("\n".join(job["after_script"]), tmp_path, env).returncode == 0
    reports = job["artifacts"]["reports"]
    assert all((tmp_path / path).exists() for path in (*reports.values(), *job["artifacts"]["paths"]))
    (entry,) = json.loads((tmp_path / reports["codequality"]).read_text())
    assert entry["severity"] == "major" and entry["location"]["path"].startswith("suites/env/")
    check_reports(tmp_path / "assay-results")


@pytest.fixture(scope="module")
def reframe(installed: Installed) -> Path:
    """ReFrame, in the environment that has the wheel."""
    python = installed.folder / "venv" / "bin" / "python"
    words = ["install", "-q", "--disable-pip-version-check", "-c", str(REPO / "requirements.lock"), "reframe-hpc"]
    subprocess.run([sys.executable, "-I", "-m", "pip", "--python", str(python), *words], check=True)
    return python.with_name("reframe")


@pytest.mark.parametrize(("case", "suite", "passes"), [(RING, "p2p", True), (WRONG, "env", False)])
def test_the_check_for_reframe(
    installed: Installed, reframe: Path, tmp_path: Path, case: str, suite: str, passes: bool
) -> None:
    check = tmp_path / "reframe_assay.py"
    check.write_text(installed("pipeline", "reframe"))
    env = {**os.environ, **installed.env, "PATH": f"{installed.env['PATH']}:{SYSTEM}"}
    words = ["-c", str(check), "--prefix", str(tmp_path), "-S", f"options=--mpi {DEFAULT} --no-known --select {case}"]
    report = tmp_path / "report.json"
    more = ["-n", f"suite={suite}$", "--report-file", str(report), "--nocolor", "-r"]
    done = subprocess.run(
        [str(reframe), *words, *more], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode == 0) == passes, done.stdout
    assert "Ran 1/1 test case(s) from 1 check(s)" in done.stdout
    (one,) = json.loads(report.read_text())["runs"][0]["testcases"]
    assert one["result"] == ("pass" if passes else "fail")
    if passes:
        assert "P: passed: 1 cases" in done.stdout and "P: failed: 0 cases" in done.stdout
