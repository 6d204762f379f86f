"""Dictionaries of candidate features as objects."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from mfga import Dictionary, MFGARegressor
from mfga.paper import PaperRegressor


def test_they_are_what_the_text_is(table, quick):
    features = Dictionary("linear") + Dictionary("hinge", knots=4)
    assert str(features) == "linear + hinge(knots=4)"
    quick.pop("features")
    by_object, by_text = (MFGARegressor(features=f, **quick).fit(*table) for f in (features, str(features)))
    assert by_object._model.to_json() == by_text._model.to_json()
    assert PaperRegressor(3, features=features).fit(*table).n_terms_ == 3


def test_sums_and_options():
    whole = "linear" + Dictionary("gaussian", order=2, sigma=["auto", 1.5], nu=np.float64(0.5)) + "step"
    assert whole.expression == "linear + gaussian(order=2, sigma=[auto, 1.5], nu=0.5) + step"
    assert whole.families == [
        ("linear", {}),
        ("gaussian", {"nu": "0.5", "order": "2", "sigma": "auto"}),
        ("gaussian", {"nu": "0.5", "order": "2", "sigma": "1.5"}),
        ("step", {}),
    ]
    assert Dictionary("linear").candidates(7) == 7
    assert Dictionary("landmark", kernel="matern(1.5)").families[0][1] == {"kernel": "matern(1.5)"}


def test_equality_is_that_of_the_families():
    one, other = Dictionary("linear+hinge( knots=4 )"), Dictionary("linear") + Dictionary("hinge", knots=4)
    assert one == other and hash(one) == hash(other)
    assert one != Dictionary("linear") and one != "linear+hinge(knots=4)"
    assert eval(repr(other)) == other
    assert pickle.loads(pickle.dumps(one)) == one


def test_they_are_parameters(table, quick):
    quick["features"] = Dictionary("linear")
    assert clone(MFGARegressor(**quick)).features == Dictionary("linear")
    grid = {"features": [Dictionary("step", knots=2), Dictionary("linear") + "hinge"]}
    search = GridSearchCV(MFGARegressor(**quick), grid, cv=3).fit(*table)
    assert search.best_params_["features"] == grid["features"][1]


@pytest.mark.parametrize(
    ("arguments", "options", "kind", "message"),
    [
        (["hing"], {}, ValueError, "no feature family \"hing\"; there are: linear"),
        (["hinge"], {"knot": 3}, ValueError, "knot"),
        (["hinge"], {"knots": "many"}, ValueError, "many"),
        (["hinge"], {"knots": [2, 3]}, ValueError, "a list in brackets is possible for sigma"),
        (["hinge"], {"knots": True}, TypeError, "the option knots of a family is True"),
        (["linear + hinge"], {"knots": 3}, ValueError, "options are for one family"),
        ([""], {}, ValueError, "expected the name of a feature family"),
        ([3], {}, TypeError, "`expression` is 3"),
    ],
)
def test_mistakes_are_found_when_they_are_made(arguments, options, kind, message):
    with pytest.raises(kind) as error:
        Dictionary(*arguments, **options)
    assert message in str(error.value)


def test_other_things_cannot_be_added():
    with pytest.raises(TypeError):
        Dictionary("linear") + 1
