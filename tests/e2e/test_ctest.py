"""assay ctest: CTest runs slices of a run, tells passes, failures and skips apart, and sends them to CDash."""

from __future__ import annotations

import base64
import http.server
import json
import subprocess
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlparse
from xml.etree import ElementTree

import pytest
from e2e_help import assay
from installed import DEFAULT, RING, WRONG

TOO_FEW = "coll.overlapping_group?"  # needs 3 ranks
TARGET = f"{DEFAULT}/np2"


class CDash(http.server.BaseHTTPRequestHandler):
    """Takes what `ctest -T Submit` sends, as CDash does."""

    got: dict[str, bytes] = {}

    def do_PUT(self) -> None:
        words = parse_qs(urlparse(self.path).query)
        CDash.got[words["FileName"][0]] = self.rfile.read(int(self.headers["Content-Length"]))
        answer = b"<cdash version='3'><status>OK</status><message></message></cdash>"
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        pass


def output(test: ElementTree.Element) -> str:
    """What a test printed, which CTest may compress."""
    value = test.find("Results/Measurement/Value")
    assert value is not None and value.text
    return zlib.decompress(base64.b64decode(value.text)).decode() if value.get("encoding") else value.text


@pytest.fixture(scope="module")
def cdash() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), CDash)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/submit.php?project=Assay"
    server.shutdown()


def ctest(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = ["ctest", "--test-dir", str(folder), *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def test_ctest_runs_slices_and_sends_what_became_of_them(cdash: str, tmp_path: Path) -> None:
    selected = ["--select", RING, "--select", f"{WRONG},{TOO_FEW}"]
    done = assay("ctest", "--mpi", DEFAULT, "--np", "2", "--no-known", *selected, "--cdash", cdash, "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"assay: {tmp_path} has 3 tests; run them with: ctest --test-dir {tmp_path}" in done.stdout

    tests = {one["name"]: one for one in json.loads(ctest(tmp_path, "--show-only=json-v1").stdout)["tests"]}
    properties = {each["name"]: each["value"] for each in tests[f"{TARGET}/p2p"]["properties"]}
    assert properties["PROCESSORS"] == 2 and properties["SKIP_RETURN_CODE"] == 77
    assert set(properties["LABELS"]) == {"p2p", DEFAULT, "np2", "quick"}

    assert ctest(tmp_path, "-T", "Test", "-j2").returncode != 0
    (written,) = (tmp_path / "Testing").glob("*/Test.xml")
    became = {one.findtext("Name"): one for one in ElementTree.parse(written).iter("Test") if "Status" in one.attrib}
    assert {name: one.get("Status") for name, one in became.items()} == {
        f"{TARGET}/p2p": "passed",
        f"{TARGET}/env": "failed",
        f"{TARGET}/coll": "notrun",
    }
    assert "SKIP_RETURN_CODE=77" in ElementTree.tostring(became[f"{TARGET}/coll"], "unicode")
    assert "1 suspected defect in 1 case" in output(became[f"{TARGET}/env"])

    assert ctest(tmp_path, "-T", "Submit").returncode == 0
    (sent,) = [body for name, body in CDash.got.items() if name.endswith("XML") or "Test" in name]
    assert sent == written.read_bytes()

    # By label, and once more: a slice runs again although it has left a run before.
    again = ctest(tmp_path, "-L", "^p2p$")
    assert again.returncode == 0 and "1 tests passed" not in again.stdout and "out of 1" in again.stdout


def test_a_slice_that_matches_nothing_is_refused(tmp_path: Path) -> None:
    done = assay("ctest", "--mpi", DEFAULT, "--suite", "p2p", "--select", "coll.*", "--out", tmp_path / "out")
    assert done.returncode == 2 and not (tmp_path / "out").exists()
    assert done.stderr.splitlines()[-1].startswith("assay: nothing matches --suite p2p")
