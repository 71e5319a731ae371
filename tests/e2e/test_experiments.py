"""assay reproduce, with the quickest entries for real: stalls are a clock of the kernel, on a busy machine, too."""

from __future__ import annotations

import json

import pytest
from e2e_help import assay

pytestmark = pytest.mark.alone


def test_stalls_show_on_the_loopback_interface() -> None:
    done = assay("reproduce", "struck-stalls", "--rounds", "1", "--json", seconds=2400)  # builds at first
    assert done.returncode == 0, done.stderr
    (entry,) = json.loads(done.stdout)["entries"]
    assert entry["verdict"] == "holds", entry
    assert entry["values"]["twice.plain"] > 1.5 * entry["values"]["item.plain"]


def test_a_message_in_three_framings_arrives_as_it_was_sent() -> None:
    done = assay("reproduce", "struck-framing-tcp", "--rounds", "1", "--json", seconds=2400)
    assert done.returncode == 0, done.stderr  # the program checks what arrives; how quick it is depends on the machine
    (entry,) = json.loads(done.stdout)["entries"]
    ways = {f"{way}.assay_tcp" for way in ("sync", "pipelined", "coalesced")}
    assert set(entry["values"]) == ways | {"batch.tuned"}
