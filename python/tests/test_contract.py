"""scikit-learn's contract, and that parameters are the options of the library."""

import inspect

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from mfga import MFGAClassifier, MFGARegressor, _core
from mfga._base import FIT_OPTIONS
from mfga._options import RENAMED, option_text


@parametrize_with_checks([MFGARegressor(), MFGAClassifier()])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def options_of(*tables):
    return {row["name"]: row for table in tables for row in _core.option_tables()[table]}


# What an estimator decides itself.
DECIDED = {"task"}
PYTHONS_OWN = {"warm_start", "verbose", "callback"}


@pytest.mark.parametrize("estimator", [MFGARegressor, MFGAClassifier])
def test_parameters_are_the_options(estimator):
    options = options_of("fit", "cross_validation")
    expected = {RENAMED.get(name, name) for name in options} - DECIDED | PYTHONS_OWN
    assert set(estimator().get_params()) - {"class_weight"} == expected
    assert set(FIT_OPTIONS) == set(options) - DECIDED - set(RENAMED)


def test_defaults_are_those_of_the_options():
    options = options_of("fit", "cross_validation")
    for name, value in MFGARegressor().get_params().items():
        if name in PYTHONS_OWN or name in RENAMED.values() or value is None:
            continue
        assert option_text(name, value) == options[name]["default"], name


@pytest.mark.parametrize("estimator", [MFGARegressor, MFGAClassifier])
def test_every_parameter_is_documented(estimator):
    text = inspect.getdoc(estimator)
    for name in estimator().get_params():
        assert f"\n{name} : " in text, name


def test_clones_have_parameters_and_no_model(table, quick):
    model = MFGARegressor(callback=print, **quick)
    model.set_params(callback=None).fit(*table)
    again = clone(model)
    assert again.get_params() == model.get_params()
    assert not hasattr(again, "n_features_in_")


def test_random_states():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 3))
    y = np.sin(3 * x[:, 0]) + 0.3 * rng.normal(size=200)

    def model(random_state):
        return MFGARegressor(terms=5, features="fourier(count=50)", tune=False, random_state=random_state).fit(x, y)

    same = [model(state)._model.to_json() for state in (3, np.int64(3))]
    assert same[0] == same[1]
    assert model(4)._model.to_json() != same[0]
    states = [model(np.random.RandomState(7))._model.to_json() for _ in range(2)]
    assert states[0] == states[1]
