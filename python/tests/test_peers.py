"""The script that compares with other estimators, `./dev compare`, on a small table and without the slow ones."""

import importlib.util
import json
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture
def script():
    spec = importlib.util.spec_from_file_location("python_table", ROOT / "bench" / "python_table.py")
    module = importlib.util.module_from_spec(spec)
    # Estimators of its own are pickled by this name.
    sys.modules["python_table"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["python_table"]


@pytest.mark.filterwarnings("ignore")
def test_methods_are_measured(script):
    pytest.importorskip("pandas")
    for method in ("mfga", "linear"):
        result = script.measure({"table": "diabetes", "method": method, "split": 0, "data": ""})
        assert min(result["cpu_seconds"], result["kib"], result["microseconds_per_row"]) > 0
        assert 50 < result["error"] < 62  # the target's deviation is 77


def test_texts_are_encoded_for_those_who_take_numbers(script, tmp_path):
    pandas = pytest.importorskip("pandas")
    (tmp_path / "adult").mkdir()
    rows = ["39, ?, Male, <=50K", "50, Private, Female, >50K", "20, Private, Male, <=50K", "61, Gov, Female, >50K"] * 6
    (tmp_path / "adult" / "adult.data").write_text("\n".join(rows) + "\n")
    (tmp_path / "adult" / "adult.test").write_text("|cross\n" + "\n".join(row + "." for row in rows) + "\n")
    x, y = script.read_table("adult", tmp_path)
    assert set(y) == {"<=50K", ">50K"} and script.text_columns(x) == ["x1", "x2"]
    assert pandas.isna(x["x1"][0]) and not pandas.isna(script.with_numbers_only(x, "linear")["x1"][0])
    for method in ("mfga", "linear"):
        result = script.measure({"table": "adult", "method": method, "split": 0, "data": str(tmp_path)})
        assert result["error"] == 0


def test_a_second_run_prints_what_there_is(script, tmp_path, monkeypatch, capsys):
    figures = {"seconds": 1.5, "cpu_seconds": 1.25, "microseconds_per_row": 0.5, "kib": 2048.0}
    lines = [
        {"table": "wine", "method": "mfga", "split": 0, "error": 2.0, "terms": 9, **figures},
        {"table": "wine", "method": "mfga", "split": 1, "error": 4.0, "terms": 11, **figures},
        {"table": "wine", "method": "gam", "split": 0, "skipped": "two classes only"},
    ]
    out = tmp_path / "results.jsonl"
    out.write_text("".join(json.dumps(line) + "\n" for line in lines))
    monkeypatch.setattr(script, "run_one", lambda *_: pytest.fail("it is there already"))
    monkeypatch.setattr(script, "NEEDED", {})
    arguments = ["python_table.py", "--tables", "wine", "--methods", "mfga", "gam", "--splits", "2", "--out", str(out)]
    monkeypatch.setattr(sys, "argv", arguments)
    script.main()
    printed = capsys.readouterr().out
    assert "| wine, % wrong | 3 ± 1 | - |" in printed
    assert "| mfga, 10 terms | 2 | 3 ± 1 | 1.5 | 1.25 | 2,048 | 0.5 |" in printed
    assert "| pyGAM | two classes only |" in printed
