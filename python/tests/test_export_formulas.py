"""Exported models that other tools read agree with `predict` on random rows: ONNX, SymPy, JSON, PMML, LaTeX."""

import ast
import json
import math
import re

import numpy as np
import pytest
from export_cases import ROWS, level_of, run_python, table_columns
from latex_evaluator import LatexEvaluator
from pmml_evaluator import PMML, PmmlEvaluator

from mfga import MFGARegressor

pandas = pytest.importorskip("pandas")


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
