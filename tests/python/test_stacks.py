"""Stacks in reports."""

from runner.supervision.stacks import readable


def test_names_are_demangled_and_the_handler_and_harness_left_out() -> None:
    stack = [
        "_ZN5assay12_GLOBAL__N_19safe_line5stackEPv+0x3be 0x55a0120de6de",
        "_ZN5assay12_GLOBAL__N_19tell_exitEib.part.0+0xe4 0x55a0120deba4",
        "exit+0x1a 0x7fc4bc25c69a",
        "PMPI_Test+0x474 0x7f1bf6969ee4",
        "_ZN5assay3p2p8exchangeERNS_8test_runERKNS0_7patternERKNS0_6mannerE+0xdbf 0x55a0120f85bf",
        "_ZN5assay6engine8run_onceERKNS_12planned_caseEi+0x8ba 0x55a012095a9a",
        "main+0x10 0x55a012095a9b",
    ]
    assert readable(stack) == [
        "PMPI_Test+0x474",
        "assay::p2p::exchange(assay::test_run&, assay::p2p::pattern const&, assay::p2p::manner const&)+0xdbf",
    ]


def test_what_cannot_be_read_stays() -> None:
    assert readable(["?+0x0 0x7fc4bc85620f", "nonsense"]) == ["?+0x0", "nonsense"]
    assert readable(["_ZN5assay12_GLOBAL__N_19safe_line5stackEPv+0x3be 0x1"]) == [
        "assay::(anonymous namespace)::safe_line::stack(void*)+0x3be"
    ]
    assert readable([]) == []
