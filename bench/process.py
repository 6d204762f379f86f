"""Running what is measured: the tool and the peers, each in a process of its own."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


class RunError(Exception):
    """A run that failed or gave another answer; the bench goes on without its row and ends with an error."""


class NotInstalled(Exception):
    pass


class TookTooLong(Exception):
    def __init__(self, seconds):
        super().__init__(f"more than {seconds} s")
        self.seconds = seconds


def run_child(module, function, job, limit=None):
    """Calls module.function(job) in a fresh Python process and returns its result, a dictionary.

    The result comes back in a file: some peers print on standard output. This process never imports NumPy
    itself, so that it stays small and out of the way.
    """
    with tempfile.NamedTemporaryFile(suffix=".json") as result:
        command = [sys.executable, str(FOLDER / "child.py"), module, function, result.name]
        try:
            done = subprocess.run(
                command, input=json.dumps(job), text=True, capture_output=True, timeout=limit
            )
        except subprocess.TimeoutExpired:
            raise TookTooLong(limit) from None
        if done.returncode != 0:
            lines = done.stderr.strip().splitlines()
            raise RunError(f"{module} ended with exit code {done.returncode}: {lines[-1] if lines else ''}")
        answer = json.loads(Path(result.name).read_text())
    if "not_installed" in answer:
        raise NotInstalled(answer["not_installed"])
    return answer


def run_tool(tool, *arguments):
    """Runs the tool; returns what it printed."""
    command = [str(tool), *map(str, arguments)]
    done = subprocess.run(command, text=True, capture_output=True)
    if done.returncode != 0:
        raise RunError(f"{' '.join(command)} ended with exit code {done.returncode}: {done.stderr.strip()}")
    return done.stdout
