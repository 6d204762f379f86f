"""Every format agrees with `predict`: exported models are compiled, run or interpreted, and compared on random rows.

What a format is run with may be missing; then its tests are skipped, saying so.
"""

import ast
import ctypes
import io
import json
import math
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from export_cases import (
    PLAIN,
    ROWS,
    Case,
    asked_rows,
    family_cases,
    golden_cases,
    loss_cases,
    rounded,
    text_cases,
)
from latex_evaluator import LatexEvaluator
from pmml_evaluator import PMML, PmmlEvaluator

from mfga import MFGAClassifier, MFGARegressor

pandas = pytest.importorskip("pandas")

FORMATS = ("c", "cpp", "python", "sql", "latex", "sympy", "onnx", "pmml", "json")


@pytest.fixture(scope="module")
def cases():
    rng = np.random.default_rng(7)
    found = []
    for name, model, frame in [*family_cases(rng), *loss_cases(rng)]:
        found.append(Case(name, model, asked_rows(frame, rng)))
    for name, model, rows in [*text_cases(rng), *golden_cases(rng)]:
        found.append(Case(name, model, rows))
    return found


def run_python(text):
    scope = {}
    exec(compile(text, "exported", "exec"), scope)
    return scope


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


def with_key(statement):
    """The statement with the number of the row among its results, as its comment says."""
    head, last = statement.rsplit("\nFROM ", 1)
    return f'{head},\n  t."row key"\nFROM {last}'


def sql_results(case, names, rows):
    """The results of a statement in the order of the rows, from what it selects."""
    rows = sorted(rows, key=lambda row: int(row[-1]))
    results = case.results.shape[1]
    first = 1 if case.is_classifier else 0
    labels = [row[0] for row in rows] if case.is_classifier else None
    assert names[0] == ("label" if case.is_classifier else names[0])
    case.check([row[first : first + results] for row in rows], labels)


def table_columns(case):
    return [(name, "TEXT" if case.rows[name].dtype.kind == "O" else "DOUBLE PRECISION") for name in case.rows.columns]


def sql_name(name):
    return '"' + name.replace('"', '""') + '"'


def create_table(case):
    columns = ", ".join(f"{sql_name(name)} {kind}" for name, kind in table_columns(case))
    return f'CREATE TABLE "data" ("row key" INTEGER, {columns})'


def test_sqlite(cases):
    try:
        sqlite3.connect(":memory:").execute("SELECT exp(1.0), ln(2.0)")
    except sqlite3.OperationalError:
        pytest.skip("this SQLite was built without mathematical functions")
    for case in cases:
        connection = sqlite3.connect(":memory:")
        connection.execute(create_table(case))
        columns = [case.column(name) for name, _ in table_columns(case)]
        marks = ", ".join("?" * (len(columns) + 1))
        connection.executemany(f'INSERT INTO "data" VALUES ({marks})', zip(range(ROWS), *columns, strict=True))
        cursor = connection.execute(with_key(case.model.export("sql")))
        rows = cursor.fetchall()
        sql_results(case, [entry[0] for entry in cursor.description], rows)


def test_postgresql(cases, postgres):
    import csv

    for case in cases:
        # CSV is read with \N as NULL, so that empty texts stay what they are.
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        columns = [case.column(name) for name, _ in table_columns(case)]
        for i, row in enumerate(zip(*columns, strict=True)):
            writer.writerow([i, *("\\N" if value is None else value for value in row)])
        script = f'DROP TABLE IF EXISTS "data";\n{create_table(case)};\n'
        script += "COPY \"data\" FROM STDIN WITH (FORMAT csv, NULL '\\N');\n" + text.getvalue() + "\\.\n"
        script += "SET extra_float_digits = 3;\n" + with_key(case.model.export("sql"))
        rows = list(csv.reader(io.StringIO(postgres(script))))
        sql_results(case, rows[0], rows[1:])


def test_onnx(cases):
    onnx = pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    for case in cases:
        content = case.model.export("onnx")
        loaded = onnx.load_from_string(content)
        onnx.checker.check_model(loaded, full_check=True)
        used = {name for node in loaded.graph.node for name in node.input}
        assert {tensor.name for tensor in loaded.graph.initializer} <= used, case.name
        options = runtime.SessionOptions()
        options.intra_op_num_threads = 1
        session = runtime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        inputs = {}
        for entry in session.get_inputs():
            if entry.name == "X":
                inputs["X"] = case.rows.to_numpy(dtype=np.float32)
            elif entry.type == "tensor(string)":
                texts = ["" if text is None else text for text in case.column(entry.name)]
                inputs[entry.name] = np.array(texts, dtype=object).reshape(-1, 1)
            else:
                inputs[entry.name] = case.rows[[entry.name]].to_numpy(dtype=np.float32)
        names = [entry.name for entry in session.get_outputs()]
        found = dict(zip(names, session.run(names, inputs), strict=True))
        if case.is_classifier:
            case.check(found["probabilities"], found["label"], found["score"], rtol=1e-4)
        else:
            case.check(found["prediction"], rtol=1e-4)
        check_contributions(case, found)


def check_contributions(case, found):
    """They are what rows differ by."""
    whole = found["score"] if case.is_classifier or case.name in ("loss poisson", "loss gamma") else found["prediction"]
    parts = found["contributions"] if "contributions" in found else np.zeros((len(whole), 1))
    rest = whole - parts.sum(axis=-1).reshape(whole.shape)
    scale = np.abs(parts).max() + np.abs(whole).max()
    assert np.ptp(rest, axis=0).max() <= 1e-5 * scale, case.name


def test_onnx_gives_numbers_for_labels_that_are_numbers(cases):
    runtime = pytest.importorskip("onnxruntime")
    types = {}
    for case in cases:
        if case.is_classifier:
            session = runtime.InferenceSession(case.model.export("onnx"), providers=["CPUExecutionProvider"])
            types[case.name] = session.get_outputs()[0].type
    assert types["three by auto"] == "tensor(int64)"
    assert types["two by auto"] == "tensor(string)"


def rows_as_in_training(case):
    """Which rows have missing values in those columns alone that had such in the training."""
    text = case.model.export("sympy")
    symbols = {ast.literal_eval(name) for name in re.findall(r'SYMBOLS\[("(?:\\.|[^"\\])*")\]', text)}
    keep = np.ones(ROWS, dtype=bool)
    for entry in json.loads(case.model.export("json"))["columns"]:
        if f"[{entry['name']} is missing]" in symbols:
            continue
        if "levels" not in entry:
            keep &= case.rows[entry["name"]].notna()
        elif entry["level_of_missing"] < 0:
            levels = np.array([level_of(entry, text) for text in case.column(entry["name"])])
            keep &= levels != entry["level_of_missing"]
    assert keep.sum() > 0.5 * ROWS
    return keep


def check_kept(case, keep, found, of_largest=1e-9):
    found = np.stack([np.broadcast_to(part, keep.sum()) for part in found], axis=1)
    atol = of_largest * np.abs(case.results).max()
    np.testing.assert_allclose(found, case.results[keep], rtol=1e-6, atol=atol, err_msg=case.name)


def test_sympy(cases):
    sympy = pytest.importorskip("sympy")
    for case in cases:
        scope = run_python(case.model.export("sympy"))
        keep = rows_as_in_training(case)
        values = [symbol_values(case, name, keep) for name in scope["SYMBOLS"]]
        results = scope["probabilities"] if case.is_classifier else scope["prediction"]
        results = results if isinstance(results, list) else [results]
        function = sympy.lambdify(list(scope["SYMBOLS"].values()), results, "numpy", cse=True)
        check_kept(case, keep, function(*values))


def symbol_values(case, name, keep):
    if name in case.rows.columns:
        return case.rows.loc[keep, name].fillna(0.0).to_numpy(dtype=float)
    column, missing = re.fullmatch(r"\[(.*) is missing\]", name, flags=re.DOTALL), None
    if column:
        missing = case.rows.loc[keep, column[1]].isna()
        return missing.to_numpy(dtype=float)
    column, level = re.fullmatch(r"\[(.*) = (.*)\]", name, flags=re.DOTALL).groups()
    entry = next(e for e in json.loads(case.model.export("json"))["columns"] if e["name"] == column)
    wanted = entry["levels"].index(level)
    return np.array(
        [level_of(entry, text) == wanted for text in np.array(case.column(column), dtype=object)[keep]], float
    )


def level_of(entry, text):
    if text is None:
        return entry["level_of_missing"]
    return entry["level_of_text"].get(text, entry["level_of_unknown"])


def test_json(cases):
    """An interpreter of the documented kinds."""
    for case in cases:
        content = json.loads(case.model.export("json"))
        values = []
        numbers_of = {"exp": np.exp, "log": np.log, "sqrt": np.sqrt, "cos": np.cos, "sin": np.sin, "abs": np.abs}
        cells = []
        for entry in content["columns"]:
            texts = case.column(entry["name"])
            is_text = "levels" in entry
            cells.append(
                np.array([level_of(entry, t) for t in texts]) if is_text else case.rows[entry["name"]].to_numpy()
            )
        for node in content["nodes"]:
            a = [values[i] for i in node.get("arguments", [])]
            n = node.get("numbers")
            kind = node["kind"]
            x = cells[node["column"]] if "column" in node else None
            if kind in numbers_of:
                value = numbers_of[kind](a[0])
            elif kind == "constant":
                value = n[0]
            elif kind == "column":
                value = x
            elif kind == "sum":
                value = n[-1] + sum(w * v for w, v in zip(n, a, strict=False))
            elif kind == "product":
                value = math.prod(a)
            elif kind == "quotient":
                value = a[0] / a[1]
            elif kind == "power":
                value = a[0] ** n[0]
            elif kind == "square_distance":
                value = sum((v - c) ** 2 for c, v in zip(n, a, strict=True))
            elif kind == "distance":
                value = sum(np.abs(v - c) for c, v in zip(n, a, strict=True))
            elif kind in ("max", "min"):
                value = (np.maximum if kind == "max" else np.minimum)(*a)
            elif kind == "line":
                value = np.interp(a[0], n[: len(n) // 2], n[len(n) // 2 :])
            elif kind == "select":
                value = np.where(*a)
            elif kind == "at_least":
                value = a[0] >= a[1]
            elif kind == "is_missing":
                value = x == -1 if x.dtype.kind == "i" else np.isnan(x)
            else:
                assert kind == "is_level"
                value = x == n[0]
            values.append(value)
        places = content["probabilities" if case.is_classifier else "predictions"]
        case.check(np.stack([np.broadcast_to(values[i], ROWS) for i in places], axis=1))


def test_pmml(cases):
    for case in cases:
        evaluator = PmmlEvaluator(case.model.export("pmml"))
        assert evaluator.root.get("version") == "4.4"
        kinds = [child.tag.removeprefix(PMML) for child in evaluator.root]
        assert kinds == ["Header", "DataDictionary", "TransformationDictionary", "RegressionModel"]
        assert [child.tag.removeprefix(PMML) for child in evaluator.model][:2] == ["MiningSchema", "Output"]
        fields = evaluator.root.findall(f"{PMML}DataDictionary/{PMML}DataField")
        names = [field.get("name") for field in fields] + [field.get("name") for field in evaluator.fields]
        assert len(set(names)) == len(names)
        columns = {
            name: np.array(case.column(name), dtype=object) if kind == "TEXT" else case.rows[name].to_numpy()
            for name, kind in table_columns(case)
        }
        case.check(evaluator.results(columns))


class KeptRows:
    """What formulas say of columns."""

    def __init__(self, case, keep):
        self.rows = case.rows[keep]
        entries = json.loads(case.model.export("json"))["columns"]
        self.levels = {
            entry["name"]: (entry["levels"], np.array([level_of(entry, t) for t in case.column(entry["name"])])[keep])
            for entry in entries
            if "levels" in entry
        }

    def numbers(self, name):
        return self.rows[name].to_numpy()

    def is_missing(self, name):
        return self.levels[name][1] == -1 if name in self.levels else self.rows[name].isna().to_numpy()

    def is_level(self, name, level):
        names, levels = self.levels[name]
        return levels == names.index(level)


def test_latex(cases):
    for case in cases:
        text = case.model.export("latex")
        assert "DROP" not in text or "\\text{e; DROP TABLE data}" in text  # nothing of a name is a command
        keep = rows_as_in_training(case)
        evaluator = LatexEvaluator(text, KeptRows(case, keep))
        results = list(evaluator.values.values())[-case.results.shape[1] :]
        check_kept(case, keep, results, of_largest=1e-6)  # nine digits


def test_latex_escapes_names():
    plain = pandas.DataFrame({"a_b": np.arange(50.0)})
    text = (
        MFGARegressor(terms=1, features="linear", ridge=0, tune=False).fit(plain, 3 * plain["a_b"] + 1).export("latex")
    )
    assert "\\text{a\\_b} - 24.5" in text


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
