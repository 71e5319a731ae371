"""assay abi: libraries of which each lacks or has something, and what is said of it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from fake_abi import Fake

from reports import known
from reports.abi import grid, print_found, write_page
from reports.requirements import procedures
from runner import cli
from runner.commands import abi
from runner.interface import checks, compiler, elf, pairs, standard
from runner.interface.checks import Check, examine
from runner.libraries import targets
from runner.model import CannotRun
from runner.supervision.once import Said

SPEC = "impi@2021.19.0"
pytestmark = pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler")


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    return Fake(tmp_path, monkeypatch)


def found(fake: Fake) -> dict[str, Check]:
    """What differs, by the name of the check."""
    work = fake.folder / "work"
    work.mkdir(exist_ok=True)
    return {one.name: one for one in checks.differences(examine(fake.library(), work).checks)}


def only(fake: Fake, name: str) -> Check:
    """The only difference, which must have this name."""
    differences = found(fake)
    assert list(differences) == [name], differences
    return differences[name]


def test_a_library_as_it_should_be(fake: Fake) -> None:
    work = fake.folder / "work"
    work.mkdir()
    examined = examine(fake.library(), work)
    assert checks.differences(examined.checks) == []
    assert (examined.abi, examined.version) == (True, "5.0")
    expected = len(examined.expected())
    counts = checks.counts(examined.checks)
    assert expected == len(procedures()) - 5 - 28  # deprecated before MPI-3.1, and conversions for Fortran
    assert counts["symbol"] == counts["profiling"] == counts["declaration"] == expected
    assert counts["constant"] == len(standard.constants()) and counts["type"] == len(standard.abi()["types"]) + 4


# ---- symbols


def test_a_missing_procedure(fake: Fake) -> None:
    fake.in_source(r"^int MPI_Send_c\(.*\n", "")
    assert only(fake, "abi.symbol/name=mpi_send_c").level == "must"


def test_what_is_hidden_is_missing(fake: Fake) -> None:
    fake.in_source(r"^int MPI_Recv\(", '__attribute__((visibility("hidden"))) int MPI_Recv(')
    assert "MPI_Recv is not in the library" in only(fake, "abi.symbol/name=mpi_recv").differs


def test_a_variable_is_no_procedure(fake: Fake) -> None:
    fake.in_source(r"^int MPI_Recv\(.*$", "int MPI_Recv;")
    only(fake, "abi.symbol/name=mpi_recv")


def test_a_missing_twin(fake: Fake) -> None:
    fake.in_source(r"^int PMPI_Bcast\(.*\n", "")
    one = only(fake, "abi.profiling/name=mpi_bcast")
    assert (one.level, one.clause) == ("must", "15.2.1") and "PMPI_Bcast is not" in one.differs


def test_names_that_are_not_the_standard_s(fake: Fake) -> None:
    fake.source += "int MPI_Frobnicate(int n) { return n; }\nint PMPI_Knob;\nint MPIX_Own(int n) { return n; }\n"
    fake.source += (
        "void MPI_SEND(void) {}\nvoid MPI_SEND__(void) {}\nvoid MPI_Address(void) {}\nint MPI_F_STATUS_IGNORE;\n"
    )
    fake.header += "int MPI_Declared(int n);\nint MPIX_Declared(int n);\n"
    differences = found(fake)
    assert [name.partition("=")[2] for name in differences] == ["mpi_declared", "mpi_frobnicate", "pmpi_knob"]
    assert {one.level for one in differences.values()} == {"advisory"}


# ---- mpi.h


def test_a_wrong_prototype(fake: Fake) -> None:
    fake.in_header(r"^int MPI_Bcast\(int n\)", "int MPI_Bcast(int n, char* more)")
    one = only(fake, "abi.prototype/name=mpi_bcast")
    assert one.level == "must" and one.clause == "6.4"
    assert one.differs == "MPI_Bcast: mpi.h has int MPI_Bcast(int n, char* more); the standard has int MPI_Bcast(int n)"


def test_a_wrong_prototype_of_a_twin(fake: Fake) -> None:
    fake.in_header(r"^int PMPI_Bcast\(int n\)", "int PMPI_Bcast(long n)")
    assert only(fake, "abi.prototype/name=mpi_bcast").differs.startswith(
        "PMPI_Bcast: mpi.h has int PMPI_Bcast(long n);"
    )


def test_many_wrong_prototypes_are_all_told(fake: Fake) -> None:
    fake.header = re.sub(r"^int (MPI_\w+_c)\(int n\);", r"int \1(long n);", fake.header, flags=re.MULTILINE)
    wrong = [name for name in found(fake) if name.startswith("abi.prototype/")]
    assert len(wrong) == sum(name.endswith("_c") for name in procedures())


def test_another_type_of_function(fake: Fake) -> None:
    fake.in_header(
        r"^typedef int MPI_Win_copy_attr_function\(int n\)", "typedef int MPI_Win_copy_attr_function(long n)"
    )
    assert only(fake, "abi.prototype/name=mpi_win_copy_attr_function").clause == "A.1.3.1"


def test_a_procedure_that_is_not_declared(fake: Fake) -> None:
    fake.in_header(r"^int MPI_Bcast\(int n\);\n", "")
    assert only(fake, "abi.declaration/name=mpi_bcast").differs == "mpi.h does not declare MPI_Bcast"


def test_macros(fake: Fake) -> None:
    """A macro may hide a declaration, and only two procedures may be macros alone."""
    fake.header += "#define MPI_Recv(n) PMPI_Recv(n)\n"
    for name in ("MPI_Bcast", "MPI_Aint_add"):
        fake.in_header(rf"^int {name}\(int n\);\n", "")
        fake.header += f"#define {name}(n) P{name}(n)\n"
    assert only(fake, "abi.declaration/name=mpi_bcast").clause == "2.6.4"


def test_macros_that_older_versions_allow() -> None:
    names = [name for name in procedures() if standard.may_be_macro(name, "4.0")]
    assert {"MPI_Wtime", "MPI_Aint_diff", "MPI_Comm_c2f"} < set(names) and "MPI_Send" not in names
    assert [name for name in procedures() if standard.may_be_macro(name, "4.1")] == ["MPI_Aint_add", "MPI_Aint_diff"]


def test_a_constant_with_another_value(fake: Fake) -> None:
    fake.in_header(r"^(#define MPI_SEEK_SET) .*$", r"\1 401")
    one = only(fake, "abi.constant/name=mpi_seek_set")
    assert (one.level, one.differs) == ("must", "MPI_SEEK_SET is 401; the standard: 403")


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("MPI_COMM_WORLD", "((MPI_Comm)256)", "MPI_COMM_WORLD is 256; the standard: 257"),
        ("MPI_ANY_SOURCE", "(-2)", "MPI_ANY_SOURCE is -2; the standard: -1"),
        ("MPI_ANY_SOURCE", "(-1L)", "MPI_ANY_SOURCE is not of type int"),
        ("MPI_INT", "((MPI_Comm)521)", "MPI_INT is not of type MPI_Datatype"),
        ("MPI_INT", "((MPI_Datatype)&the_int)", "MPI_INT is not constant when a program is compiled"),
        ("MPI_IN_PLACE", "1", "MPI_IN_PLACE is not of type void*"),
        ("MPI_TAG_UB", "(the_int)", "MPI_TAG_UB is not constant when a program is compiled"),
    ],
)
def test_a_wrong_constant(fake: Fake, name: str, text: str, says: str) -> None:
    fake.in_header(rf"^#define {name} .*$", f"extern int the_int;\n#define {name} {text}")
    assert only(fake, f"abi.constant/name={name.lower()}").differs == says


def test_a_missing_constant(fake: Fake) -> None:
    for name in ("MPI_REAL2", "MPI_F_SOURCE"):  # the second may be left out
        fake.in_header(rf"^#define {name} .*\n", "")
    assert only(fake, "abi.constant/name=mpi_real2").differs == "mpi.h does not define MPI_REAL2"


def test_enumerators_are_constants_too(fake: Fake) -> None:
    for name, value in (("MPI_SEEK_CUR", 401), ("MPI_T_SOURCE_ORDERED", 1)):
        fake.in_header(rf"^#define {name} .*$", f"enum {{ {name} = {value} }};")
    assert found(fake) == {}


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        (r"^typedef int64_t MPI_Count;", "typedef int MPI_Count;", "mpi_count"),
        (r"struct MPI_ABI_Win\*", "struct another*", "mpi_win"),
        (r"MPI_internal\[5\]", "MPI_internal[6]", "mpi_status"),
        (r"int MPI_SOURCE; int MPI_TAG;", "int MPI_TAG; int MPI_SOURCE;", "mpi_source mpi_tag"),
    ],
)
def test_a_wrong_type(fake: Fake, old: str, new: str, name: str) -> None:
    fake.in_header(old, new)
    differences = found(fake)
    assert list(differences) == [f"abi.type/name={one}" for one in name.split()]
    assert {one.level for one in differences.values()} == {"must"}


def test_what_the_abi_leaves_out(fake: Fake) -> None:
    fake.header += "int MPI_Attr_get(int n);\ntypedef int MPI_Fint;\n"
    differences = found(fake)
    assert list(differences) == ["abi.left_out/name=mpi_attr_get", "abi.left_out/name=mpi_fint"]
    assert {one.level for one in differences.values()} == {"advisory"}


# ---- the library as a file


def test_a_name_with_another_version(fake: Fake) -> None:
    fake.soname = "libmpi_abi.so.0"
    one = only(fake, "abi.library/name=soname")
    assert one.level == "advisory" and "libmpi_abi.so.0" in one.differs


def test_what_a_program_needs(fake: Fake) -> None:
    needs = elf.Shared(Path("program"), needed=["libmpi_abi.so.1", "libc.so.6", "libm.so.6", "libown.so.2"])
    assert checks._needed(needs).differs == "a program needs libown.so.2 beside libmpi_abi.so"


def test_a_library_without_its_header(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    fake.in_source(r"^int MPI_Send_c\(.*\n", "")
    monkeypatch.setattr(checks, "compiler_for", lambda library: None)
    examined = examine(fake.library(), fake.folder)
    assert [one.name for one in checks.differences(examined.checks)] == ["abi.symbol/name=mpi_send_c"]
    assert examined.not_checked == [f"what mpi.h says: {SPEC} comes without it"]


def test_an_older_version_of_mpi(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    """What came later is not provided, and what is there before its time may be as it likes."""
    fake.soname = "libmpi.so.12"
    fake.in_header("MPI_VERSION 5", "MPI_VERSION 3")
    fake.in_header("MPI_SUBVERSION 0", "MPI_SUBVERSION 1")
    for name in ("MPI_Send_c", "PMPI_Send_c"):
        fake.in_source(rf"^int {name}\(.*\n", "")
        fake.in_header(rf"^int {name}\(.*\n", "")
    fake.in_header(r"^int MPI_Recv_c\(int n\)", "int MPI_Recv_c(long n)")
    work = fake.folder / "work"
    work.mkdir()
    examined = examine(fake.library(), work)
    assert (examined.abi, examined.version) == (False, "3.1")
    later = [
        name for name in examined.not_provided if procedures()[name]["section"] not in ("16.1", "19.3.4", "19.3.5")
    ]
    assert later == ["MPI_Send_c"]
    differences = {one.name: one.level for one in checks.differences(examined.checks)}
    assert differences.pop("abi.prototype/name=mpi_recv_c") == "advisory"
    assert {name.partition("/")[0] for name in differences} == {
        "abi.symbol",
        "abi.declaration",
    }  # MPI_Comm_c2f and so on


def test_a_header_that_does_not_compile(fake: Fake) -> None:
    fake.header += "#error no compiler will do\n"
    with pytest.raises(CannotRun, match="does not compile `#include <mpi.h>`: .*no compiler will do"):
        found(fake)


def test_an_error_in_a_macro_belongs_to_the_line_that_uses_it() -> None:
    said = (
        "mpi.h:7:20: error: initializer element is not constant\n"
        "values.c:6:1: note: in expansion of macro 'MPI_INT'\n"
        "values.c:9:1: error: 'MPI_LONG' undeclared here (not in a function)\n"
    )
    assert compiler._by_line(said, Path("values.c")) == {
        6: "initializer element is not constant",
        9: "'MPI_LONG' undeclared here (not in a function)",
    }


# ---- what is known, and the command


def report(fake: Fake, monkeypatch: pytest.MonkeyPatch, *words: str, out: str = "out") -> tuple[int, dict[str, object]]:
    library = fake.library()
    monkeypatch.setattr(targets, "resolve", lambda spec: library)
    monkeypatch.setattr(pairs, "at_hand", list)
    monkeypatch.setattr(abi, "_pairs", lambda *_: [])
    folder = fake.folder / out
    code = cli.main(["abi", "--mpi", SPEC, "--no-known", "--out", str(folder), *words])
    return code, json.loads((folder / "abi.json").read_text())


def known_file(fake: Fake, text: str) -> str:
    path = fake.folder / "known.toml"
    path.write_text(f'[[known]]\nlibrary = "impi"\nreason = "why"\nlink = "https://example.org/"\n{text}')
    return str(path)


def test_a_difference_fails_and_one_that_is_known_does_not(
    fake: Fake, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fake.in_header(r"^(#define MPI_SEEK_SET) .*$", r"\1 401")
    code, found = report(fake, monkeypatch)
    assert (code, found["ok"], found["status"]) == (1, False, {"fail": 1, "xpass": 0, "xfail": 0, "advisory": 0})
    assert "differs (A.1.1): MPI_SEEK_SET is 401; the standard: 403" in capsys.readouterr().out
    entry = known_file(fake, 'case = "abi.constant/name=mpi_seek_set"\nseen = "fail: MPI_SEEK_SET is 401"\n')
    code, found = report(fake, monkeypatch, "--known", entry)
    assert (code, found["status"]) == (0, {"fail": 0, "xpass": 0, "xfail": 1, "advisory": 0})
    assert "known: why" in capsys.readouterr().out
    fake.in_header(r"^(#define MPI_SEEK_SET) .*$", r"\1 402")  # nobody has seen that
    assert report(fake, monkeypatch, "--known", entry)[0] == 1


def test_a_known_difference_that_is_gone_fails(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = known_file(fake, 'case = "abi.symbol/name=mpi_send"\nseen = "fail"\n')
    code, found = report(fake, monkeypatch, "--known", entry)
    assert (code, found["status"]) == (1, {"fail": 0, "xpass": 1, "xfail": 0, "advisory": 0})


def test_what_is_advisory_fails_nothing(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    fake.source += "int MPI_Frobnicate(int n) { return n; }\n"
    code, found = report(fake, monkeypatch)
    assert (code, found["status"]) == (0, {"fail": 0, "xpass": 0, "xfail": 0, "advisory": 1})


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--mpi", "mpitch@5"], "did you mean mpich@5?"),
        (["--mpi", "ofi"], "names no MPI library"),
        (["--mpi", "mpich@5.0.2", "--against", "ucx"], "--against ucx: names no MPI library"),
        (["--known", "nowhere.toml"], "cannot read nowhere.toml"),
        (["--out", "/dev/null/x"], "--out /dev/null/x: cannot be made"),
    ],
)
def test_wrong_use(
    fake: Fake, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], says: str
) -> None:
    monkeypatch.chdir(fake.folder)
    library, resolve = fake.library(), targets.resolve
    monkeypatch.setattr(targets, "resolve", lambda spec: library if spec == "mpich@5.0.2" else resolve(spec))
    assert cli.main(["abi", *words]) == 2
    lines = [line for line in capsys.readouterr().err.splitlines() if "examining" not in line]
    assert len(lines) == 1 and says in lines[0], lines


def test_the_shipped_entries_explain_the_header_of_intel_mpi(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing else of it: each with the value that was seen."""
    entries = known.load(*known.shipped())
    library = fake.library()
    for name, value in (("MPI_SEEK_SET", 401), ("MPI_APPNUM", 506), ("MPI_ERRORS_ABORT", 323)):
        for seen, status in ((value, "xfail"), (value + 77, "fail")):
            check = Check(f"abi.constant/name={name.lower()}", "must", "A.1.1", f"{name} is {seen}; the standard: 9")
            assert abi._status(check, [library], entries)[0] == status


# ---- what is installed for it


def test_a_package_is_installed_once_and_never_by_half(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))
    asked = []

    def pip(*arguments: str) -> subprocess.CompletedProcess[str]:
        asked.append(arguments)
        Path(arguments[arguments.index("--target") + 1], "package.py").touch()
        return subprocess.CompletedProcess(arguments, 0 if len(asked) > 1 else 1, "", "ERROR: no route to host\n")

    monkeypatch.setattr(targets, "_pip", pip)
    with pytest.raises(
        CannotRun, match=r"the words: the Python package words==1 cannot be installed \(no route to host"
    ):
        targets.python_package("words==1", "the words")
    assert not [path for path in (tmp_path / "python").iterdir() if path.is_dir()], "something half-installed is left"
    for _ in range(2):
        assert (targets.python_package("words==1", "the words") / "package.py").exists()
    assert len(asked) == 2 and asked[0][-1] == "words==1"


def test_an_installed_library_that_cannot_be_examined_is_left_out(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody has named it: only a library that --against names has to be there."""

    def examined(library: targets.Library, folder: Path) -> checks.Examined:
        if library is broken:
            raise CannotRun("its header cannot be installed")
        return checks.Examined(library, "5.0", True, [])

    good, broken = fake.library(), targets.Library("mpich@5", "mpich", "5", fake.folder, "", None)
    monkeypatch.setattr(targets, "resolve", lambda spec: broken if spec == "mpich@5" else good)
    monkeypatch.setattr(pairs, "at_hand", lambda: ["mpich@5"])
    monkeypatch.setattr(abi, "examine", examined)
    notes: list[str] = []
    assert abi.run([SPEC], None, known.Known(), notes.append)["ok"]
    assert "mpich@5 is left out: its header cannot be installed" in notes
    with pytest.raises(CannotRun):
        abi.run([SPEC], ["mpich@5"], known.Known(), notes.append)


# ---- pairs


@pytest.mark.parametrize(
    ("said", "says"),
    [
        (Said("LIBRARY Intel(R) MPI Library 2021.19\nOK\n", "", "exit 0"), ""),
        (Said("", "./pair: symbol lookup error: ./pair: undefined symbol: MPI_Send_c\n", "exit 127"), "no MPI_Send_c"),
        (Said("LIBRARY Intel(R) MPI Library 2021.19\nWRONG sum == 4.0\n", "", "exit 1"), "does not hold: sum == 4.0"),
        (Said("LIBRARY Intel(R) MPI Library 2021.19\n", "", ""), "did not end"),
        (Said("LIBRARY MPICH Version: 5.0.2\nOK\n", "", "exit 0"), "MPICH Version: 5.0.2"),
        (Said("LIBRARY Intel(R) MPI Library 2021.19\n", "killed\n", "exit 9"), "exit 9: killed"),
        (Said("", "", "exit 0"), "says nothing"),
    ],
)
def test_how_a_program_of_another_library_ended(fake: Fake, said: Said, says: str) -> None:
    text = pairs._wrong(said, fake.library())
    assert says in text if says else text == ""


def test_a_library_by_another_name_is_linked_and_told(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    work = fake.folder / "work"
    work.mkdir()
    library = targets.Library(SPEC, "impi", "2021.19.0", fake.folder, "mpiexec", None, fake.library().library_dirs)
    examined = examine(library, work)
    monkeypatch.setattr(pairs, "run_once", lambda *_: Said("OK\n", "", "exit 0"))
    for name, level in (("libmpi_abi.so.1", "must"), ("libmpi_abi.so.0", "advisory")):
        program = elf.Shared(Path("pair"), needed=[name, "libc.so.6"])
        pair = pairs.run("mpich@5.0.0", program, examined, fake.folder / f"links-{level}")
        assert pair.check.name == "abi.runs/built_for=mpich_5.0.0/on=impi_2021.19.0"
        assert (pair.check.level, bool(pair.check.differs)) == (level, level == "advisory")
        assert (fake.folder / f"links-{level}" / name).resolve() == fake.folder / "lib" / "libmpi_abi.so.1"


def test_the_program_of_a_library_names_every_procedure(fake: Fake) -> None:
    """So that it cannot start where one is missing."""
    work = fake.folder / "work"
    work.mkdir()
    examined = examine(fake.library(), work)
    with pytest.raises(CannotRun):  # the calls of pair.c have other parameters than those of the fake
        pairs.build(examined, work / "pair")
    names = (work / "pair" / "pair_procedures.h").read_text()
    assert names.count("(void (*)(void))") == len(examined.expected())


# ---- reports

DIFFERENCE = {"check": "abi.symbol/name=mpi_send", "level": "must", "clause": "3.2.1"}


def sample() -> dict[str, object]:
    differences = [
        {**DIFFERENCE, "status": "fail", "text": "MPI_Send is not in the library"},
        {
            **DIFFERENCE,
            "status": "xfail",
            "text": "this too",
            "known": "a reason",
            "known_link": "known/reproducers/x.c",
        },
        {**DIFFERENCE, "status": "advisory", "level": "advisory", "text": "a name of its own"},
    ]
    library = {
        "mpi": SPEC,
        "family": "impi",
        "version": "2021.19.0",
        "mpi_standard": "5.0",
        "abi": True,
        "files": [{"path": "/lib/libmpi_abi.so.1.0", "soname": "libmpi_abi.so.1", "needed": ["libc.so.6"]}],
        "header": "/include/mpi.h",
        "header_of": "impi-devel==2021.19.0",
        "checks": {"symbol": 657, "constant": 359},
        "differences": differences,
        "not_provided": [{"procedure": "MPI_Send_c", "since": "4.0"}],
        "not_checked": ["a sentence"],
    }
    runs = {**DIFFERENCE, "check": "abi.runs/built_for=a/on=b", "status": "fail", "text": "it does not start"}
    return {
        "format": 1,
        "ok": False,
        "status": {"fail": 2, "xpass": 0, "xfail": 1, "advisory": 1},
        "libraries": [library],
        "pairs": [
            {"built_for": SPEC, "runs_on": SPEC, "differences": []},
            {"built_for": SPEC, "runs_on": "mpich@5.0.2", "differences": [runs]},
            {"built_for": "mpich@5.0.2", "runs_on": SPEC, "differences": [{**runs, "status": "advisory"}]},
        ],
    }


def test_the_page_and_the_terminal_tell_everything(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = write_page(sample(), {"host": "here"}, "./assay abi", tmp_path / "abi.html").read_text()
    print_found(sample())
    said = capsys.readouterr().out
    for text in ("MPI_Send is not in the library", "a reason", "a name of its own", "a sentence", "it does not start"):
        assert text in page and text in said
    for text in ("MPI_Send_c", "libmpi_abi.so.1.0", "impi-devel==2021.19.0", "359 constants"):
        assert text in page
    assert said.splitlines()[-1] == "assay: 2 unexplained differences, 1 known, 1 advisory"


def test_the_table_of_pairs() -> None:
    laid = grid(sample()["pairs"])  # type: ignore[arg-type]
    assert laid["on"] == [SPEC, "mpich@5.0.2"]
    words = [[cell and cell["word"] for cell in cells] for _, cells in laid["rows"]]
    assert words == [["runs", "does not run"], ["runs when renamed", None]]
