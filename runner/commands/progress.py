"""What the user sees while a run goes on: a bar on a terminal, a line every few seconds elsewhere."""

from __future__ import annotations

import time
from collections.abc import Sequence
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from runner.model import UNEXPECTED, Verdict

LINE_SECONDS = 5.0


class RunProgress:
    """Counts verdicts of one target; a context manager."""

    def __init__(self, console: Console, target: str, total: int, judged: int = 0) -> None:
        self.console = console
        self.target = target
        self.total = total
        self.done = judged  # with those of an earlier start
        self.new = 0
        self.bad = 0
        self.started = self.said = time.monotonic()
        self.bar: Progress | None = None
        if console.is_terminal:
            columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[state]}"))
            self.bar = Progress(*columns, TimeElapsedColumn(), console=console)
            self.task = self.bar.add_task(target, total=total, completed=judged, state="")

    def __enter__(self) -> RunProgress:
        if self.bar:
            self.bar.start()
        else:
            self._say(f"{self.total - self.done:,} cases to run")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.bar:
            self.bar.stop()
        else:
            self._say(self._state())

    def verdicts(self, verdicts: Sequence[Verdict]) -> None:
        """Take note of judged cases."""
        if not verdicts:
            return
        self.new += len(verdicts)
        self.done += len(verdicts)
        self.bad += sum(verdict.status in UNEXPECTED for verdict in verdicts)
        test = verdicts[-1].case.partition("/")[0]
        now = time.monotonic()
        if self.bar:
            state = f"[red]{self.bad} unexpected[/]" if self.bad else "[green]as expected[/]"
            self.bar.update(self.task, completed=self.done, state=f"{state} · {self._rate():,.0f}/s · {test}")
        elif now - self.said > LINE_SECONDS:
            self._say(f"{self._state()}, in {test}")
            self.said = now

    def note(self, text: str) -> None:
        """One line that stays."""
        self._say(text)

    def _rate(self) -> float:
        return self.new / max(time.monotonic() - self.started, 1e-3)

    def _state(self) -> str:
        return f"{self.done:,} of {self.total:,} cases, {self.bad:,} unexpected, {self._rate():,.0f}/s"

    def _say(self, text: str) -> None:
        self.console.print(Text(f"{self.target}: {text}"), soft_wrap=True)
