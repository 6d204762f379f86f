"""Explanations: sums, columns, frames, what notebooks and pictures show."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import mfga.plot
from mfga import MFGAClassifier, MFGARegressor


def added(explanation):
    """Add the numbers of each row in their order."""
    total = np.broadcast_to(explanation.base, explanation.scores.shape).copy()
    for part in range(len(explanation.names)):
        total += explanation.values[:, part]
    return total + explanation.rounding


def test_contributions_add_up_to_predictions(table):
    x, y = table
    x = x.copy()
    x[::7, 1] = np.nan
    model = MFGARegressor(terms=8, features="linear + landmark(count=20)", tune=False).fit(x, y)
    explanation = model.explain(x)
    assert explanation.values.shape == (len(x), model.n_terms_)
    assert len(explanation.names) == len(set(explanation.names)) == model.n_terms_
    columns = explanation.by_column()
    for one in (explanation, columns):
        assert np.array_equal(one.scores, model.predict(x))
        assert np.array_equal(added(one), one.scores)
    assert columns.values.shape == (len(x), x.shape[1])
    assert explanation.base == pytest.approx(model.predict(x).mean())
    assert np.allclose(explanation.values.mean(axis=0), 0, atol=1e-10)


def test_classes_have_contributions_of_their_own():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(300, 3))
    for labels in (["no", "yes"], ["a", "b", "c"]):
        y = np.array(labels)[
            np.clip((x[:, 0] + 0.3 * rng.normal(size=300) + len(labels) / 2).astype(int), 0, len(labels) - 1)
        ]
        model = MFGAClassifier(terms=5, features="linear + step(knots=5)", tune=False).fit(x, y)
        explanation = model.explain(x)
        assert np.array_equal(added(explanation), model.decision_function(x))
        assert np.array_equal(added(explanation.by_column()), model.decision_function(x))
        assert explanation.output_names == (labels if len(labels) > 2 else [])
    assert explanation.parts(3, "b")[2] == model.decision_function(x)[3, 1]
    assert explanation.parts(3)[2] == model.decision_function(x)[3].max()
    with pytest.raises(ValueError, match="expected one of"):
        explanation.parts(0, "none")
    assert "score of" in explanation[0]._repr_html_()


def test_texts_are_one_column():
    pandas = pytest.importorskip("pandas")
    colours = ["red", "green", "blue", None] * 50
    frame = pandas.DataFrame({"size": np.arange(200.0) % 13, "colour": colours, "constant": 1.0})
    y = frame["size"] + np.where(frame["colour"] == "red", 5, 0)
    model = MFGARegressor(terms=4, features="linear", tune=False).fit(frame, y)
    explanation = model.explain(frame[:8])
    assert "colour = red" in explanation.names
    columns = explanation.by_column()
    assert columns.names == ["size", "colour"]
    shown = columns.to_frame()
    assert list(shown.columns) == ["base", "size", "colour", "rounding", "score"]
    assert shown["score"].to_list() == list(model.predict(frame[:8]))
    assert "colour = red" in explanation[0]._repr_html_()


def test_rows_of_an_explanation(table, quick):
    x, y = table
    model = MFGARegressor(**quick).fit(x, y)
    explanation = model.explain(x)
    assert len(explanation) == len(x)
    assert len(explanation[-1]) == 1
    assert np.array_equal(explanation[-1].values[0], explanation.values[-1])
    assert np.array_equal(explanation[2:5].scores, explanation.scores[2:5])
    assert repr(explanation[2:5]).startswith("Explanation(3 rows")
    assert "explanation[0]" in explanation._repr_html_()
    with pytest.raises(IndexError):
        explanation[len(x)]
    with pytest.raises(ValueError, match="already"):
        explanation.by_column().by_column()
    base, parts, score = explanation.parts(4, most=1)
    assert parts[-1][0].endswith("more")
    assert base + sum(value for _, value in parts) == pytest.approx(score)


def test_what_cannot_be_explained(table, quick):
    x, y = table
    with pytest.raises(NotFittedError):
        MFGARegressor().explain(x)
    model = MFGARegressor(**quick).fit(x, y)
    with pytest.raises(ValueError, match="features"):
        model.explain(x[:, :2])


def test_the_picture(table, quick):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    x, y = table
    model = MFGARegressor(**quick).fit(x, y)
    explanation = model.explain(x)
    ax = mfga.plot.explain(explanation, row=3)
    base, parts, score = explanation.parts(3)
    assert len(ax.patches) == len(parts)
    last = ax.patches[-1]
    assert last.get_x() + last.get_width() == pytest.approx(score)
    assert ax.patches[0].get_x() == pytest.approx(base)
    pyplot.close("all")
