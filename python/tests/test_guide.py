"""Every command of docs/guide.md runs, and prints what the guide shows."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = pathlib.Path(os.environ.get("MFGA_TOOL", ROOT / "build" / "mfga"))
# A command, and what is shown of its output: some of its lines, or those of a file that it writes.
BLOCK = re.compile(r"```(sh|)\n(.*?)```", flags=re.DOTALL)
NUMBER = re.compile(r"\d+(?:\.\d+)?")


def is_same(shown, printed):
    """Whether two lines have the same words, and numbers that differ by what another processor may change."""
    if NUMBER.sub("#", shown.strip()) != NUMBER.sub("#", printed.strip()):
        return False
    pairs = zip(NUMBER.findall(shown), NUMBER.findall(printed), strict=True)
    return all(float(a) == pytest.approx(float(b), rel=0.01) for a, b in pairs)


def test_lines_are_told_apart():
    assert is_same("  RMSE 58.22, R2 0.4868", "RMSE 58.221, R2 0.4869")
    for other in ("RMSE 59.22, R2 0.4868", "MAE 58.22, R2 0.4868", "RMSE 58.22, R2 0.4868, 3"):
        assert not is_same("RMSE 58.22, R2 0.4868", other)


def test_the_commands_of_the_guide(tmp_path):
    if not TOOL.exists():
        pytest.skip(f"there is no tool at {TOOL}")
    functions = f'mfga() {{ "{TOOL}" "$@"; }}; python3() {{ "{sys.executable}" "$@"; }}; set -e\n'
    printed, commands, shown = [], 0, 0
    for kind, text in BLOCK.findall((ROOT / "docs" / "guide.md").read_text()):
        if kind == "sh":
            done = subprocess.run(["bash", "-c", functions + text], cwd=tmp_path, capture_output=True, text=True)
            assert done.returncode == 0, text + done.stderr
            printed = done.stdout + "".join(file.read_text() for file in tmp_path.glob("*.csv"))
            printed = printed.splitlines()
            commands += 1
        else:
            for line in text.splitlines():
                assert line.strip() == "..." or any(is_same(line, other) for other in printed), line
                shown += 1
    assert commands >= 10 and shown >= 23
    assert "<!DOCTYPE html>" in (tmp_path / "page.html").read_text()
