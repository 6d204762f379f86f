"""Every format agrees with `predict`: exported models are compiled, run or interpreted, and compared on random rows.

What a format is run with may be missing; then its tests are skipped, saying so.
"""

import ctypes
import io
import json
import math
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import warnings
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import mfga
from mfga import MFGAClassifier, MFGARegressor

pandas = pytest.importorskip("pandas")
ROOT = pathlib.Path(__file__).resolve().parents[2]
FORMATS = ("c", "cpp", "python", "sql", "latex", "sympy", "onnx", "pmml", "json")
ROWS = 1000


class Case:
    """A fitted model, rows that it is asked about, and what it answers."""

    def __init__(self, name, model, rows):
        self.name, self.model, self.rows = name, model, rows
        self.is_classifier = isinstance(model, MFGAClassifier)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of texts that are not known
            if self.is_classifier:
                self.results = model.predict_proba(rows)
                self.labels = np.asarray(model.predict(rows)).astype(str)
                self.scores = model.decision_function(rows).reshape(len(rows), -1)
            else:
                self.results = np.asarray(model.predict(rows)).reshape(len(rows), -1)

    def column(self, name):
        """The values of a column, None where one is missing."""
        return [None if value is None or value != value else value for value in self.rows[name].tolist()]

    def check(self, results, labels=None, scores=None, rtol=1e-6):
        results = np.asarray(results, dtype=float).reshape(self.results.shape)
        sizes = np.abs(self.results).max()
        np.testing.assert_allclose(results, self.results, rtol=rtol, atol=1e-3 * rtol * sizes, err_msg=self.name)
        if scores is not None:
            scores = np.asarray(scores, dtype=float).reshape(self.scores.shape)
            np.testing.assert_allclose(scores, self.scores, rtol=rtol, atol=rtol * np.abs(self.scores).max())
        if labels is not None:
            # Rows on the border may go either way.
            ordered = np.sort(self.results, axis=1)
            is_clear = ordered[:, -1] - ordered[:, -2] > 1e-4
            assert is_clear.sum() > 0.9 * len(is_clear)
            assert (np.asarray(labels).astype(str)[is_clear] == self.labels[is_clear]).all()


def rounded(x):
    """Numbers that a float holds, so that those of ONNX are the same."""
    return np.asarray(x, dtype=np.float32).astype(float)


def numbers_table(rng, rows):
    x = rounded(rng.normal(size=(rows, 5)) * [1, 20, 0.01, 3, 1] + [0, 1000, 5, -3, 40])
    return pandas.DataFrame(x, columns=["age", "größe", "a \"b\" 'c' \\ */ ??/", "class", "e; DROP TABLE data"])


def asked_rows(frame, rng):
    """Rows like those of the training, and some far out or without a value."""
    rows = frame.sample(ROWS, replace=True, random_state=1).reset_index(drop=True)
    for name in rows.columns:
        if rows[name].dtype.kind != "f":
            continue
        values = rows[name].to_numpy() + rng.normal(size=ROWS) * rows[name].std()
        values[rng.random(ROWS) < 0.03] *= 5
        values[rng.random(ROWS) < 0.03] = np.nan
        rows[name] = rounded(values)
    return rows


def signal(frame):
    z = (frame - frame.mean()) / frame.std()
    names = list(frame.columns)
    return z[names[0]] + np.maximum(0, z[names[1]]) * z[names[2]] + np.sin(2 * z[names[3]])


FAMILIES = {
    "linear": "linear",
    "polynomial": "polynomial(degree=3)",
    "step": "step(knots=9)",
    "hinge": "hinge(interactions=2, knots=3)",
    "spline": "spline + spline(degree=0, knots=3) + spline(degree=5)",
    "periodic": "periodic(count=3)",
    "additive": "additive(order=2) + additive(kernel=intersection)",
    "gaussian": "gaussian(order=3)",
    "fourier": "fourier(count=60)",
    "landmark": "landmark(count=40)",
    "laplace": "landmark(count=40, kernel=laplace) + landmark(count=10, kernel=matern(0.5))",
    "matern": "landmark(count=20, kernel=matern(2.5)) + landmark(count=20, kernel=matern(1.5))",
    "kernel_power": "landmark(count=20, kernel=polynomial(3))",
    "nystrom": "nystrom(count=15)",
    "maclaurin": "maclaurin(count=40, sigma=3)",
}
SCALES = ("standard", "robust", "quantile")
PLAIN = {"tune": False, "ridge": 1e-3, "n_jobs": 1}


def family_cases(rng):
    frame = numbers_table(rng, 300)
    y = pandas.Series(signal(frame) + 0.1 * rng.normal(size=300))
    for i, (name, features) in enumerate(FAMILIES.items()):
        model = MFGARegressor(terms=8, features=features, scale=SCALES[i % 3], **PLAIN)
        yield name, model.fit(frame, y.rename(f"family {name}")), frame
    model = MFGARegressor(terms=4, features="step(knots=4)", scale="standard", **PLAIN)
    yield "plain steps", model.fit(frame, y), frame
    many = pandas.DataFrame(rounded(rng.normal(size=(300, 12))), columns=[f"c{i}" for i in range(12)])
    target = pandas.Series(signal(many), name="many columns")
    features = "gaussian(order=1) + fourier(count=20) + landmark(count=10) + landmark(count=10, kernel=laplace)"
    yield "many columns", MFGARegressor(terms=12, features=features, **PLAIN).fit(many, target), many
    yield (
        "mixing",
        MFGARegressor(terms=6, metric="full", features="linear + landmark(count=10)", ridge=1e-3).fit(
            many.iloc[:, :6], target.rename("mixed")
        ),
        many.iloc[:, :6],
    )


def loss_cases(rng):
    frame = numbers_table(rng, 400)
    s = signal(frame)
    spec = {"terms": 7, "features": "linear + hinge", **PLAIN}
    targets = {
        "huber": s,
        "quantile(0.8)": s,
        "poisson": rng.poisson(np.exp(0.4 * s)),
        "gamma": rng.gamma(2.0, np.exp(0.3 * s)),
    }
    for loss, y in targets.items():
        model = MFGARegressor(loss=loss, **spec).fit(frame, pandas.Series(y, name="loss " + loss[:5], dtype=float))
        yield "loss " + loss, model, frame
    two = pandas.DataFrame({"first": s, "second: 2": s**2})
    yield "two targets", MFGARegressor(**spec).fit(frame, two), frame
    names = np.array(["no", "yes; 'maybe'"])
    for loss in ("auto", "squared_hinge"):
        y = pandas.Series(names[(s > 0).astype(int)], name="two by " + loss)
        yield y.name, MFGAClassifier(loss=loss, **spec).fit(frame, y), frame
    y = np.where(s > 1, 3, np.where(s < -1, 1, 2))
    for loss in ("auto", "one_vs_rest"):
        labels = pandas.Series(y, name="three by " + loss)
        yield labels.name, MFGAClassifier(loss=loss, **spec).fit(frame, labels), frame


def text_cases(rng):
    n = 1500
    frame = pandas.DataFrame(
        {
            "size": rounded(np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n))),
            'it\'s "a" kind': rng.choice(["a", "b'; --", "ç", "?"], size=n),
            "town": np.where(
                rng.random(n) < 0.9, rng.choice(["here", "there"], size=n), [f"t{i % 40}" for i in range(n)]
            ),
            "sure": rng.choice(["x", "y"], size=n),
        }
    )
    s = frame["size"].fillna(1.0) + (frame["town"] == "here") - 2 * (frame["sure"] == "x")
    s += frame['it\'s "a" kind'].map({"a": 0.0, "b'; --": 1.0, "ç": 2.0, "?": -1.0})
    spec = {"terms": 14, "features": "linear + hinge(interactions=2, knots=3)", "ridge": 1e-2, "tune": False}
    asked = asked_rows(frame, rng)
    for name, texts in {"town": ["elsewhere", "t3", None], "sure": ["z", None, "nan"]}.items():
        values = np.array(asked[name], dtype=object)
        for text in texts:
            values[rng.random(ROWS) < 0.05] = text
        asked[name] = values
    yield "texts", MFGARegressor(**spec).fit(frame, pandas.Series(s, name="of texts")), asked
    labels = pandas.Series(np.where(s > 0, "up", np.where(s < -1.5, "down", "level")), name="class of texts")
    yield "classes of texts", MFGAClassifier(**spec).fit(frame, labels), asked


def golden_cases(rng):
    """Saved models: the file of the tests of the library, whose third input no row of a database comes near to."""
    text = json.loads((ROOT / "tests" / "model" / "golden_model.json").read_text())
    text["inputs"][2].update(mean=7.0, deviation=2.0)
    names = [f"column {i}" for i in range(text["n_columns"])]
    for entry in text["inputs"]:
        names[entry["column"]] = entry["name"]
    x = rounded(rng.normal(size=(ROWS, len(names))) * 3 + 5)
    x[rng.random(x.shape) < 0.02] = np.nan
    rows = pandas.DataFrame(x, columns=names)
    for name, changed in {"golden": {}, "without terms": {"terms": []}}.items():
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "model.json")
            path.write_text(json.dumps(text | changed))
            yield name, mfga.load(path), rows


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


@pytest.fixture(scope="module")
def postgres():
    """Runs scripts in a database server of its own, as another user than root."""
    folders = [*pathlib.Path("/usr/lib/postgresql").glob("*/bin"), *filter(None, [shutil.which("initdb")])]
    if not folders or shutil.which("psql") is None:
        pytest.skip("PostgreSQL is not installed (Debian's package postgresql)")
    programs = pathlib.Path(folders[-1])
    programs = programs if programs.is_dir() else programs.parent
    user = []
    folder = pathlib.Path(tempfile.mkdtemp())
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("PostgreSQL does not run as root, and there is no setpriv")
        os.chown(folder, 65534, 65534)
        user = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
    run = {"check": True, "capture_output": True, "text": True, "cwd": folder}
    settings = "-c listen_addresses= -c fsync=off -k " + str(folder)
    try:
        subprocess.run([*user, programs / "initdb", "-D", folder / "db", "-U", "tester", "-N", "-E", "UTF8"], **run)
        subprocess.run(
            [*user, programs / "pg_ctl", "-D", folder / "db", "-w", "-o", settings, "-l", folder / "log", "start"],
            **run,
        )
    except subprocess.CalledProcessError as error:
        shutil.rmtree(folder, ignore_errors=True)
        pytest.skip(f"PostgreSQL does not start here: {error.stderr}")

    def script(text):
        command = ["psql", "-X", "-q", "-h", str(folder), "-U", "tester", "-d", "postgres", "-v", "ON_ERROR_STOP=1"]
        done = subprocess.run([*command, "--csv", "-f", "-"], input=text, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout

    yield script
    subprocess.run([*user, programs / "pg_ctl", "-D", folder / "db", "-m", "immediate", "stop"], capture_output=True)
    shutil.rmtree(folder, ignore_errors=True)


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
        onnx.checker.check_model(onnx.load_from_string(content), full_check=True)
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


# All kinds of expressions; SymPy takes seconds for others, which differ in their numbers alone.
SYMPY_CASES = (
    "polynomial",
    "hinge",
    "plain steps",
    "additive",
    "gaussian",
    "loss gamma",
    "two by auto",
    "golden",
)


def test_sympy(cases):
    sympy = pytest.importorskip("sympy")
    for case in cases:
        if case.name not in SYMPY_CASES:
            continue
        scope = run_python(case.model.export("sympy"))
        # Symbols for missing values are there only if some were missing in the training.
        rows = case.rows
        known = [name for name in rows.columns if f"[{name} is missing]" not in scope["SYMBOLS"]]
        keep = rows[[name for name in known if rows[name].dtype.kind == "f"]].notna().all(axis=1)
        if any(rows[name].dtype.kind == "O" for name in rows.columns):
            keep &= rows["sure"].notna() & ~rows["sure"].isin(["nan"])
        values = [symbol_values(case, name, keep) for name in scope["SYMBOLS"]]
        results = scope["probabilities"] if case.is_classifier else scope["prediction"]
        results = results if isinstance(results, list) else [results]
        function = sympy.lambdify(list(scope["SYMBOLS"].values()), results, "numpy", cse=True)
        found = np.stack([np.broadcast_to(part, keep.sum()) for part in function(*values)], axis=1)
        np.testing.assert_allclose(found, case.results[keep], rtol=1e-6, atol=1e-9 * np.abs(case.results).max())


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


PMML = "{http://www.dmg.org/PMML-4_4}"


class PmmlEvaluator:
    """What the exported files use of PMML, by the words of its specification; evaluators from PyPI need Java."""

    FUNCTIONS = {
        "-": lambda a, b: a - b,
        "*": lambda a, b: a * b,
        "/": lambda a, b: a / b,
        "sum": lambda *a: math.fsum(a),
        "product": lambda *a: math.prod(a),
        "pow": lambda a, b: a**b,
        "exp": math.exp,
        "ln": math.log,
        "sqrt": math.sqrt,
        "cos": math.cos,
        "sin": math.sin,
        "abs": abs,
        "max": max,
        "min": min,
        "greaterOrEqual": lambda a, b: a >= b,
        "equal": lambda a, b: a == b,
        "isIn": lambda a, *b: a in b,
        "isNotIn": lambda a, *b: a not in b,
    }

    def __init__(self, text):
        self.root = ElementTree.fromstring(text)
        self.fields = self.root.findall(f"{PMML}TransformationDictionary/{PMML}DerivedField")
        self.model = self.root.find(f"{PMML}RegressionModel")

    def value(self, element, row):
        kind = element.tag.removeprefix(PMML)
        if kind == "Constant":
            return element.text if element.get("dataType") == "string" else float(element.text)
        if kind == "FieldRef":
            return row[element.get("field")]
        if kind == "NormContinuous":
            assert element.get("outliers") == "asExtremeValues"
            x = row[element.get("field")]
            points = [(float(point.get("orig")), float(point.get("norm"))) for point in element]
            return None if x is None else float(np.interp(x, *zip(*points, strict=True)))
        assert kind == "Apply"
        function = element.get("function")
        if function == "if":
            return self.value(element[1 if self.value(element[0], row) else 2], row)
        if function in ("and", "or"):
            return (all if function == "and" else any)(self.value(part, row) for part in element)
        a = [self.value(part, row) for part in element]
        if function in ("isMissing", "isNotMissing"):
            return (a[0] is None) == (function == "isMissing")
        return None if any(value is None for value in a) else self.FUNCTIONS[function](*a)

    def results(self, row):
        row = dict(row)
        for field in self.fields:
            row[field.get("name")] = self.value(field[0], row)
        sums = {}
        for table in self.model.findall(f"{PMML}RegressionTable"):
            parts = [float(part.get("coefficient")) * row[part.get("name")] for part in table]
            sums[table.get("targetCategory")] = float(table.get("intercept")) + sum(parts)
        if self.model.get("normalizationMethod") == "simplemax":
            return [value / sum(sums.values()) for value in sums.values()]
        outputs = self.model.findall(f"{PMML}Output/{PMML}OutputField[@feature='transformedValue']")
        others = [row[part[0].get("field")] for part in outputs if not part.get("name").startswith("score")]
        return others or list(sums.values())


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
        columns = [case.column(name) for name in case.rows.columns]
        some = range(0, ROWS, 20)  # it is slow
        rows = [dict(zip(case.rows.columns, row, strict=True)) for row in zip(*columns, strict=True)]
        found = np.array([evaluator.results(rows[i]) for i in some])
        expected = case.results[list(some)]
        np.testing.assert_allclose(
            found, expected, rtol=1e-6, atol=1e-9 * np.abs(case.results).max(), err_msg=case.name
        )


def test_latex(cases):
    for case in cases:
        text = case.model.export("latex")
        assert text.count("\\left") == text.count("\\right")
        assert re.sub(r"\\[{}]", "", text).count("{") == re.sub(r"\\[{}]", "", text).count("}")
        assert text.count("\\begin{cases}") == text.count("\\end{cases}")
        lines = text.splitlines()
        assert lines[1] == "\\begin{aligned}" and lines[-1] == "\\end{aligned}"
        # Nothing of a name is a command.
        assert "DROP" not in text or "\\text{e; DROP TABLE data}" in text
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
