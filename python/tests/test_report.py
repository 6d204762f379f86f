"""The page about a model."""

import numpy as np
import pandas
import pytest

import mfga

PARTS = ["formula", "quality", "importance", "effects", "pairs", "explain"]


@pytest.fixture
def frame():
    rng = np.random.default_rng(3)
    frame = pandas.DataFrame({"a": rng.normal(size=200), "b <i>": rng.normal(size=200)})
    frame["kind"] = np.where(rng.random(200) < 0.3, "x", "y & z")
    frame.loc[::9, "b <i>"] = np.nan
    return frame


def regressor(**options):
    return mfga.MFGARegressor(terms=5, tune=False, **options)


def test_a_page_with_rows_and_targets(frame, tmp_path):
    y = frame["a"] + (frame["kind"] == "x")
    page = regressor().fit(frame, y).report(tmp_path / "page.html", frame, y, title="A <title>")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert text == page.html and [path.name for path in tmp_path.iterdir()] == ["page.html"]
    for part in PARTS:
        assert f'<section id="{part}"' in text, part
    assert "A &lt;title&gt;" in text and "y &amp; z" in text and "<i>:" not in text
    assert "200 rows" in text and "Time" in text


def test_notebooks_show_it_inline(frame):
    model = regressor().fit(frame[["a"]], frame["a"])
    page = model.report()
    assert "made without data" in page.html
    shown = page._repr_html_()
    assert shown.startswith("<iframe") and "&lt;!DOCTYPE html&gt;" in shown
    assert "kB" in repr(page)


def test_classes_are_known_by_their_labels(classes):
    x, y = classes
    model = mfga.MFGAClassifier(terms=5, tune=False).fit(x, y)
    text = model.report(X=x, y=y).html
    assert "Confusion matrix" in text and "middle" in text
    with pytest.raises(ValueError, match="does not know: 'other'"):
        model.report(X=x, y=np.where(y == "low", "other", y))


def test_several_targets_and_weights(frame):
    x = frame[["a", "b <i>"]]
    y = np.column_stack([frame["a"], -2 * frame["a"]])
    model = regressor().fit(x, y)
    text = model.report(X=x, y=y, sample_weight=np.arange(200.0)).html
    assert text.count("<h3>Distribution of the residuals</h3>") == 2


def test_what_does_not_fit_is_refused(frame, tmp_path):
    model = regressor().fit(frame[["a"]], frame["a"])
    with pytest.raises(ValueError, match="give X as well"):
        model.report(y=frame["a"])
    with pytest.raises(ValueError):
        model.report(tmp_path / "page.html", frame[["a"]], frame["a"][:5])
    with pytest.raises(FileNotFoundError):
        model.report(tmp_path / "no" / "page.html")
    assert list(tmp_path.iterdir()) == []
