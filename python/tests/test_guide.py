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


def test_the_commands_of_the_guide(tmp_path):
    if not TOOL.exists():
        pytest.skip(f"there is no tool at {TOOL}")
    functions = f'mfga() {{ "{TOOL}" "$@"; }}; python3() {{ "{sys.executable}" "$@"; }}; set -e\n'
    printed, commands, shown = "", 0, 0
    for kind, text in BLOCK.findall((ROOT / "docs" / "guide.md").read_text()):
        if kind == "sh":
            done = subprocess.run(["bash", "-c", functions + text], cwd=tmp_path, capture_output=True, text=True)
            assert done.returncode == 0, text + done.stderr
            printed = done.stdout + "".join(file.read_text() for file in tmp_path.glob("*.csv"))
            commands += 1
        else:
            for line in text.splitlines():
                # Decimals depend on the machine.
                pattern = re.sub(r"\\\.\d+", lambda _: r"\.\d+", re.escape(line.strip()))
                assert line.strip() == "..." or re.search(pattern, printed), line
                shown += 1
    assert commands >= 10 and shown >= 23
    assert "<!DOCTYPE html>" in (tmp_path / "page.html").read_text()
