"""What a fitted model shows of itself: formula, terms, page, pictures; and its terms as features."""

import pickle
import re

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import mfga.plot
from mfga import FeatureSelector, MFGAClassifier, MFGARegressor, _core
from mfga._formula import latex_term
from mfga.paper import PAPER_OPTIONS, PaperClassifier, PaperRegressor


def test_formulas_use_the_names_of_the_columns(table, quick):
    pandas = pytest.importorskip("pandas")
    x, y = table
    model = MFGARegressor(**quick).fit(pandas.DataFrame(x, columns=["age", "height", "weight", "pulse"]), y)
    assert model.formula_.startswith("y\n  =")
    assert "age" in model.formula_
    assert "prediction = " in model.full_formula()
    with pytest.raises(NotFittedError):
        MFGARegressor().formula_  # noqa: B018


def test_notebooks_show_formulas_in_latex(table, classes, quick):
    pandas = pytest.importorskip("pandas")
    x, y = table
    frame = pandas.DataFrame(x, columns=["body_mass (kg/m^2)", "x1", "50%", "-"])
    model = MFGARegressor(**{**quick, "terms": 3}).fit(frame, y)
    latex = model.formula_._repr_latex_()
    assert latex.startswith(r"$\displaystyle \begin{array}{rl}y = & ") and latex.endswith(r"\end{array}$")
    assert latex.count("\\\\ & ") == 3
    assert r"\mathrm{body\_mass\ (kg/m\wedge 2)}" in latex and r"\max(0, x_{1} " in latex
    # The same numbers as in the text.
    for number in re.findall(r"^ +[+-] ([0-9.]+) ", model.formula_, flags=re.MULTILINE):
        assert number in latex
    assert isinstance(model.formula_, str) and pickle.loads(pickle.dumps(model.formula_)).latex == model.formula_.latex
    several = MFGAClassifier(**quick).fit(*classes).formula_.latex
    assert several.startswith(r"\begin{array}{rrrl}\mathrm{high} & \mathrm{low} & \mathrm{middle} & ")
    assert several.count(r"\\") == 6


@pytest.mark.parametrize(
    ("term", "names", "expected"),
    [
        ("[q(hours) >= -1.5e-05]", ["q(hours)"], r"[q(\mathrm{hours}) \ge -1.5 \cdot 10^{-5}]"),
        ("x1^2 * x10 * G(3.162)", ["x1", "x10"], r"x_{1}^{2} \cdot x_{10} \cdot G(3.162)"),
        ("cos(2 pi max / 3)", ["max"], r"\cos(2\,\pi\,\mathrm{max} / 3)"),
        ("sqrt(x0 + 1)", ["x0"], r"\operatorname{sqrt}(x_{0} + 1)"),
        ("B3(x0; 1, 2)", ["x0"], r"B_{3}(x_{0};\ 1, 2)"),
        ("kind=a & b", ["kind=a & b", "kind=a"], r"\mathrm{kind{=}a\ \&\ b}"),
    ],
)
def test_terms_in_latex(term, names, expected):
    assert latex_term(term, names) == expected


@pytest.mark.parametrize(
    "features",
    [
        "polynomial(degree=2)",
        "step",
        "hinge",
        "spline",
        "periodic(period=3)",
        "additive",
        "gaussian(order=2)",
        "fourier",
        "landmark",
        "nystrom",
        "maclaurin",
    ],
)
def test_formulas_of_all_families_in_latex(features, table):
    x, y = table
    latex = MFGARegressor(terms=2, features=features, tune=False).fit(x, y).formula_.latex
    # Braces and brackets match, and nothing is left that LaTeX does not know.
    assert latex.count("{") == latex.count("}") and latex.count("(") == latex.count(")")
    plain = re.sub(r"\\(?:mathrm|operatorname|text)\{[^{}]*\}|\\[a-z]+|\{array\}(?:\{rl\})?", "", latex)
    assert set(re.findall(r"[A-Za-z]+", plain)) <= {"x", "y", "G", "B", "e"}, latex


def test_coefficients_are_those_of_the_formula(table):
    """Also where the target was scaled."""
    x, y = table
    model = PaperRegressor(3, preset="paper", features="linear").fit(x, 100 * y)
    for coefficient in model.terms_["coefficient"]:
        assert f"{abs(coefficient):.6g}" in model.formula_


def test_formulas_in_the_units_of_the_table(quick):
    x = np.random.default_rng(0).normal(3, 5, size=(100, 2))
    model = MFGARegressor(terms=2, features="linear", ridge=0.0, tune=False).fit(x, 3 * x[:, 0] - 2 * x[:, 1] + 1)
    text = model.table_formula()
    for number in ("3", "2"):
        assert re.search(rf"[+-] {number}(\.0*\d*)? ", text), text


def test_the_page_of_a_notebook(classes):
    x, y = classes
    model = MFGAClassifier(features="linear + hinge")
    assert "log-odds" not in model._repr_html_()
    model.fit(x, np.where(y == "low", "<b>", "!"))
    page = model._repr_html_()
    assert "log-odds of y = &lt;b&gt;" in page
    assert model._repr_mimebundle_()["text/html"].count("<pre") == page.count("<pre")
    assert model.report_["sizes"] and "loss of held-out rows" in page and page.count("<circle") == 1


def test_the_page_draws_the_path_where_the_number_of_terms_is_given(table, quick, tmp_path):
    model = MFGARegressor(**quick).fit(*table)
    picture = re.search(r"<polyline points='([^']*)'.*loss of training rows", model._repr_html_())
    heights = [float(point.split(",")[1]) for point in picture[1].split()]
    assert len(heights) == 1 + len(model.report_["path"])
    assert heights == sorted(heights), "on a screen, down is larger"
    model.save(tmp_path / "model.json")
    again = mfga.load(tmp_path / "model.json")._repr_html_()
    assert "<svg" not in again.partition("<pre")[2] and "max(0" in again


@parametrize_with_checks([FeatureSelector(MFGARegressor(terms=3, tune=False))])
def test_the_selector_passes_scikit_learns_checks(estimator, check):
    check(estimator)


def test_features_times_coefficients_are_the_score(table, quick):
    x, y = table
    selector = FeatureSelector(MFGARegressor(**quick)).fit(x, y)
    model = selector.estimator_._model
    values = selector.transform(x)
    assert values.shape == (300, 5)
    # Refitting the same terms with the same ridge gives the model back.
    again = Ridge(alpha=0.001).fit(values, y)
    np.testing.assert_allclose(again.predict(values), model.scores(x), rtol=1e-6)
    assert list(selector.get_feature_names_out()) == [term["term"] for term in model.terms()]
    copied = pickle.loads(pickle.dumps(selector))
    assert np.array_equal(copied.transform(x), values)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_the_selector_gives_frames(table, quick, kind):
    pytest.importorskip(kind)
    x, y = table
    selector = FeatureSelector(MFGARegressor(**quick)).set_output(transform=kind)
    frame = selector.fit_transform(x, y)
    assert type(frame).__module__.split(".")[0] == kind
    assert list(frame.columns) == list(selector.get_feature_names_out())
    assert len(set(frame.columns)) == 5


def test_the_selector_of_classes_in_a_pipeline(classes, quick):
    x, y = classes
    selector = FeatureSelector(MFGAClassifier(**quick))
    model = make_pipeline(selector, MFGAClassifier(terms=3, features="linear", tune=False)).fit(x, y)
    assert model.score(x, y) > 0.7


@pytest.mark.parametrize("method", ["mfga", "rks", "lkrf", "eerf", "gk", "glk"])
def test_the_methods_of_the_paper(table, method):
    x, y = table
    model = PaperRegressor(30, method=method, ridge=0.1).fit(x, y)
    assert model.score(x, y) > 0.7
    labels = y > np.median(y)
    assert PaperClassifier(30, method=method, ridge=0.1).fit(x, labels).score(x, labels) > 0.75


def test_parameters_of_the_paper_are_its_options(table):
    rows = {row["name"]: row for row in _core.option_tables()["paper"]}
    assert set(PAPER_OPTIONS) == set(rows)
    model = PaperRegressor()
    for name, row in rows.items():
        assert str(getattr(model, name)) == row["default"], name
    fit_rows = {row["name"] for table in ("fit", "cross_validation") for row in _core.option_tables()[table]}
    assert set(model._option_names) - set(rows) <= fit_rows
    assert clone(model.set_params(preset="paper")).preset == "paper"
    x, y = table
    assert "scale" in PaperRegressor(5, preset="paper").fit(x, y)._model.to_json()
    with pytest.raises(ValueError, match="`features` is for the method mfga"):
        PaperRegressor(5, method="rks", features="linear").fit(x, y)


@pytest.fixture
def pyplot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


def test_pictures(table, pyplot):
    x, y = table
    model = MFGARegressor(features="linear + hinge").fit(x, y)
    ax = mfga.plot.path(model)
    assert {text.get_text() for text in ax.get_legend().get_texts()} == {"training rows", "held-out rows", "chosen"}
    bars = mfga.plot.terms(model, most=3)
    assert len(bars.patches) == min(3, model.n_terms_)
    lines = mfga.plot.effects(model, x, columns=[0, 3]).get_lines()
    assert [line.get_label() for line in lines] == ["x0", "x3"]
    rising = lines[0].get_ydata()
    assert rising[-1] - rising[0] > 2
    own = pyplot.subplots()[1]
    assert mfga.plot.effects(model, x, ax=own) is own


def test_effects_with_missing_values(table, quick, pyplot, tmp_path):
    x, y = table
    x = x.copy()
    x[::7, 0] = np.nan
    model = MFGARegressor(**quick).fit(x, y)
    rising = mfga.plot.effects(model, x, columns=[0]).get_lines()[0].get_ydata()
    assert rising[-1] - rising[0] > 2
    # A loaded model with a constant column knows the names of the others.
    frame = pytest.importorskip("pandas").DataFrame(x, columns=list("abcd")).assign(b=1.0)
    MFGARegressor(**quick).fit(frame, y).save(tmp_path / "model.json")
    lines = mfga.plot.effects(MFGARegressor.load(tmp_path / "model.json"), frame).get_lines()
    assert "a" in [line.get_label() for line in lines][:2]


def test_pictures_that_cannot_be_drawn(table, classes, quick, tmp_path, pyplot):
    model = MFGARegressor(**quick).fit(*table)
    model.save(tmp_path / "model.json")
    with pytest.raises(ValueError, match="loaded from a file"):
        mfga.plot.path(MFGARegressor.load(tmp_path / "model.json"))
    several = MFGAClassifier(**quick).fit(*classes)
    with pytest.raises(ValueError, match="several outputs"):
        mfga.plot.terms(several)
    with pytest.raises(ValueError, match="one output"):
        mfga.plot.effects(several, classes[0])
