"""Traceability: every requirement that a test names is in the catalogue, and every one there has a test."""

import re
from pathlib import Path

from reports.requirements import CHAPTERS, chapter, cited, everything, files, is_in, procedures
from runner.libraries.native import NATIVE

REPO = Path(__file__).parent.parent.parent
LEVELS = {"must", "erroneous", "advisory"}


def named_by_tests() -> dict[str, list[str]]:
    """id → the files that name it, from the sources: no binary is needed."""
    found: dict[str, list[str]] = {}
    for path in sorted((REPO / "suites").glob("*/*.cpp")):
        for group in re.findall(r"requirements\{(.*?)\}", path.read_text(), re.DOTALL):
            for name in re.findall(r'"([^"]+)"', group):
                found.setdefault(name, []).append(str(path.relative_to(REPO)))
    return found


def home() -> dict[str, str]:
    """id → the file of standard/ that it stands in."""
    return {
        entry["id"]: str(path.relative_to(REPO))
        for about in ("mpi", *NATIVE)
        for path, entries in files(about).items()
        for entry in entries
    }


def test_every_test_names_requirements_of_the_catalogue() -> None:
    named = named_by_tests()
    assert named, "no ASSAY_TEST names a requirement: has its form changed?"
    unknown = [
        f'{", ".join(paths)} names the requirement "{name}", which stands in no file of standard/: add it there'
        for name, paths in named.items()
        if name not in everything()
    ]
    assert not unknown, "\n".join(unknown)


def test_every_requirement_has_a_test() -> None:
    named = named_by_tests()
    framework = "".join(path.read_text() for path in (REPO / "framework").glob("**/*.cpp"))
    unused = [
        f'{path}: no test names the requirement "{name}": write one, or remove the entry'
        for name, path in home().items()
        if name not in named and not (everything()[name].get("everywhere") and f'requirement("{name}")' in framework)
    ]
    assert not unused, "\n".join(unused)


def test_what_a_check_rests_on_is_declared_by_its_test() -> None:
    """A file whose checks name a requirement has a test that declares it, so that lists and reports know of it. The
    common room has no tests: those of any suite use it.
    """
    for path in sorted((REPO / "suites").glob("*/*.[ch]pp")):
        text = path.read_text()
        users = path.parent.parent.glob("*/*.cpp") if path.parent.name == "common" else path.parent.glob("*.cpp")
        folder = "".join(other.read_text() for other in users)
        declared = {name for group in re.findall(r"requirements\{(.*?)\}", folder, re.DOTALL) for name in _ids(group)}
        named = set(re.findall(r'(?:check|requirement|resting_on|error_untouched)\(\s*"([a-z0-9_.]+)"', text))
        assert named <= declared, f"{path}: no test of this folder declares {', '.join(sorted(named - declared))}"


def _ids(text: str) -> list[str]:
    return re.findall(r'"([^"]+)"', text)


def test_every_test_names_at_least_one() -> None:
    for path in sorted((REPO / "suites").glob("*/*.cpp")):
        text = path.read_text()
        named = len(re.findall(r"requirements\{\s*\"", text))
        tests = len(re.findall(r"^(?:ASSAY|OFI|UCX)_TEST\(", text, re.MULTILINE))
        assert tests == named, f"{path}: {tests} tests, {named} of them name requirements"


def test_entries_are_complete() -> None:
    for name, path in home().items():
        entry, where = everything()[name], f'{path}, requirement "{name}"'
        assert set(entry) - {"why", "everywhere"} == {"id", "section", "level", "since", "procedures", "text"}, where
        assert "why" not in entry or entry["why"].endswith("."), where
        assert entry["level"] in LEVELS, where
        assert entry["text"].endswith("."), where
        assert re.fullmatch(r"[1-5]\.\d+", entry["since"]), where
        native = NATIVE.get(name.partition(".")[0])
        assert re.fullmatch(native.section if native else r"\d+(\.\d+)*", entry["section"]), where
        prefix = native.prefix if native else "MPI_"
        assert entry["procedures"] and all(p.startswith(prefix) for p in entry["procedures"]), where


def test_the_lines_that_cmake_reads_have_their_form() -> None:
    for path, entries in files().items():
        text = path.read_text()
        for key in ("id", "section", "level", "since"):
            found = re.findall(rf'^{key} = "([^"\\]*)"$', text, re.MULTILINE)
            assert found == [entry[key] for entry in entries], f"{path}: each {key} on a line of its own"
        keys = ["id", "section", "level", "since", "procedures"]
        order = re.findall(rf"^({'|'.join(keys)}) = .*[\"\]]$", text, re.MULTILINE)
        assert order == keys * len(entries), f"{path}: {', '.join(keys)}, in this order, each on one line"


def test_requirements_name_procedures_of_the_standard() -> None:
    removed = {"MPI_Address"}
    unknown = [
        f'{path}, requirement "{name}": MPI-5.0 has no procedure {procedure}'
        for name, path in home().items()
        for procedure in everything()[name]["procedures"]
        if procedure.startswith("MPI_") and procedure not in procedures() and procedure not in removed
    ]
    assert not unknown, "\n".join(unknown)


def test_procedures_have_a_section_and_a_version() -> None:
    assert len(procedures()) == 690
    for name, entry in procedures().items():
        assert set(entry) == {"section", "since"}, name
        assert chapter(entry["section"]) in CHAPTERS, name
        assert entry["since"] in ("1.0", "1.2", "2.0", "2.2", "3.0", "3.1", "4.0", "4.1", "5.0"), name
        assert not name.endswith("_c") or entry["since"] >= "4.0", name
    lines = (REPO / "standard" / "procedures.toml").read_text().splitlines()
    form = re.compile(r'MPI_\w+ = \{ section = "[\d.]+", since = "\d\.\d" \}')  # that CMake reads
    assert [line for line in lines if line and not line.startswith("#") and not form.fullmatch(line)] == []


def test_large_count_procedures_stand_beside_the_others() -> None:
    for name, entry in procedures().items():
        if name.endswith("_c"):
            assert procedures()[name.removesuffix("_c")]["section"] == entry["section"], name


def test_a_profile_ends_with_its_version() -> None:
    assert is_in("mpi-3.1", "3.1") and is_in("mpi-3.1", "1.0") and not is_in("mpi-3.1", "4.0")
    assert is_in("keller-2008", "4.0") and is_in(None, "5.0")


def test_a_case_cites_sections() -> None:
    assert cited(["p2p.self", "no.such", 3]) == [("3.2.4", "A process may send messages to itself.")]
    assert cited(None) == []
