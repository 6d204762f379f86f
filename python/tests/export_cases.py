"""Models of every family, scale, loss and kind of column, with rows to ask them about, for test_export*.py."""

import json
import pathlib
import tempfile
import warnings

import numpy as np
import pytest

import mfga
from mfga import MFGAClassifier, MFGARegressor

pandas = pytest.importorskip("pandas")

ROOT = pathlib.Path(__file__).resolve().parents[2]
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


def all_cases():
    rng = np.random.default_rng(7)
    found = []
    for name, model, frame in [*family_cases(rng), *loss_cases(rng)]:
        found.append(Case(name, model, asked_rows(frame, rng)))
    for name, model, rows in [*text_cases(rng), *golden_cases(rng)]:
        found.append(Case(name, model, rows))
    return found


# What the tests of several formats share.


def run_python(text):
    scope = {}
    exec(compile(text, "exported", "exec"), scope)
    return scope


def table_columns(case):
    return [(name, "TEXT" if case.rows[name].dtype.kind == "O" else "DOUBLE PRECISION") for name in case.rows.columns]


def level_of(entry, text):
    if text is None:
        return entry["level_of_missing"]
    return entry["level_of_text"].get(text, entry["level_of_unknown"])
