"""Inside scikit-learn's machinery, in forked processes and in threads, on tables that scikit-learn ships."""

import concurrent.futures
import multiprocessing
import os

import numpy as np
import pytest
import sklearn
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.ensemble import BaggingRegressor, StackingRegressor
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.linear_model import LinearRegression
from sklearn.metrics import brier_score_loss
from sklearn.model_selection import GridSearchCV, HalvingRandomSearchCV, cross_val_predict, cross_val_score
from sklearn.multioutput import RegressorChain
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from mfga import FeatureSelector, MFGAClassifier, MFGARegressor


@pytest.fixture(scope="module")
def diabetes():
    return load_diabetes(return_X_y=True, as_frame=True)


def test_grid_search_in_processes(diabetes, quick):
    x, y = diabetes
    del quick["terms"]
    search = GridSearchCV(MFGARegressor(**quick), {"terms": [1, 4, 8]}, cv=3, n_jobs=2).fit(x, y)
    assert search.best_params_["terms"] > 1
    assert search.best_score_ > 0.4
    alone = GridSearchCV(MFGARegressor(**quick), {"terms": [1, 4, 8]}, cv=3).fit(x, y)
    np.testing.assert_array_equal(search.cv_results_["mean_test_score"], alone.cv_results_["mean_test_score"])


def test_halving_search(quick):
    x, y = load_wine(return_X_y=True)
    del quick["terms"]
    search = HalvingRandomSearchCV(MFGAClassifier(**quick), {"terms": [2, 5, 10, 20]}, random_state=0, min_resources=60)
    assert search.fit(x, y).score(x, y) > 0.9


def test_pipelines_and_cross_validation(diabetes, quick):
    x, y = diabetes
    model = make_pipeline(StandardScaler(), MFGARegressor(**quick))
    assert cross_val_score(model, x, y, cv=3).mean() > 0.4
    predicted = cross_val_predict(model, x, y, cv=3)
    assert np.corrcoef(predicted, y)[0, 1] > 0.6


def test_column_transformers_of_frames(quick):
    x, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    x["sex"] = x["sex"].map({1: "one", 2: "two"})
    columns = ColumnTransformer([("texts", OneHotEncoder(sparse_output=False), ["sex"])], remainder="passthrough")
    encoded = make_pipeline(columns.set_output(transform="pandas"), MFGARegressor(**quick)).fit(x, y)
    assert list(encoded[-1].feature_names_in_[:3]) == ["texts__sex_one", "texts__sex_two", "remainder__age"]
    # The levels of text are the same columns, in another order.
    own = MFGARegressor(**quick).fit(x, y)
    np.testing.assert_allclose(encoded.predict(x), own.predict(x), rtol=1e-6)
    assert own.score(x, y) > 0.45
    selector = ("terms", FeatureSelector(MFGARegressor(**quick)), ["bmi", "s5", "sex"])
    terms = ColumnTransformer([selector, ("as they are", "passthrough", ["age"])]).set_output(transform="pandas")
    assert list(terms.fit_transform(x, y).columns[-2:]) == [terms.get_feature_names_out()[4], "as they are__age"]


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_frames_come_out_if_asked_for(diabetes, quick, kind):
    pytest.importorskip(kind)
    x, y = diabetes
    selector = FeatureSelector(MFGARegressor(**quick)).set_output(transform=kind)
    frame = selector.fit_transform(x, y)
    assert type(frame).__module__.split(".")[0] == kind
    assert list(frame.columns) == list(selector.get_feature_names_out()) and "sex" in frame.columns
    # What comes out of one step goes into the next with its names.
    chain = make_pipeline(StandardScaler(), MFGARegressor(**quick)).set_output(transform=kind).fit(x, y)
    assert list(chain[-1].feature_names_in_) == list(x.columns)
    assert chain.score(x, y) > 0.45


def test_calibration(quick):
    x, y = load_breast_cancer(return_X_y=True)
    model = CalibratedClassifierCV(MFGAClassifier(**quick), method="sigmoid", cv=3).fit(x[::2], y[::2])
    assert brier_score_loss(y[1::2], model.predict_proba(x[1::2])[:, 1]) < 0.06


def test_importances_find_the_columns_that_matter(diabetes, quick):
    x, y = diabetes
    model = MFGARegressor(**quick).fit(x, y)
    means = permutation_importance(model, x, y, n_repeats=5, random_state=0, n_jobs=2).importances_mean
    assert set(x.columns[np.argsort(means)[-2:]]) == {"bmi", "s5"}
    curve = partial_dependence(model, x, ["bmi"])["average"][0]
    assert curve[-1] > curve[0] + 50


def test_ensembles(diabetes, quick):
    x, y = diabetes
    stack = StackingRegressor([("ours", MFGARegressor(**quick)), ("linear", LinearRegression())], cv=3).fit(x, y)
    assert stack.score(x, y) > 0.45
    bag = BaggingRegressor(MFGARegressor(**quick), n_estimators=3, random_state=0, n_jobs=2).fit(x, y)
    assert bag.score(x, y) > 0.45
    logs = TransformedTargetRegressor(MFGARegressor(**quick), func=np.log, inverse_func=np.exp).fit(x, y)
    assert logs.score(x, y) > 0.3
    chain = RegressorChain(MFGARegressor(**quick)).fit(x, np.column_stack([y, 2 * y]))
    assert chain.predict(x).shape == (len(x), 2)


def test_weights_are_routed(diabetes, quick):
    x, y = diabetes
    weights = np.where(y > 150, 10.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        model = MFGARegressor(**quick).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        search = GridSearchCV(model, {"terms": [4]}, cv=3).fit(x, y, sample_weight=weights)
    assert search.best_estimator_.predict(x).mean() > MFGARegressor(**quick).fit(x, y).predict(x).mean() + 10


def test_threads_give_what_one_gives(quick):
    x, y = load_iris(return_X_y=True)

    def learn(seed):
        return MFGAClassifier(random_state=seed, **quick).fit(x, y).decision_function(x)

    alone = [learn(seed) for seed in range(8)]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        together = list(pool.map(learn, range(8)))
    for one, other in zip(alone, together, strict=True):
        assert np.array_equal(one, other)


def test_one_model_predicts_in_many_threads(table, quick):
    x, y = table
    many = np.tile(x, (20, 1))
    model = MFGARegressor(**quick).fit(x, y)
    expected = model.predict(many)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for predicted in pool.map(lambda _: model.predict(many), range(20)):
            assert np.array_equal(predicted, expected)


_forked = {}


def _use_in_fork(queue):
    model, x, y = _forked["model"], _forked["x"], _forked["y"]
    predicted = model.predict(x)
    learned = MFGARegressor(terms=3, features="linear", tune=False, n_jobs=2).fit(x, y).predict(x)
    del _forked["model"], model  # its threads are the parent's: nothing waits for them here
    queue.put((predicted, learned))


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forks_predict_and_learn(table, quick):
    x, y = (np.tile(part, (10, 1) if part.ndim == 2 else 10) for part in table)
    model = MFGARegressor(n_jobs=2, **quick).fit(x, y)
    expected = model.predict(x)  # on two threads, which a fork does not have
    _forked.update(model=model, x=x, y=y)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    children = [context.Process(target=_use_in_fork, args=(queue,)) for _ in range(2)]
    for child in children:
        child.start()
    results = [queue.get(timeout=120) for _ in children]
    for child in children:
        child.join(120)
        assert child.exitcode == 0
    for predicted, learned in results:
        assert np.array_equal(predicted, expected)
        assert np.array_equal(learned, results[0][1])
    assert np.array_equal(model.predict(x), expected)


def test_no_files_stay_open(table, quick, tmp_path):
    x, y = table
    model = MFGARegressor(**quick).fit(x, y)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        model.save(tmp_path / "model.json")
        MFGARegressor.load(tmp_path / "model.json")
    assert len(os.listdir("/proc/self/fd")) == before
