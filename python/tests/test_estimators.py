"""Regression and classification: what they learn, weights, several targets and classes, going on from a model."""

import copy
import io
import pickle
import re

import joblib
import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import NotFittedError

from mfga import MFGAClassifier, MFGARegressor
from mfga._progress import with_line


def test_a_known_formula_is_found(table, quick):
    model = MFGARegressor(**{**quick, "terms": 2}).fit(*table)
    assert model.score(*table) > 0.98
    assert "x0" in model.formula_ and "max(0" in model.formula_
    assert list(model.terms_["family"]) == [term["family"] for term in model._model.terms()]
    assert model.terms_["inputs"].map(tuple).isin([("x0",), ("x1",)]).all()


def test_predictions_are_the_sum_of_the_terms():
    x = np.random.default_rng(0).normal(size=(100, 2))
    y = 3 * x[:, 0] - 2 * x[:, 1] + 1
    model = MFGARegressor(terms=2, features="linear", ridge=0.0, tune=False, scale="standard").fit(x, y)
    coefficients = dict(zip(model.terms_["term"], model.terms_["coefficient"], strict=True))
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    by_hand = y.mean() + coefficients["x0"] * z[:, 0] + coefficients["x1"] * z[:, 1]
    np.testing.assert_allclose(model.predict(x), by_hand, atol=1e-8)
    np.testing.assert_allclose(model.predict(x), y, atol=1e-6)


def test_one_row_gets_what_it_gets_in_a_table(table, quick):
    x, y = table
    model = MFGARegressor(**quick).fit(x, y)
    alone = np.concatenate([model.predict(x[i : i + 1]) for i in range(20)])
    assert np.array_equal(alone, model.predict(x)[:20])


def test_rows_are_checked_even_if_they_are_few(table, quick):
    x, y = table
    model = MFGARegressor(**quick).fit(x, y)
    row = x[:1].copy()
    row[0, 2] = np.inf
    with pytest.raises(ValueError, match="Input X contains infinity"):
        model.predict(row)
    with pytest.raises(ValueError, match="3 features, but MFGARegressor is expecting 4"):
        model.predict(x[:1, :3])
    with pytest.raises(NotFittedError):
        MFGARegressor().predict(row)


def test_weights_count_rows(quick):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 3))
    y = x[:, 0] + rng.normal(size=200)
    weights = rng.integers(0, 3, size=200)
    weighted = MFGARegressor(**quick).fit(x, y, sample_weight=weights)
    repeated = MFGARegressor(**quick).fit(np.repeat(x, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.predict(x), repeated.predict(x), rtol=1e-6)
    assert not np.allclose(weighted.predict(x), MFGARegressor(**quick).fit(x, y).predict(x))
    with pytest.raises(ValueError, match="all of `sample_weight` are 0|at least one non-zero"):
        MFGARegressor(**quick).fit(x, y, sample_weight=np.zeros(200))
    with pytest.raises(ValueError, match="[Nn]egative"):
        MFGARegressor(**quick).fit(x, y, sample_weight=-np.ones(200))


def test_groups_are_held_out_together():
    """Rows that stand four times: held out one by one, they make any number of terms look good."""
    rng = np.random.default_rng(0)
    x = np.repeat(rng.normal(size=(60, 5)), 4, axis=0)
    y = np.repeat(x[::4, 0] + rng.normal(size=60), 4)
    groups = np.repeat([f"house {i}" for i in range(60)], 4)
    options = {"features": "hinge(knots=30)", "tune": False}
    together = MFGARegressor(**options).fit(x, y, groups=groups)
    assert together.n_terms_ < MFGARegressor(**options).fit(x, y).n_terms_
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        MFGARegressor(**options).fit(x, y, groups=groups[1:])
    for nothing in (None, float("nan")):
        with pytest.raises(ValueError, match="`groups` has missing values"):
            MFGARegressor(**options).fit(x, y, groups=np.array([nothing, *groups[1:]], dtype=object))
    with pytest.raises(ValueError, match="`groups` mixes kinds"):
        MFGARegressor(**options).fit(x, y, groups=np.array([1, *groups[1:]], dtype=object))


def test_several_targets(table, quick):
    x, y = table
    both = np.column_stack([y, 100 * x[:, 2] + 5])
    model = MFGARegressor(**{**quick, "terms": 8}).fit(x, both)
    assert model.predict(x).shape == (300, 2)
    assert model.score(x, both) > 0.95
    assert {"coefficient y0", "coefficient y1"} <= set(model.terms_.columns)
    one = MFGARegressor(**quick).fit(x, y.reshape(-1, 1))
    assert one.predict(x).shape == (300, 1)
    assert np.array_equal(one.predict(x).ravel(), MFGARegressor(**quick).fit(x, y).predict(x))


@pytest.mark.parametrize("loss", ["huber", "poisson", "gamma"])
def test_losses(loss, quick):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 2))
    y = np.exp(0.5 * x[:, 0]) * rng.gamma(20, 1 / 20, size=300)
    model = MFGARegressor(loss=loss, **quick).fit(x, y)
    assert model._model.loss.startswith(loss)
    assert np.corrcoef(model.predict(x), np.exp(0.5 * x[:, 0]))[0, 1] > 0.9
    if loss != "huber":
        assert (model.predict(x) > 0).all()
        with pytest.raises(ValueError, match=f"the {loss} loss expects"):
            MFGARegressor(loss=loss, **quick).fit(x, y - y.max())


def test_quantiles(quick):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(600, 2))
    y = x[:, 0] + rng.normal(size=600)
    model = MFGARegressor(loss="quantile(0.9)", **quick).fit(x, y)
    assert 0.87 < np.mean(y <= model.predict(x)) < 0.93


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "one_vs_rest"])
def test_losses_of_two_classes(loss, quick):
    rng = np.random.default_rng(2)
    x = rng.normal(size=(300, 2))
    y = np.where(x[:, 0] + 0.3 * rng.normal(size=300) > 0, "yes", "no")
    model = MFGAClassifier(loss=loss, **quick).fit(x, y)
    assert model.score(x, y) > 0.85
    chances = model.predict_proba(x)
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    assert model.decision_function(x).shape == (300,)
    assert np.array_equal(model.predict(x) == "yes", model.decision_function(x) > 0)
    assert np.array_equal(model.predict(x) == "yes", chances[:, 1] > 0.5)


@pytest.mark.parametrize("loss", ["softmax", "one_vs_rest"])
def test_losses_of_several_classes(loss, classes, quick):
    x, y = classes
    model = MFGAClassifier(loss=loss, **{**quick, "terms": 10}).fit(x, y)
    assert model.score(x, y) > 0.85
    np.testing.assert_allclose(model.predict_proba(x).sum(axis=1), 1)
    with pytest.raises(ValueError, match="`loss"):
        MFGAClassifier(loss="squared_hinge", **quick).fit(x, y)


def test_two_classes():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(300, 2))
    y = x[:, 0] + 0.3 * rng.normal(size=300) > 0
    model = MFGAClassifier(terms=3, features="linear + hinge", tune=False).fit(x, y)
    assert model.classes_.dtype == bool
    assert model.score(x, y) > 0.85
    scores, chances = model.decision_function(x), model.predict_proba(x)
    assert scores.shape == (300,) and chances.shape == (300, 2)
    np.testing.assert_allclose(chances[:, 1], 1 / (1 + np.exp(-scores)))
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    assert np.array_equal(model.predict(x), scores > 0)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(x)), chances)


def test_several_classes(classes, quick):
    x, y = classes
    model = MFGAClassifier(**{**quick, "terms": 10}).fit(x, y)
    assert list(model.classes_) == ["high", "low", "middle"]
    assert model.score(x, y) > 0.9
    chances = model.predict_proba(x)
    assert chances.shape == (400, 3)
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    assert np.array_equal(model.classes_[chances.argmax(axis=1)], model.predict(x))
    assert model.decision_function(x).shape == (400, 3)


def test_weights_of_classes(quick):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(600, 2))
    y = (x[:, 0] + rng.normal(size=600) > 1.5).astype(int)
    plain, balanced = (MFGAClassifier(class_weight=weight, **quick).fit(x, y) for weight in (None, "balanced"))
    rare = y == 1
    assert balanced.predict(x)[rare].mean() > plain.predict(x)[rare].mean() + 0.2
    given = MFGAClassifier(class_weight={0: 1, 1: 3}, **quick).fit(x, y)
    weighted = MFGAClassifier(**quick).fit(x, y, sample_weight=np.where(rare, 3, 1))
    assert np.array_equal(given.decision_function(x), weighted.decision_function(x))


@pytest.mark.parametrize("names", [[2, 5, 10], ["c", "d", "a", "b"]])
@pytest.mark.parametrize("dropped", [1, 2])
def test_classes_without_weight_are_none(names, dropped, quick):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(600, 3))
    names = np.array(names)
    y = names[np.abs(x[:, : len(names) - 1]).argmax(axis=1) + (x[:, 0] > 1)]
    gone = names[:dropped]
    kept = ~np.isin(y, gone)
    options = {**quick, "terms": 8}
    if len(names) - dropped == 1:
        with pytest.raises(ValueError, match="1 class"):
            MFGAClassifier(**options).fit(x, y, sample_weight=kept.astype(float))
        return
    expected = MFGAClassifier(**options).fit(x[kept], y[kept])
    weights = {name: 0 if name in gone else 1 for name in names.tolist()}
    for model in (
        MFGAClassifier(**options).fit(x, y, sample_weight=kept.astype(float)),
        MFGAClassifier(class_weight=weights, **options).fit(x, y),
    ):
        assert np.array_equal(model.classes_, np.unique(names[dropped:]))
        assert np.array_equal(model.predict(x), expected.predict(x))
        np.testing.assert_allclose(model.predict_proba(x), expected.predict_proba(x), atol=1e-9)
        assert model.score(x[kept], y[kept]) > 0.6


def test_weights_of_classes_and_rows(classes, quick):
    x, y = classes
    with pytest.raises(ValueError, match="sample_weight.shape == .*expected"):
        MFGAClassifier(class_weight="balanced", **quick).fit(x, y, sample_weight=np.ones(7))
    with pytest.raises(ValueError, match="[Nn]egative"):
        MFGAClassifier(class_weight="balanced", **quick).fit(x, y, sample_weight=-np.ones(400))


def test_a_fit_that_fails_leaves_the_estimator_as_it_was(table, classes, quick):
    frame = pytest.importorskip("pandas").DataFrame(table[0], columns=list("abcd"))
    for model, x, y in ((MFGARegressor(**quick), frame, table[1]), (MFGAClassifier(**quick), *classes)):
        with pytest.raises(ValueError, match='the loss is "none"'):
            model.set_params(loss="none").fit(x, y)
        assert not hasattr(model, "n_features_in_") and not hasattr(model, "feature_names_in_")
        model.set_params(loss="auto").fit(x, y)
        before = model.predict(x)

        def interrupt(progress):
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            model.set_params(callback=interrupt).fit(np.ones((len(y), 1)) * np.arange(len(y))[:, None], y)
        assert model.n_features_in_ == x.shape[1]
        assert hasattr(model, "feature_names_in_") == (x is frame)
        assert np.array_equal(model.predict(x), before)


def test_one_class_is_refused(table, quick):
    x, _ = table
    with pytest.raises(ValueError, match="one class"):
        MFGAClassifier(**quick).fit(x, np.ones(300))


def test_real_tables(quick):
    x, y = load_iris(return_X_y=True)
    assert MFGAClassifier(**quick).fit(x, y).score(x, y) > 0.95
    x, y = load_digits(return_X_y=True)
    half = MFGAClassifier(terms=40, features="linear", per_step=5, tune=False, ridge=1.0).fit(x[::2], y[::2])
    assert half.score(x[1::2], y[1::2]) > 0.9


def test_going_on_from_a_model(table, quick):
    model = MFGARegressor(**{**quick, "terms": 2}, warm_start=True).fit(*table)
    first = list(model.terms_["term"])
    model.set_params(terms=4).fit(*table)
    assert list(model.terms_["term"])[:2] == first
    assert model.n_terms_ == 4
    fresh = MFGARegressor(**{**quick, "terms": 4}).fit(*table)
    np.testing.assert_allclose(model.predict(table[0]), fresh.predict(table[0]), rtol=0.1, atol=0.1)


@pytest.mark.parametrize("copied", ["pickle", "joblib", "deepcopy", "skops"])
def test_copies_predict_the_same_bits(classes, quick, copied, tmp_path):
    x, y = classes
    model = MFGAClassifier(**quick).fit(x, y)
    model.predict(x)  # threads that predicted do not travel along
    if copied == "pickle":
        again = pickle.loads(pickle.dumps(model))
    elif copied == "joblib":
        joblib.dump(model, tmp_path / "model")
        again = joblib.load(tmp_path / "model")
    elif copied == "skops":
        io_of_skops = pytest.importorskip("skops.io")
        text = io_of_skops.dumps(model)
        # The class alone asks for trust: what it holds are texts, numbers and arrays.
        assert io_of_skops.get_untrusted_types(data=text) == ["mfga._estimators.MFGAClassifier"]
        again = io_of_skops.loads(text, trusted=["mfga._estimators.MFGAClassifier"])
    else:
        again = copy.deepcopy(model)
    assert np.array_equal(again.decision_function(x), model.decision_function(x))
    assert again.get_params() == model.get_params()
    assert again.formula_ == model.formula_


def test_the_state_is_text(classes, quick):
    x, y = classes
    state = MFGAClassifier(**quick).fit(x, y).__getstate__()
    assert state["_model"].startswith("{") and '"mfga-model"' in state["_model"]
    broken = MFGAClassifier()
    with pytest.raises(ValueError):
        broken.__setstate__({**state, "_model": state["_model"].replace('"version"', '"vision"')})


class Stream(io.StringIO):
    """Keeps what a screen shows: after a carriage return a line is written over."""

    def screens(self):
        line, shown = "", []
        for part in self.getvalue().split("\r")[1:]:
            line = part.rstrip("\n") + line[len(part.rstrip("\n")) :]
            shown.append(line.rstrip())
        return shown


def test_progress_is_shown(table, monkeypatch):
    monkeypatch.setattr("mfga._progress.INTERVAL", 0)
    stream = Stream()
    monkeypatch.setattr("sys.stderr", stream)
    seen = []
    MFGARegressor(verbose=1, features="linear + hinge", callback=lambda progress: seen.append(progress)).fit(*table)
    screens = stream.screens()
    assert len(screens) == len(seen) + 1 and stream.getvalue().endswith("\n")
    bars = [re.fullmatch(r"\[(#*) *\] .* terms, risk [^ ]+, [0-9.]+ s", screen) for screen in screens]
    assert all(bars), "nothing of a longer line stays"
    lengths = [len(bar[1]) for bar in bars]
    assert lengths[0] < 6 and lengths[-1] == 24
    with with_line(print, 0, stream) as callback:
        assert callback is print


def test_progress_of_a_fit_that_fails_is_not_complete(table, quick):
    stream = Stream()

    def fail(progress):
        if progress.terms == 2:
            raise LookupError

    with pytest.raises(LookupError), with_line(fail, 1, stream) as callback:
        MFGARegressor(callback=callback, **quick).fit(*table)
    assert stream.screens()[-1].startswith("[" + "#" * 10 + " " * 14 + "] 2 of 5 terms")
    assert stream.getvalue().endswith("\n")


def test_the_report_tells_what_was_done(table):
    report = MFGARegressor(terms=5).fit(*table).report_
    assert report["tuning"] is not None
    assert report["rows"] == 300 and 1 <= report["terms"] <= 5
    assert report["risk"] < report["initial_risk"]
    assert sum(report["seconds"].values()) > 0
    report = MFGARegressor(terms=5, ridge="cv", folds=3, ridges=[0.1, 1], features="linear").fit(*table).report_
    assert report["cross_validation"]["ridges"] == [0.1, 1]
    assert report["cross_validation"]["folds"] == 3
