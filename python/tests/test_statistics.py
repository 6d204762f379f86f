"""Models from sums over rows: `partial_fit` and `Statistics`."""

import copy
import pickle
import threading

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_friedman1
from sklearn.exceptions import NotFittedError

from mfga import MFGAClassifier, MFGARegressor, Statistics, load

FEATURES = "linear + polynomial(degree=2, offset=0) + hinge(knots=6)"
BATCHES = [slice(0, 300), slice(300, 301), slice(301, 650), slice(650, 1000)]


@pytest.fixture(scope="module")
def rows():
    X, y = make_friedman1(n_samples=1000, noise=0.5, random_state=0)
    return X, y + 100


def assert_same_model(found, expected, relative=1e-10):
    assert list(found.terms_["term"]) == list(expected.terms_["term"])
    scale = np.abs(expected.terms_["coefficient"]).max()
    np.testing.assert_allclose(found.terms_["coefficient"], expected.terms_["coefficient"], atol=relative * scale)


def streamed(rows, **parameters):
    X, y = rows
    model = MFGARegressor(features=FEATURES, **parameters)
    for batch in BATCHES:
        assert model.partial_fit(X[batch], y[batch]) is model
    return model


@pytest.mark.parametrize("parameters", [{"terms": 10, "ridge": 1}, {}, {"ridge": "cv", "terms": 12}])
def test_batches_are_as_good_as_all_rows_at_once(rows, parameters):
    X, y = rows
    # The same first batch, and all others in one.
    at_once = MFGARegressor(features=FEATURES, **parameters).partial_fit(X[:300], y[:300])
    at_once.partial_fit(X[300:], y[300:])
    found = streamed(rows, **parameters)
    assert_same_model(found, at_once)
    np.testing.assert_allclose(found.predict(X), at_once.predict(X), rtol=1e-10)
    assert found.report_["rows"] == 1000


def test_the_model_is_that_of_the_gram_engine(rows):
    X, y = rows
    parameters = {"features": FEATURES, "terms": 10, "ridge": 1}
    found = MFGARegressor(**parameters).partial_fit(X, y)
    assert_same_model(found, MFGARegressor(engine="gram", tune=False, **parameters).fit(X, y), 1e-9)


def test_there_are_predictions_after_every_call(rows):
    X, y = rows
    model = MFGARegressor(features=FEATURES, terms=8, ridge=1)
    with pytest.raises(NotFittedError):
        model.predict(X)
    scores = []
    for batch in BATCHES:
        scores.append(model.partial_fit(X[batch], y[batch]).score(X, y))
        assert model.n_terms_ == 8
        assert "x3" in model.formula_
    assert min(scores) > 0.8
    assert scores[-1] > scores[0]


def test_fit_begins_anew_and_so_does_partial_fit_after_it(rows):
    X, y = rows
    parameters = {"features": "linear", "terms": 4, "ridge": 1, "tune": False}
    model = MFGARegressor(**parameters).partial_fit(X[:500], y[:500])
    expected = MFGARegressor(**parameters).fit(X[500:], y[500:])
    assert_same_model(model.fit(X[500:], y[500:]), expected)
    assert not hasattr(model, "_statistics")
    model.partial_fit(X[:500, :3], y[:500])
    assert model.n_features_in_ == 3
    assert model.report_["rows"] == 500


def test_weights_count_rows(rows):
    X, y = rows
    first, second = slice(0, 500), slice(500, 1000)
    counts = np.tile([0.0, 1.0, 2.0, 1.0], 125)
    parameters = {"features": "linear + hinge(knots=4)", "terms": 6, "ridge": 1}
    weighted = MFGARegressor(**parameters).partial_fit(X[first], y[first]).partial_fit(X[second], y[second], counts)
    copies = np.repeat(np.arange(500, 1000), counts.astype(int))
    repeated = MFGARegressor(**parameters).partial_fit(X[first], y[first]).partial_fit(X[copies], y[copies])
    assert_same_model(weighted, repeated, 1e-9)


def test_a_call_that_fails_changes_nothing(rows):
    X, y = rows
    model = MFGARegressor(features="linear", terms=3, ridge=1).partial_fit(X, y)
    before = model.predict(X)
    bad = X[:10].copy()
    bad[3, 1] = np.inf
    for wrong in ((bad, y[:10]), (X[:, :4], y), (X, y[:5]), (X[:3], [1, np.nan, 2])):
        with pytest.raises(ValueError):
            model.partial_fit(*wrong)
        np.testing.assert_array_equal(model.predict(X), before)
    with pytest.raises(ValueError, match="X has 4 features, but MFGARegressor is expecting 10"):
        model.partial_fit(X[:, :4], y)
    unfitted = MFGARegressor(features="linear")
    with pytest.raises(ValueError):
        unfitted.partial_fit(bad, y[:10])
    assert not hasattr(unfitted, "n_features_in_")


@pytest.mark.parametrize(
    "parameters",
    [{"tune": 20}, {"loss": "huber"}, {"metric": "diagonal"}, {"search": "htp"}, {"engine": "lazy"}, {"folds": "time"}],
)
def test_what_needs_rows_is_refused_at_once(rows, parameters):
    with pytest.raises(ValueError, match=f"`{next(iter(parameters))}.*rows"):
        MFGARegressor(**parameters).partial_fit(*rows)


def test_several_targets_and_classes_are_refused(rows):
    X, y = rows
    with pytest.raises(ValueError, match="1d array"):
        MFGARegressor().partial_fit(X, np.stack([y, y], axis=1))
    assert not hasattr(MFGAClassifier(), "partial_fit")


def test_clones_and_pickles(rows):
    X, y = rows
    model = streamed(rows, terms=8, ridge=1)
    assert not hasattr(clone(model), "_statistics")
    pending = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(pending.predict(X), model.predict(X))
    again = copy.deepcopy(model)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    # They go on as the original does.
    again.partial_fit(X[:100], y[:100])
    model.partial_fit(X[:100], y[:100])
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_frames_with_texts(rows):
    pandas = pytest.importorskip("pandas")
    X, y = rows
    frame = pandas.DataFrame(X[:, :3], columns=["a", "b", "c"])
    frame["kind"] = np.where(X[:, 3] > 0.5, "high", "low")
    frame.loc[frame.index % 7 == 0, "b"] = np.nan
    model = MFGARegressor(terms=5, ridge=1)
    for batch in BATCHES:
        model.partial_fit(frame.iloc[batch], y[batch])
    assert list(model.feature_names_in_) == ["a", "b", "c", "kind"]
    assert "kind" in model.formula_
    assert model.score(frame, y) > 0.5
    with pytest.raises(ValueError, match="feature names"):
        model.partial_fit(frame.rename(columns={"a": "z"}), y)


def test_statistics_merge_to_the_same_bits(rows):
    X, y = rows
    empty = Statistics(X, y, features=FEATURES)
    assert empty.n_rows == 0
    parts = [pickle.loads(pickle.dumps(empty)).update(X[batch], y[batch]) for batch in BATCHES]
    bytes_of = [copy.deepcopy(empty).merge(part) for part in parts]
    left = bytes_of[0].merge(bytes_of[1]).merge(bytes_of[2]).merge(bytes_of[3])
    right = copy.deepcopy(parts[3]).merge(copy.deepcopy(parts[2]).merge(copy.deepcopy(parts[1]).merge(parts[0])))
    assert left.n_rows == right.n_rows == 1000
    assert pickle.dumps(left) == pickle.dumps(right)
    model = left.fit(10, ridge=1)
    assert isinstance(model, MFGARegressor)
    expected = MFGARegressor(10, features=FEATURES, ridge=1, engine="gram", tune=False).fit(X, y)
    assert_same_model(model, expected, 1e-9)
    with pytest.raises(ValueError, match="their dictionary"):
        left.merge(Statistics(X, y, features="linear"))


def test_statistics_choose_by_folds(rows):
    X, y = rows
    statistics = Statistics(X, y, folds=4, n_jobs=1).update(X, y)
    assert statistics.folds == 4
    assert statistics.n_candidates <= 1000
    model = statistics.fit(ridge="cv", ridges=[0.1, 1, 10])
    assert model.report_["ridge"] in (0.1, 1, 10)
    assert model.score(X, y) > 0.9
    assert "n_rows=1000" in repr(statistics)


def test_statistics_in_files(rows, tmp_path):
    X, y = rows
    statistics = Statistics(X, y, features=FEATURES).update(X, y)
    path = tmp_path / "s.bin"
    statistics.save(path)
    loaded = Statistics.load(path)
    assert loaded.n_rows == 1000
    assert loaded.features == FEATURES
    np.testing.assert_array_equal(loaded.fit(6).predict(X), statistics.fit(6).predict(X))
    loaded.update(X, y).fit(6).save(tmp_path / "m.json")
    assert load(tmp_path / "m.json").n_terms_ == 6
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ValueError, match="damaged or incomplete"):
        Statistics.load(path)


def test_statistics_are_safe_in_threads(rows):
    X, y = rows
    empty = Statistics(X, y, features="linear", random_state=1)
    together = copy.deepcopy(empty)
    threads = [threading.Thread(target=together.update, args=(X, y)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for _ in range(4):
        empty.update(X, y)
    assert pickle.dumps(together) == pickle.dumps(empty)


def test_a_callback_may_ask_the_statistics(rows):
    X, y = rows
    statistics = Statistics(X, y, features=FEATURES).update(X, y)
    seen = []
    statistics.fit(terms=3, ridge=1.0, callback=lambda progress: seen.append(statistics.n_rows) or False)
    assert seen and set(seen) == {len(y)}


def test_fit_with_warm_start_after_partial_fit_begins_anew(rows):
    X, y = rows
    model = MFGARegressor(features=FEATURES, terms=3, ridge=1.0, tune=False, warm_start=True)
    expected = clone(model).fit(X, y)
    assert_same_model(model.partial_fit(X[:300], y[:300]).fit(X, y), expected)
