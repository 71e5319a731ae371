"""cases.jsonl: one line a judged case, appended as it is judged (docs/formats.md, section 6).

A runner that dies at any instant leaves whole lines and at most one unfinished last line, which the next one cuts off.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Sequence
from json.encoder import encode_basestring_ascii as quote
from pathlib import Path

from runner.model import CannotRun, Verdict, WrongUse

_BEGIN = b'{"case":'  # of every line


class Journal:
    """The verdicts of a run, kept on disk. One writer at a time (flock); use as a context manager or call close()."""

    def __init__(self, path: Path) -> None:
        """Open or create `path`, read what it holds and cut off an unfinished last line.

        Raises WrongUse when the file holds something else than verdicts (it is left as it is), CannotRun when it cannot
        be read or written or another runner writes it.
        """
        self.path = path
        self.statuses: dict[str, dict[str, str]] = {}  # target -> case -> status
        self._fd = -1
        self._tails: dict[tuple[str, ...], str] = {}
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._size = self._load()
            os.ftruncate(self._fd, self._size)
            os.lseek(self._fd, self._size, os.SEEK_SET)
        except BlockingIOError as error:
            self.close()
            raise CannotRun(f"{path}: another assay is writing this file; wait for it or use another --out") from error
        except OSError as error:
            self.close()
            raise CannotRun(f"{path}: cannot be opened for writing: {error.strerror}") from error
        except WrongUse:
            self.close()
            raise

    @property
    def judged(self) -> dict[str, set[str]]:
        """The cases judged so far, by target."""
        return {target: set(cases) for target, cases in self.statuses.items()}

    def append(self, verdicts: Sequence[Verdict]) -> None:
        """Write one line each, all in one go. Raises CannotRun (full disk); then none of them is in the file."""
        if not verdicts:
            return
        data = "".join([self._line(verdict) for verdict in verdicts]).encode()
        written = 0
        try:
            while written < len(data):  # a disk that fills up gives a short write first, then the error
                written += os.write(self._fd, data[written:] if written else data)
        except OSError as error:
            os.ftruncate(self._fd, self._size)
            os.lseek(self._fd, self._size, os.SEEK_SET)
            raise CannotRun(f"{self.path}: cannot be written: {error.strerror}; `assay resume` goes on") from error
        self._size += len(data)
        for target in {verdict.target for verdict in verdicts}:
            statuses = self.statuses.setdefault(target, {})
            statuses.update([(verdict.case, verdict.status) for verdict in verdicts if verdict.target == target])

    def close(self) -> None:
        """Close the file and let others write it."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _line(self, verdict: Verdict) -> str:
        extra = verdict.extra
        if not extra:
            tail = "}\n"
        elif len(extra) == 1 and "requirements" in extra:  # a case that passed: nearly all of them
            key = tuple(extra["requirements"])
            found = self._tails.get(key)
            tail = self._tails.setdefault(key, _tail(extra)) if found is None else found
        else:
            tail = _tail(extra)
        return (
            f'{{"case":{quote(verdict.case)},"target":{quote(verdict.target)},"status":"{verdict.status}",'
            f'"seconds":{verdict.seconds:.6f}{tail}'
        )

    def _load(self) -> int:
        """Read the file into `statuses`; the size in bytes up to the last whole line."""
        size = 0
        with open(self._fd, "rb", closefd=False) as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    if not (line.startswith(_BEGIN) or _BEGIN.startswith(line)):
                        raise self._foreign(number)
                    break
                try:
                    value = json.loads(line)
                    case, target, status = value["case"], value["target"], value["status"]
                except (ValueError, KeyError, TypeError):
                    raise self._foreign(number) from None
                if not (isinstance(case, str) and isinstance(target, str) and isinstance(status, str)):
                    raise self._foreign(number)
                self.statuses.setdefault(target, {})[case] = status
                size += len(line)
        return size

    def _foreign(self, number: int) -> WrongUse:
        return WrongUse(
            f"{self.path}:{number}: not a verdict of assay (a JSON object with case, target and status); "
            "nothing was changed: name another --out or move the file away"
        )


def _tail(extra: dict[str, object]) -> str:
    return "," + json.dumps(extra, separators=(",", ":"))[1:] + "\n"
