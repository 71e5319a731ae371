"""Traceability: every requirement that a test names is in the catalogue, and every one there has a test."""

import re
from pathlib import Path

from reports.requirements import catalogue, cited

REPO = Path(__file__).parent.parent.parent
LEVELS = {"must", "erroneous", "advisory"}


def named_by_tests() -> dict[str, str]:
    """id → file, from the sources: no binary is needed."""
    found = {}
    for path in sorted((REPO / "suites").glob("*/*.cpp")):
        for group in re.findall(r"requirements\{(.*?)\}", path.read_text(), re.DOTALL):
            found |= dict.fromkeys(re.findall(r'"([^"]+)"', group), str(path.relative_to(REPO)))
    return found


def test_every_test_names_requirements_of_the_catalogue() -> None:
    named = named_by_tests()
    assert named, "no ASSAY_TEST names a requirement: has its form changed?"
    assert {name: file for name, file in named.items() if name not in catalogue()} == {}


def test_every_requirement_has_a_test() -> None:
    assert set(catalogue()) - set(named_by_tests()) == set()


def test_every_test_names_at_least_one() -> None:
    for path in sorted((REPO / "suites").glob("*/*.cpp")):
        text = path.read_text()
        assert text.count("ASSAY_TEST(") == len(re.findall(r"requirements\{\s*\"", text)), path


def test_entries_are_complete() -> None:
    for name, entry in catalogue().items():
        assert set(entry) == {"id", "section", "level", "since", "procedures", "text"}, name
        assert entry["level"] in LEVELS, name
        assert re.fullmatch(r"\d+(\.\d+)+", entry["section"]), name
        assert re.fullmatch(r"[1-5]\.\d", entry["since"]), name
        assert entry["text"].endswith("."), name
        assert entry["procedures"] and all(p.startswith("MPI_") for p in entry["procedures"]), name


def test_a_case_cites_sections() -> None:
    assert cited(["p2p.self", "no.such", 3]) == [("3.2.4", "A process may send messages to itself.")]
    assert cited(None) == []
