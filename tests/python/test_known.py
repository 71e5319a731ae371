"""Known failures: what they do to verdicts, which files are refused, and how fast they are."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from reports.globs import translate
from reports.known import Known, load
from reports.known_entry import never_ran
from reports.requirements import catalogue, wants_an_error
from runner.libraries import targets
from runner.model import Launch, Target, Verdict, WrongUse

ENTRY = """
[[known]]
case    = "p2p.ring*/type=long_double_int/*"
library = "mpich"
version = ">=4.0,<4.3"
transport = "*"
status  = ["fail", "crash"]
reason  = "the last byte of a pair is lost"
link    = "https://example.org/ticket/1"
"""
CASE = "p2p.ring/comm=world/type=long_double_int/count=17"


def no_launch(_args: object) -> Launch:
    raise AssertionError("a report starts nothing")


def target(family: str = "mpich", version: str = "4.2.1", transport: str = "") -> Target:
    name = f"{family}@{version}{'+' if transport else ''}{transport}/np4"
    return Target(name, f"{family}@{version}", 4, no_launch, family=family, version=version, transport=transport)


def known(tmp_path: Path, text: str) -> Known:
    (tmp_path / "known.toml").write_text(text)
    return load(tmp_path / "known.toml")


@pytest.mark.parametrize(
    ("status", "after"),
    [
        ("fail", "xfail"),
        ("crash", "xfail"),
        ("pass", "xpass"),
        ("timeout", "timeout"),
        ("lost", "lost"),
        ("flaky", "flaky"),
        ("skip", "skip"),
        ("unsupported", "unsupported"),
    ],
)
def test_status(tmp_path: Path, status: str, after: str) -> None:
    before = Verdict(CASE, "mpich@4.2.1/np4", status, 0.5, {"repeat": "./assay run"})
    verdict = known(tmp_path, ENTRY).apply(before, target())
    assert (verdict.status, verdict.seconds, verdict.extra["repeat"]) == (after, 0.5, "./assay run")
    if after in ("xfail", "xpass"):
        assert verdict.extra["known"] == "the last byte of a pair is lost"
        assert verdict.extra["known_link"] == "https://example.org/ticket/1"
    else:
        assert verdict is before
    assert before.status == status and "known" not in before.extra


@pytest.mark.parametrize(
    ("case", "where", "matches"),
    [
        (CASE, target(), True),
        ("p2p.ring_isend/mode=a/type=long_double_int/count=0", target(), True),
        ("p2p.ring/comm=world/type=long_double_int", target(), False),
        ("x.p2p.ring/comm=world/type=long_double_int/count=17", target(), False),
        (CASE, target("openmpi", "4.2.1"), False),
        (CASE, target(version="4.0"), True),
        (CASE, target(version="4.0.3"), True),
        (CASE, target(version="4.3.0"), False),
        (CASE, target(version="4.3.0b1"), False),  # a pre-release of the excluded version is excluded (PEP 440)
        (CASE, target(version="4.2.0rc2"), True),
        (CASE, target(version="3.4.3"), False),
        (CASE, target(version=""), False),
        (CASE, target(version="main-abc"), False),
        (CASE, target(transport="ofi:tcp"), True),
    ],
)
def test_which_cases_of_which_targets(tmp_path: Path, case: str, where: Target, matches: bool) -> None:
    verdict = known(tmp_path, ENTRY).apply(Verdict(case, where.name, "fail"), where)
    assert verdict.status == ("xfail" if matches else "fail")


def test_defaults_are_any_library_any_version_any_transport_and_fail(tmp_path: Path) -> None:
    entries = known(tmp_path, '[[known]]\ncase="a.*"\nreason="r"\nlink="reproducers/a.c"')
    anything = target("somempi", "")
    assert entries.apply(Verdict("a.b", "t", "fail"), anything).status == "xfail"
    assert entries.apply(Verdict("a.b", "t", "crash"), anything).status == "crash"


def test_transport_is_a_glob(tmp_path: Path) -> None:
    entries = known(tmp_path, ENTRY.replace('transport = "*"', 'transport = "ofi:*"'))
    assert entries.apply(Verdict(CASE, "t", "fail"), target(transport="ofi:tcp")).status == "xfail"
    assert entries.apply(Verdict(CASE, "t", "fail"), target(transport="ucx")).status == "fail"
    assert entries.apply(Verdict(CASE, "t", "fail"), target()).status == "fail"
    entries = known(tmp_path, ENTRY.replace('transport = "*"', 'transport = "{ofi:*,tcp}"'))
    for transport, status in (("ofi:tcp", "xfail"), ("tcp", "xfail"), ("ucx", "fail"), ("", "fail")):
        assert entries.apply(Verdict(CASE, "t", "fail"), target(transport=transport)).status == status
    with pytest.raises(WrongUse, match="braces that do not pair up"):
        known(tmp_path, ENTRY.replace('transport = "*"', 'transport = "{tcp"'))


def test_an_entry_may_hold_for_some_numbers_of_ranks_only(tmp_path: Path) -> None:
    text = ENTRY.replace("status", "np = [2, 4]\nstatus")
    assert known(tmp_path, text).apply(Verdict(CASE, "t", "fail"), target()).status == "xfail"
    assert known(tmp_path, text.replace("2, 4", "2, 3")).apply(Verdict(CASE, "t", "fail"), target()).status == "fail"
    with pytest.raises(WrongUse, match=r"np is \[0\]; it must be a list of numbers of ranks"):
        known(tmp_path, text.replace("2, 4", "0"))


def test_an_entry_may_hold_for_some_numbers_of_threads_only(tmp_path: Path) -> None:
    entries = known(tmp_path, ENTRY.replace("status", "threads = [2, 8]\nstatus"))
    told = [
        entries.apply(Verdict(CASE, "t", "fail"), replace(target(), name=f"t{threads}", threads=threads)).status
        for threads in (1, 2, 8)
    ]
    assert told == ["fail", "xfail", "xfail"]
    with pytest.raises(WrongUse, match=r"threads is 'all'; it must be a list of numbers of threads"):
        known(tmp_path, ENTRY.replace("status", 'threads = "all"\nstatus'))


def test_the_entry_that_expects_this_status_is_taken(tmp_path: Path) -> None:
    second = '[[known]]\ncase="p2p.*"\nstatus="timeout"\nreason="hangs"\nlink="x.c"'
    verdict = known(tmp_path, ENTRY + second).apply(Verdict(CASE, "t", "timeout"), target())
    assert (verdict.status, verdict.extra["known"]) == ("xfail", "hangs")


SEEN = """
[[known]]
case    = "p2p.ring*/*"
seen    = ["{data,gap} in MPI_Wait*", "error in MPI_Recv: *class 15*", "SIGSEGV in MPI_Put", "hang in MPI_Win_fence"]
reason  = "the last byte of a pair is lost"
link    = "x.c"
"""


def saw(status: str, check: str, call: str, message: str = "", **more: object) -> dict[str, object]:
    what = {"fail": "check", "crash": "signal"}.get(status)
    return {"rank": 0, "status": status, **({what: check} if what else {}), "call": call, "message": message, **more}


@pytest.mark.parametrize(
    ("status", "ranks", "after"),
    [
        ("fail", [saw("fail", "data", "MPI_Wait"), saw("fail", "gap", "MPI_Waitall")], "xfail"),
        ("fail", [saw("fail", "data", "MPI_Wait"), saw("fail", "tag", "MPI_Wait")], "fail"),  # one thing is new
        ("fail", [saw("fail", "data", "MPI_Recv")], "fail"),
        ("fail", [saw("fail", "error", "MPI_Recv", "first\ngives class 15 here")], "xfail"),
        ("fail", [saw("fail", "error", "MPI_Recv", "gives class 14")], "fail"),
        ("fail", [], "fail"),
        ("crash", [saw("crash", "SIGSEGV", "MPI_Put")], "xfail"),
        ("crash", [saw("crash", "SIGSEGV", "MPI_Put", in_mpi=False)], "crash"),  # in the test, after the call
        ("crash", [saw("crash", "SIGBUS", "MPI_Put")], "crash"),
        ("crash", [saw("crash", "SIGSEGV", "MPI_Wait")], "crash"),
        ("timeout", [saw("timeout", "", "MPI_Win_fence"), saw("fail", "data", "MPI_Wait")], "xfail"),
        ("timeout", [saw("timeout", "", "MPI_Win_free")], "timeout"),
        ("lost", [], "lost"),
        ("pass", [], "xpass"),
    ],
)
def test_only_what_was_seen_is_known(tmp_path: Path, status: str, ranks: list[object], after: str) -> None:
    entries = known(tmp_path, SEEN)
    assert entries.expected(CASE, target()) == {"fail", "crash", "timeout"}
    verdict = entries.apply(Verdict(CASE, "t", status, extra={"ranks": ranks} if ranks else {}), target())
    assert verdict.status == after


def test_what_follows_is_known_only_beside_what_was_seen(tmp_path: Path) -> None:
    follows = 'follows = ["data in MPI_*", "hang in MPI_Buffer_detach"]\n'
    entries = known(tmp_path, SEEN.replace("reason ", f"{follows}reason ", 1))
    assert "timeout" in entries.expected(CASE, target())
    lost, sent = saw("fail", "data", "MPI_Recv"), saw("crash", "SIGSEGV", "MPI_Put")
    for status, ranks, after in (
        ("fail", [lost], "fail"),
        ("crash", [lost, sent], "xfail"),
        ("crash", [lost, sent, saw("fail", "tag", "MPI_Recv")], "crash"),
        ("timeout", [saw("timeout", "", "MPI_Buffer_detach")], "timeout"),
        ("timeout", [saw("timeout", "", "MPI_Buffer_detach"), saw("fail", "gap", "MPI_Wait")], "xfail"),
    ):
        assert entries.apply(Verdict(CASE, "t", status, extra={"ranks": ranks}), target()).status == after


def test_with_a_sanitizer_a_known_failure_may_end_in_its_report(tmp_path: Path) -> None:
    (tmp_path / "known.toml").write_text(SEEN)
    ended = Verdict(CASE, "t", "crash", extra={"ranks": [saw("exit", "", "MPI_Wait", exit=1)]})
    alone = Verdict(CASE, "t", "fail", extra={"ranks": [saw("fail", "tag", "MPI_Wait")]})
    plain, sanitized = (load(tmp_path / "known.toml", sanitized=with_it) for with_it in (False, True))
    assert [known.apply(ended, target()).status for known in (plain, sanitized)] == ["crash", "xfail"]
    assert sanitized.apply(alone, target()).status == "fail"


def test_what_was_seen_may_be_known_to_several_entries_together(tmp_path: Path) -> None:
    other = '[[known]]\ncase="p2p.*"\nseen="SIGSEGV in MPI_Recv"\nreason="dies"\nlink="y.c"\n'
    entries = known(tmp_path, SEEN + other)
    both = [saw("fail", "data", "MPI_Wait"), saw("crash", "SIGSEGV", "MPI_Recv")]
    verdict = entries.apply(Verdict(CASE, "t", "crash", extra={"ranks": both}), target())
    assert (verdict.status, verdict.extra["known"]) == ("xfail", "dies")  # the main thing names it
    assert entries.unused() == []


def test_what_happens_by_chance_says_how_often_and_why(tmp_path: Path) -> None:
    chance = 'sometimes = { failed = 3, of = 20, why = "who comes first" }\n'
    (entry,) = known(tmp_path, ENTRY + chance).entries
    assert (entry.sometimes, entry.rate, entry.why) == (True, (3, 20), "who comes first")


def test_what_fails_sometimes_may_pass_and_is_reported_when_it_always_does(tmp_path: Path) -> None:
    entries = known(tmp_path, ENTRY + "sometimes = true\n")
    assert entries.apply(Verdict(CASE, "mpich@4.2.1/np4", "pass"), target()).status == "pass"
    (sentence,) = entries.unused()
    assert sentence == f"1 known failure that happens only sometimes did not happen ({entries.entries[0].where})"
    assert entries.apply(Verdict(CASE, "mpich@4.2.1/np4", "crash"), target()).status == "xfail"
    assert entries.unused() == []


def test_warnings_are_a_short_line_each_and_few(tmp_path: Path) -> None:
    glob = f"p2p.ring/type={{{','.join(f'word{number}' for number in range(60))}}}"
    more = f'[[known]]\ncase="{glob}"\nreason="r"\nlink="x.c"\n'
    entries = known(tmp_path, 22 * (more + "sometimes = true\n") + more)
    entries.apply(Verdict("p2p.ring/type=word1", "t", "pass"), target())
    (sentence,) = entries.unused(part=True)  # as in a clean smoke run: it was a line of 400 characters an entry
    file = tmp_path / "known.toml"
    named = ", ".join(f"{file}, entry {number}" for number in (1, 2, 3))
    assert sentence == f"22 known failures that happen only sometimes did not happen ({named}, …)"
    entries = known(tmp_path, more)
    entries.apply(Verdict("env.wtime", "t", "pass"), target())
    (missed,) = entries.unused()
    assert f"{glob[:79]}… matched no case" in missed and len(missed) < len(str(file)) + 170


def test_a_pass_where_an_error_is_wanted_may_mean_that_the_library_got_worse(tmp_path: Path) -> None:
    verdicts = [
        Verdict(CASE, "t", "pass", extra={"requirements": [name]}) for name in ("p2p.send.data", "errors.raised.class")
    ]
    told = [known(tmp_path, ENTRY).apply(verdict, target()).extra["reason"] for verdict in verdicts]
    assert "got worse" not in told[0] and "passes where the library has got worse" in told[1]
    assert 20 < sum(wants_an_error([name]) for name in catalogue()) < 100  # of some 800


def test_what_is_known_of_other_versions_only_says_so(tmp_path: Path) -> None:
    entries = known(tmp_path, ENTRY)
    seen = ["4.0", "10.0", "4.2.3"]
    assert entries.presumed(target(), seen) == ""  # nothing failed
    entries.apply(Verdict(CASE, "t", "fail"), target())
    said = "mpich@4.2.1/np4: 1 known failure was not seen in 4.2.1 before, but in 4.0, 4.2.3, 10.0, which span it"
    assert entries.presumed(target(), seen) == said
    assert entries.presumed(target(), [*seen, "4.2.1"]) == ""


def test_ranges_name_versions_that_were_run(tmp_path: Path) -> None:
    seen = {"mpich": ["4.0", "4.3.2"], "openmpi": ["5.0"]}
    for version, unknown in ((">=4.0,<=4.3.2", ""), ("==4.3.2", ""), (">=4.0,<4.3", "4.3"), (">=4.1", "4.1")):
        (entry,) = known(tmp_path, ENTRY.replace(">=4.0,<4.3", version)).entries
        said = f"{entry.where}: its range names {unknown}, which was never run; name one of 4.0, 4.3.2"
        assert never_ran(entry, seen) == (said if unknown else "")


def test_the_ranges_of_assay_name_versions_that_were_run() -> None:
    files = sorted((Path(__file__).resolve().parents[2] / "known").glob("*.toml"))
    assert [wrong for entry in load(*files).entries if (wrong := never_ran(entry, targets.seen()))] == []


def test_nothing_is_prepared_for_what_seldom_fails(tmp_path: Path) -> None:
    entries = known(tmp_path, ENTRY + "seldom = true\n")
    assert entries.expected(CASE, target()) == set()
    assert entries.apply(Verdict(CASE, "mpich@4.2.1/np4", "pass"), target()).status == "pass"
    assert entries.unused() == []
    assert entries.apply(Verdict(CASE, "mpich@4.2.1/np4", "crash"), target()).status == "xfail"
    assert known(tmp_path, ENTRY + "sometimes = true\n").expected(CASE, target()) == {"fail", "crash"}


def test_what_has_ended_enough_jobs_leaves_out_the_rest_of_its_cases(tmp_path: Path) -> None:
    some = known(tmp_path, ENTRY.replace('"p2p.ring*/type=long_double_int/*"', '["p2p.ring*/n=*", "p2p.ring/m=*"]'))
    some.limit = 2
    where = target()
    left = ["p2p.ring/n=8", "p2p.ring/m=9", "p2p.ring_persistent/n=8", "p2p.other"]

    def ran(number: int, status: str) -> None:
        some.apply(Verdict(f"p2p.ring/n={number}", where.name, status), where)

    ran(0, "crash")
    for number in (1, 2, 3):
        ran(number, "pass")
    ran(4, "crash")  # two of five
    assert some.enough(left, where) == {}
    ran(5, "fail")  # three of six, which ended no job
    assert some.enough(left, target(version="4.2.0")) == {}, "on another target"
    reason = "left out, as 2 cases of p2p.ring have ended their job by this: the last byte of a pair is lost"
    assert some.enough(left, where) == dict.fromkeys(left[:2], reason)
    assert some.enough(left, where) == {}, "nothing is told twice"
    assert some.unused() == []

    unlimited = known(tmp_path, ENTRY)
    for number in range(300):
        unlimited.apply(Verdict(f"{CASE}{number}", where.name, "crash"), where)
    assert unlimited.enough([CASE], where) == {}


def test_several_files_and_unused_entries(tmp_path: Path) -> None:
    first, second = tmp_path / "first.toml", tmp_path / "second.toml"
    first.write_text(ENTRY + '[[known]]\ncase="p2p.rnig/*"\nreason="r"\nlink="x.c"')
    second.write_text('[[known]]\ncase="*"\nlibrary="openmpi"\nreason="r"\nlink="x.c"')
    entries = load(first, second)
    entries.apply(Verdict(CASE, "t", "unsupported"), target())  # did not run: matches nothing
    entries.apply(Verdict("env.wtime", "t", "pass"), target())
    advice = "correct the glob or remove the entry"
    assert entries.unused() == [
        f"{first}, entry 1: p2p.ring*/type=long_double_int/* matched no case; {advice}",
        f"{first}, entry 2: p2p.rnig/* matched no case; {advice}",
        "1 known failure is for libraries, versions, transports or numbers of ranks that did not run",
    ]
    entries.apply(Verdict(CASE, "t", "timeout"), target())  # matched, though not as expected
    assert [text.split(": ")[0] for text in entries.unused()] == [
        f"{first}, entry 2",
        "1 known failure is for libraries, versions, transports or numbers of ranks that did not run",
    ]


def test_a_glob_of_a_wider_tier_is_no_mistake(tmp_path: Path) -> None:
    more = '[[known]]\ncase="{}"\nreason="r"\nlink="x.c"\n'
    entries = known(tmp_path, ENTRY + more.format("p2p.other/{a,b}") + more.format("p2p.third"))
    entries.apply(Verdict("p2p.sendrecv", "t", "pass"), target())
    asked: list[list[str]] = []

    def having(*cases: str) -> Callable[[Sequence[str]], Sequence[str]]:
        return lambda globs: asked.append([*globs]) or cases

    ring = "p2p.ring*/type=long_double_int/*"
    (sentence,) = entries.unused(wider=[having("p2p.ring", "p2p.other/b"), having("p2p.third")])
    assert f"{ring} matched no case" in sentence
    assert asked == [[ring, "p2p.other/{a,b}", "p2p.third"], [ring, "p2p.third"]]

    asked.clear()
    assert (
        entries.unused(wider=[having("p2p.other/a", "p2p.third", "p2p.ring/type=long_double_int/n=1"), having()]) == []
    )
    assert len(asked) == 1, "the second is not asked for nothing"


def test_unused_entries_are_no_news_where_cases_were_left_out(tmp_path: Path) -> None:
    entries = known(tmp_path, ENTRY + '[[known]]\ncase="p2p.other/*"\nreason="r"\nlink="x.c"')
    entries.apply(Verdict(CASE, "t", "fail"), target())
    assert "p2p.other/* matched no case" in entries.unused()[0]
    assert entries.unused(part=True) == ["of 1 known failure not all cases were selected"]


def test_an_entry_may_list_several_globs(tmp_path: Path) -> None:
    text = ENTRY.replace('"p2p.ring*/type=long_double_int/*"', '["p2p.ring*/type=int/*", "p2p.alltoall/*"]')
    entries = known(tmp_path, text)
    told = [entries.apply(Verdict(case, "t", "fail"), target()).status for case in (CASE, "p2p.alltoall/type=char")]
    assert told == ["fail", "xfail"]
    (unused,) = entries.unused()
    assert "p2p.ring*/type=int/* matched no case" in unused


def test_braces_stand_for_each_of_their_words(tmp_path: Path) -> None:
    words = ["ab", "abc", "abe", "ac", "ace", "acx", "ade", "axbyce", "a,b"]
    for glob, matching in {
        "a{b,c}{e,}": ["ab", "abe", "ac", "ace"],
        "a{b,{c,d}e}": ["ab", "ace", "ade"],
        "a{*b,c}*{c,x}*": ["abc", "acx", "axbyce"],
        "a,?": ["a,b"],
    }.items():
        assert [word for word in words if re.match(translate(glob), word)] == matching, glob
    entries = known(tmp_path, ENTRY.replace("ring*/type=long_double_int", "{ring,alltoall}*/type={*_int,char}"))
    told = {
        case: entries.apply(Verdict(f"p2p.{case}/count=1", "t", "fail"), target()).status
        for case in ("ring/type=long_int", "alltoall/a=b/type=char", "ring/type=int", "partner/type=char")
    }
    assert list(told.values()) == ["xfail", "xfail", "fail", "fail"]


def test_nothing_known() -> None:
    verdict = Verdict(CASE, "t", "fail")
    assert Known().apply(verdict, target()) is verdict and Known().unused() == []


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            ('reason  = "the last byte of a pair is lost"', ""),
            "entry 2 has no reason; case, reason and link are required",
        ),
        (('link    = "https://example.org/ticket/1"', ""), "entry 2 has no link"),
        (('case    = "p2p.ring*/type=long_double_int/*"', ""), "entry 2 has no case"),
        (('"https://example.org/ticket/1"', '""'), "entry 2: link is ''; it must be a text that is not empty"),
        (('"https://example.org/ticket/1"', '"javascript:x"'), "entry 2: link 'javascript:x' is neither http"),
        (
            ('["fail", "crash"]', '["fial"]'),
            r"entry 2: status is \['fial'\]; it must be one of, or a list of, fail crash",
        ),
        (('["fail", "crash"]', "[]"), r"entry 2: status is \[\]"),
        (('["fail", "crash"]', "3"), "entry 2: status is 3"),
        (('">=4.0,<4.3"', '"4.x"'), "entry 2: version '4.x' is not a range; write for example"),
        (('library = "mpich"', "library = 3"), "entry 2: library is 3; it must be a text"),
        (("library", "libary"), "entry 2: 'libary' is not a key of a known failure; did you mean library?"),
        (("p2p.ring*", "P2P ring*"), "entry 2: case 'P2P ring.*' can match no case name"),
        (("p2p.ring*", "p2p.{ring,alltoall*"), r"entry 2: case 'p2p.\{ring.*' can match no case name"),
        (("p2p.ring*", "p2p.ring}*{"), r"entry 2: case 'p2p.ring\}.*' can match no case name"),
        (("status ", 'seen = "data in MPI_Recv"\nstatus '), "entry 2: has both seen and status"),
        (("status ", 'follows = "data in MPI_Recv"\nstatus '), "entry 2: has follows and no seen"),
        (('status  = ["fail", "crash"]', "seen = []"), r"entry 2: seen is \[\]; it must be a list such as"),
        (('status  = ["fail", "crash"]', 'seen = "dta in MPI_Recv"'), "entry 2: seen: 'dta' is no kind of finding"),
        (('status  = ["fail", "crash"]', 'seen = "data in Recv"'), "entry 2: seen: 'Recv' can be no call"),
        (('status  = ["fail", "crash"]', 'seen = "data by MPI_Recv"'), "entry 2: seen: write WHAT in CALL"),
        (('status  = ["fail", "crash"]', 'seen = "{data in MPI_Recv"'), "entry 2: seen: braces that do not pair up"),
        (
            ("status ", "sometimes = { failed = 3, of = 2, why = 'race' }\nstatus "),
            "entry 2: sometimes is .*of how many",
        ),
        (("status ", "sometimes = { failed = 3, of = 20 }\nstatus "), "entry 2: sometimes is .*of how many"),
        (("[[known]]", "[[knwon]]"), "'knwon' is not known here; each known failure is a"),
        (('"mpich"', '"mpich'), "is not TOML"),
    ],
)
def test_bad_files_are_refused_with_one_sentence(tmp_path: Path, change: tuple[str, str], sentence: str) -> None:
    with pytest.raises(WrongUse, match=sentence) as caught:
        known(tmp_path, ENTRY + ENTRY.replace(*change))
    assert str(tmp_path / "known.toml") in str(caught.value) and "\n" not in str(caught.value)


def test_files_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    with pytest.raises(WrongUse, match="No such file or directory; --known takes a TOML file"):
        load(tmp_path / "none.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(WrongUse, match="is not TOML"):
        load(tmp_path / "binary.toml")
    (tmp_path / "table.toml").write_text("[known]\ncase = 'x'")
    with pytest.raises(WrongUse, match="begin each known failure with"):
        load(tmp_path / "table.toml")


def test_100_000_verdicts_and_100_entries_take_seconds(tmp_path: Path) -> None:
    text = "".join(
        f'[[known]]\ncase="p2p.test{number}/*/type=long_double_int/*"\nreason="r"\nlink="x.c"\n'
        for number in range(100)
    )
    entries, where = known(tmp_path, text), target()
    begin = time.process_time()
    statuses = [
        entries.apply(
            Verdict(f"p2p.test{number % 200}/comm=world/type=long_double_int/count={number}", "t", "fail"), where
        ).status
        for number in range(100_000)
    ]
    assert time.process_time() - begin < 10
    assert statuses.count("xfail") == 50_000
