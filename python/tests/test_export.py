"""Exported programs in C, C++ and Python agree with `predict` on random rows; files, and what is refused.

The other formats: test_export_sql.py, test_export_formulas.py. What a format is run with may be missing; then its tests
are skipped, saying so.
"""

import ctypes
import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from export_cases import PLAIN, Case, asked_rows, rounded, run_python

from mfga import MFGAClassifier, MFGARegressor

pandas = pytest.importorskip("pandas")

FORMATS = ("c", "cpp", "python", "sql", "latex", "sympy", "onnx", "pmml", "json")


def test_python(cases):
    for case in cases:
        module = run_python(case.model.export("python"))
        if case.is_classifier:
            case.check(module["predict_proba"](case.rows), module["predict"](case.rows), module["score"](case.rows))
        else:
            case.check(module["predict"](case.rows))
        assert set(module["COLUMNS"]) <= set(case.rows.columns)


def test_python_takes_arrays(table, quick):
    x, y = table
    model = MFGARegressor(**quick).fit(x, y)
    np.testing.assert_allclose(run_python(model.export("python"))["predict"](x), model.predict(x), rtol=1e-12)


# What warnings and a processor without an operating system ask of C.
C_FLAGS = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Os", "-ffreestanding"]


def compiler(name):
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"there is no {name}")
    return path


def doubles(values):
    return np.ascontiguousarray(values, dtype=float).ctypes.data_as(ctypes.POINTER(ctypes.c_double))


def call_compiled(case, library, name):
    """What the functions of a library that begin with a name say about the rows of a case."""
    pointer = ctypes.POINTER(ctypes.c_double)
    x = compiled_rows(case, library, name)
    outputs = case.results.shape[1]
    if case.is_classifier:
        fill = getattr(library, name + "_probabilities")
    elif outputs > 1:
        fill = getattr(library, name + "_predict")
    else:
        predict = getattr(library, name + "_predict")
        predict.restype, predict.argtypes = ctypes.c_double, [pointer]
        return np.array([predict(doubles(row)) for row in x]), None
    fill.restype, fill.argtypes = None, [pointer, pointer]
    results = np.empty((len(x), outputs))
    for row, result in zip(x, results, strict=True):
        fill(doubles(row), doubles(result))
    if not case.is_classifier:
        return results, None
    predict = getattr(library, name + "_predict")
    predict.restype, predict.argtypes = ctypes.c_int, [pointer]
    texts = [label.decode() for label in (ctypes.c_char_p * outputs).in_dll(library, name + "_labels")]
    return results, [texts[predict(doubles(row))] for row in x]


def compiled_rows(case, library, name):
    columns = json.loads(case.model.export("json"))["columns"]
    names = [column["name"] for column in columns]
    if columns:
        table = (ctypes.c_char_p * len(columns)).in_dll(library, name + "_columns")
        assert [entry.decode() for entry in table] == names
    x = np.empty((len(case.rows), len(columns)))
    for i, column in enumerate(columns):
        if "levels" not in column:
            x[:, i] = case.rows[column["name"]]
            continue
        level = getattr(library, name + "_level")
        level.restype, level.argtypes = ctypes.c_double, [ctypes.c_size_t, ctypes.c_char_p]
        x[:, i] = [level(i, None if text is None else text.encode()) for text in case.column(column["name"])]
    return x


def test_c(cases, tmp_path):
    for i, case in enumerate(cases):
        text = case.model.export("c", tmp_path / f"{i}.c")
        assert re.findall(r"#include <(.*)>", text) == ["math.h", "stddef.h"]
        assert text.isascii()
        command = [compiler("cc"), *C_FLAGS, "-fPIC", "-shared", f"{i}.c", "-lm", "-o", f"{i}.so"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        name = re.search(r"^\w+ (\w+)_predict\(", text, flags=re.MULTILINE)[1]
        case.check(*call_compiled(case, ctypes.CDLL(tmp_path / f"{i}.so"), name))


def test_cpp(cases, tmp_path):
    """All headers in one program, twice: they are made to be included."""
    main = ""
    for i, case in enumerate(cases):
        text = case.model.export("cpp", tmp_path / f"{i}.hpp")
        # They are all made for a target y.
        space = f"space{i}"
        name = re.search(r"^namespace (\w+) {", text, flags=re.MULTILINE)[1]
        main += f'#define {name} {space}\n#include "{i}.hpp"\n#include "{i}.hpp"\n#undef {name}\n'
        if case.is_classifier or case.results.shape[1] > 1:
            function = "probabilities" if case.is_classifier else "predict"
            main += f'extern "C" void p{i}(const double* x, double* out) {{ {space}::{function}(x, out); }}\n'
        else:
            main += f'extern "C" void p{i}(const double* x, double* out) {{ *out = {space}::predict(x); }}\n'
        if "inline double level(" in text:
            main += f'extern "C" double l{i}(std::size_t c, const char* t) {{ return {space}::level(c, t); }}\n'
    (tmp_path / "all.cpp").write_text(main)
    command = [compiler("c++"), "-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1", "-fPIC", "-shared"]
    done = subprocess.run([*command, "all.cpp", "-o", "all.so"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    library = ctypes.CDLL(tmp_path / "all.so")
    pointer = ctypes.POINTER(ctypes.c_double)
    for i, case in enumerate(cases):
        columns = json.loads(case.model.export("json"))["columns"]
        x = np.empty((len(case.rows), len(columns)))
        for j, column in enumerate(columns):
            values = case.column(column["name"])
            if "levels" in column:
                level = getattr(library, f"l{i}")
                level.restype, level.argtypes = ctypes.c_double, [ctypes.c_size_t, ctypes.c_char_p]
                values = [level(j, (text or "").encode()) for text in values]
            x[:, j] = values
        function = getattr(library, f"p{i}")
        function.restype, function.argtypes = None, [pointer, pointer]
        results = np.empty(case.results.shape)
        for row, result in zip(x, results, strict=True):
            function(doubles(row), doubles(result))
        case.check(results)


def test_files_are_written_whole(table, quick, tmp_path):
    x, y = table
    model = MFGARegressor(**quick).fit(x, y)
    for name in FORMATS:
        content = model.export(name, tmp_path / name)
        assert isinstance(content, bytes if name == "onnx" else str)
        found = (tmp_path / name).read_bytes()
        assert found == (content if name == "onnx" else content.encode())
        assert content == model.export(name)
    assert sorted(os.listdir(tmp_path)) == sorted(FORMATS)


def test_what_is_refused(table, quick, tmp_path):
    x, y = table
    with pytest.raises(ValueError, match='there is no format "fortran"; expected one of: c, cpp, python'):
        MFGARegressor(**quick).fit(x, y).export("fortran", tmp_path / "f")
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        MFGARegressor().export("c")
    frame = pandas.DataFrame(x, columns=["a\0b", "b\x01", "c", "d"])
    model = MFGARegressor(**quick | {"features": "linear"}).fit(frame, y)
    for name, what in {"sql": "a zero byte", "pmml": "a control character"}.items():
        with pytest.raises(ValueError, match=what):
            model.export(name, tmp_path / name)
    assert os.listdir(tmp_path) == []
    # These can say it.
    np.testing.assert_allclose(run_python(model.export("python"))["predict"](frame), model.predict(frame))


def test_names_do_not_leave_their_places(tmp_path):
    """Whatever a model file calls its columns and labels, nothing but the model is run."""
    nasty = [
        '"; import os #',
        "*/ int evil(void); /*",
        "'; DROP TABLE data; --",
        "\n#include <evil>\n",
        '"""',
        "${x}",
        "\\",
    ]
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(rounded(rng.normal(size=(200, len(nasty)))), columns=nasty)
    y = pandas.Series(np.where(frame.sum(axis=1) > 0, nasty[0], nasty[2]), name=nasty[1])
    case = Case("nasty", MFGAClassifier(terms=12, features="linear", **PLAIN).fit(frame, y), asked_rows(frame, rng))
    module = run_python(case.model.export("python"))
    case.check(module["predict_proba"](case.rows), module["predict"](case.rows))
    assert module["LABELS"] == sorted([nasty[0], nasty[2]])
    text = case.model.export("c", tmp_path / "nasty.c")
    assert "int evil(" not in re.sub(r'"(\\.|[^"\\])*"', "", re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL))
    subprocess.run(
        [compiler("cc"), *C_FLAGS, "-fPIC", "-shared", "nasty.c", "-o", "nasty.so"], cwd=tmp_path, check=True
    )
    library = ctypes.CDLL(tmp_path / "nasty.so")
    case.check(*call_compiled(case, library, "int_evil_void"))
    ElementTree.fromstring(case.model.export("pmml"))
    json.loads(case.model.export("json"))
    assert sys.modules.get("evil") is None
