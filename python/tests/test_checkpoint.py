"""Fits that are interrupted and go on from a checkpoint."""

import pickle

import numpy as np
import pytest

from mfga import MFGAClassifier, MFGARegressor


def interrupting(calls):
    left = [calls]

    def callback(progress):
        left[0] -= 1
        if left[0] <= 0:
            raise KeyboardInterrupt

    return callback


@pytest.mark.parametrize(
    ("estimator", "options"),
    [
        (MFGARegressor, {"terms": 5, "features": "linear + hinge"}),
        (MFGAClassifier, {"terms": 8, "features": "linear + hinge", "tune": False, "ridge": 0.1}),
    ],
)
def test_an_interrupted_fit_goes_on(estimator, options, table, classes, tmp_path):
    x, y = table if estimator is MFGARegressor else classes
    calls = []
    whole = estimator(callback=lambda progress: calls.append(progress.terms), **options).fit(x, y)
    path = tmp_path / "fit.checkpoint"
    resumed = 0
    for part in (0.3, 0.6, 0.9):
        model = estimator(n_jobs=2, callback=interrupting(int(part * len(calls))), **options)
        with pytest.raises(KeyboardInterrupt):
            model.fit(x, y, checkpoint=path)
        model.set_params(callback=None, n_jobs=1).fit(x, y, checkpoint=path, resume=True)
        assert np.array_equal(model.predict(x), whole.predict(x))
        assert model._model.to_json() == whole._model.to_json()
        assert not path.exists()
        resumed += model.report_["seconds"]["resumed"] > 0
    assert resumed >= 1  # a fit that is interrupted very early has nothing to go on from
    assert "checkpoint" not in model.get_params()
    pickle.loads(pickle.dumps(model))


def test_what_is_wrong_is_said(table, tmp_path):
    x, y = table
    path = str(tmp_path / "fit.checkpoint")
    calls = []
    model = MFGARegressor(terms=5, features="linear + hinge", random_state=1)
    model.set_params(callback=lambda progress: calls.append(progress.terms)).fit(x, y)
    with pytest.raises(ValueError, match="`resume` is for a `checkpoint`"):
        model.fit(x, y, resume=True)
    with pytest.raises(KeyboardInterrupt):
        model.set_params(callback=interrupting(int(0.6 * len(calls)))).fit(x, y, checkpoint=path)
    model.set_params(callback=None)
    with pytest.raises(ValueError, match="`resume` goes on from it"):
        model.fit(x, y, checkpoint=path)
    with pytest.raises(ValueError, match=r"another fit.*`random_state` \(1 there, 2 here\)"):
        model.set_params(random_state=2).fit(x, y, checkpoint=path, resume=True)
    model.set_params(random_state=1)
    with pytest.raises(ValueError, match="what differs: the targets"):
        model.fit(x, y + 1, checkpoint=path, resume=True)
    model.fit(x, y, checkpoint=path, resume=True)
    assert model.report_["seconds"]["resumed"] > 0
