"""The examples run, and so do the first lines of the README."""

import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = sorted((ROOT / "examples" / "python").glob("*.py"))


def run(*arguments, folder):
    done = subprocess.run([sys.executable, *arguments], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_there_are_five():
    assert len(SCRIPTS) == 5


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_examples_run(script, tmp_path):
    if script.stem in ("features", "frames"):
        pytest.importorskip("pandas")
    if script.stem == "features":
        pytest.importorskip("matplotlib")
    assert run(str(script), folder=tmp_path).strip()


def test_the_docs_run(tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "python.md").read_text(), flags=re.DOTALL)
    assert len(blocks) >= 4
    run("-c", "\n".join(blocks), folder=tmp_path)


def test_the_readme_shows_what_its_first_lines_print(tmp_path):
    pytest.importorskip("pandas")
    shown = re.search(r"```python\n(.*?)```\n\n```\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    assert run("-c", shown.group(1), folder=tmp_path) == shown.group(2)
