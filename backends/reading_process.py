"""One started worker process: what is sent to it, what comes back, and why it ended."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Pipe
from pathlib import Path

from backends.reading_worker import Message

GRACE_S = 10.0  # a worker ends by itself at its time; if it does not by this much later, it is stuck, and given up
_ENVIRONMENT = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ", "LD_LIBRARY_PATH", "TESSDATA_PREFIX")


@dataclass(frozen=True)
class Limits:
    """What a worker may take. Size is limited by the readers, who know which formats are streamed.

    `seconds` of wall-clock time until the first document of a file, and from each document to the next: a file of any
    length is read as long as it goes on yielding. `memory` in bytes that each process may have for itself.
    """

    seconds: float = 60.0
    memory: int = 2 * 2**30


class ReadingProcess:
    """Starts at once. `begun` counts the files it took up; `reading` while it is at one; `late` once it took too long."""

    def __init__(self, limits: Limits, reader: str) -> None:
        self.begun = 0
        self.reading = self.late = False
        self._limits = limits
        self._connection, theirs = Pipe()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "backends.reading_worker", str(theirs.fileno()), str(limits.seconds),
                 str(limits.memory), reader],
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env=_environment(),
                process_group=0,  # Ctrl-C in a terminal is for this process, which then ends the workers
            )  # fmt: skip

    def send(self, path: Path) -> None:
        with suppress(OSError):  # that it has ended shows when its answer is asked for
            self._connection.send(str(path))

    def receive(self) -> Message | None:
        """The next message, waited for; None once the process has ended, all that it said before included."""
        try:
            if not self._connection.poll(self._limits.seconds + GRACE_S):
                self.late = True
                return None
            message: Message = pickle.loads(self._connection.recv_bytes())
        except (EOFError, ConnectionResetError):
            return None
        if message[0] == "begun":
            self.begun += 1
            self.reading = True
        elif message[0] == "done":
            self.reading = False
        return message

    def why(self) -> str:
        """Why it ended, after `receive` gave None: a clause for a person. What the process started itself ends, too."""
        if not self.late:
            os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT)
        complaint = b"" if self.begun or not self._process.stderr else self._process.stderr.read()
        self.end()
        status = self._process.returncode
        self.late = self.late or status == -signal.SIGALRM
        if self.late:
            return f"reading it took longer than {self._limits.seconds:g} s; split it, or save it anew in its program."
        if not self.begun:
            return (complaint.decode(errors="replace").strip().splitlines() or [f"exit code {status}"])[-1]
        if status == -signal.SIGKILL:
            return (
                "the system ended the process that read it (out of memory?); close other programs, or split the file."
            )
        how = signal.Signals(-status).name if status < 0 else f"exit code {status}"
        return f"its reader crashed ({how}); the file may be corrupt: open it in its program and save it anew."

    def end(self) -> None:
        """Ends the process and what it started, at once, whatever it does."""
        self._connection.close()
        with suppress(ProcessLookupError):  # nobody has waited for it yet, so the number is still its own
            os.killpg(self._process.pid, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):  # stuck in the system: nothing ends it, and waiting gains nothing
            self._process.wait(GRACE_S)
        if self._process.stderr:
            self._process.stderr.close()


def _environment() -> dict[str, str]:
    """What this process imports, the workers can; keys and tokens they need not know."""
    kept = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    return {**kept, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
