"""Pictures of fitted estimators; they need matplotlib (`pip install mfga[plot]`)."""

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

__all__ = ["effects", "explain", "path", "terms"]

_GRID = 50
_SOME_ROWS = 200


def _axes(ax):
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("pictures need matplotlib; install mfga[plot], or matplotlib") from error
    return pyplot.subplots(layout="constrained")[1]


def path(model, ax=None):
    """Draw the loss by number of terms.

    Parameters
    ----------
    model : estimator
        Fitted here; a loaded one does not have what it takes.
    ax : matplotlib axes or None, default=None
        Where to draw; None: on a figure of its own.

    Returns
    -------
    ax : matplotlib axes
        With the loss on the training rows and, with `terms="auto"`, that of held-out rows with standard errors.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> import mfga.plot
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = mfga.MFGARegressor(features="linear + hinge", tune=False).fit(X, y)
    >>> mfga.plot.path(model).get_xlabel()
    'terms'
    """
    check_is_fitted(model)
    if not model.report_:
        raise ValueError("the model was loaded from a file, which does not have the path of its fit")
    ax = _axes(ax)
    steps = [(0, model.report_["initial_risk"])] + [(step["terms"], step["risk"]) for step in model.report_["path"]]
    ax.plot(*zip(*steps, strict=True), label="training rows")
    sizes = sorted(model.report_["sizes"], key=lambda size: size["terms"])
    if sizes:
        numbers, losses, errors = ([size[key] for size in sizes] for key in ("terms", "held_out", "standard_error"))
        ax.errorbar(numbers, losses, yerr=errors, marker=".", capsize=2, label="held-out rows")
        chosen = [size for size in sizes if size["chosen"]]
        ax.plot([s["terms"] for s in chosen], [s["held_out"] for s in chosen], "o", label="chosen")
    ax.set(xlabel="terms", ylabel="mean loss")
    ax.legend()
    return ax


def terms(model, most=20, ax=None):
    """Draw the coefficients of the terms as bars, the first selected on top.

    Parameters
    ----------
    model : estimator
        Fitted, with one output.
    most : int, default=20
        How many terms.
    ax : matplotlib axes or None, default=None
        Where to draw; None: on a figure of its own.

    Returns
    -------
    ax : matplotlib axes
        With a bar per term.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> import mfga.plot
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = mfga.MFGARegressor(terms=3, features="linear", tune=False).fit(X, y)
    >>> [label.get_text() for label in mfga.plot.terms(model).get_yticklabels()]
    ['bmi', 's5', 'bp']
    """
    check_is_fitted(model)
    if len(model._model.output_names) > 1:
        raise ValueError("the model has several outputs; `terms_` has the coefficients of each")
    ax = _axes(ax)
    shown = model._model.terms()[:most]
    places = np.arange(len(shown))
    ax.barh(places, [term["coefficients"][0] for term in shown])
    ax.set_yticks(places, [term["term"] for term in shown])
    ax.invert_yaxis()
    ax.axvline(0, color="black", linewidth=0.8)
    ax.set_xlabel("coefficient")
    return ax


def effects(model, X, columns=None, ax=None):
    """Draw what the model makes of single columns: the mean score when all rows have one value of it.

    Parameters
    ----------
    model : estimator
        Fitted on numbers, with one output.
    X : array or DataFrame of shape (n_samples, n_features)
        Rows to average over; of more than 200, 200 are drawn.
    columns : list of int or None, default=None
        Which columns, by position; None: those that the terms use most often, four at most.
    ax : matplotlib axes or None, default=None
        Where to draw; None: on a figure of its own.

    Returns
    -------
    ax : matplotlib axes
        With a line per column, over its quantiles.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> import mfga.plot
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = mfga.MFGARegressor(terms=3, features="linear + hinge", tune=False).fit(X, y)
    >>> [line.get_label() for line in mfga.plot.effects(model, X, columns=[2, 8]).get_lines()]
    ['bmi', 's5']
    """
    from ._input import read_rows

    check_is_fitted(model)
    if len(model._model.output_names) > 1 or (model._columns is not None and model._columns.levels):
        raise ValueError("effects are drawn for models of numbers with one output")
    x = np.array(read_rows(model, X), dtype=np.float64)
    quantiles = np.linspace(0.01, 0.99, _GRID)
    grids = np.nanquantile(x, quantiles, axis=0)
    if len(x) > _SOME_ROWS:
        x = x[check_random_state(0).permutation(len(x))[:_SOME_ROWS]]
    names = getattr(model, "feature_names_in_", None)
    if names is None:  # a loaded model may know some
        names = [None] * x.shape[1] if model._columns is None else model._columns.names
    names = [f"x{i}" if name is None else name for i, name in enumerate(names)]
    if columns is None:
        used = [name for term in model._model.terms() for name in term["inputs"]]
        columns = sorted(range(len(names)), key=lambda i: -used.count(names[i]))[:4]
    ax = _axes(ax)
    for column in columns:
        means = []
        for value in grids[:, column]:
            changed = x.copy()
            changed[:, column] = value
            means.append(model._model.scores(changed).mean())
        ax.plot(quantiles, means, label=names[column])
    ax.set(xlabel="quantile of the column", ylabel="mean score")
    ax.legend()
    return ax


def explain(explanation, row=0, output=None, most=12, ax=None):
    """Draw what the parts of a model add to the score of a row, as a waterfall.

    Parameters
    ----------
    explanation : Explanation
        From `model.explain(X)`, or that `by_column()`.
    row : int, default=0
        The position of the row.
    output : str or int or None, default=None
        Of several targets or classes: which one; None: the one with the largest score.
    most : int, default=12
        Parts to draw, the largest first; what others add is one bar.
    ax : matplotlib axes or None, default=None
        Where to draw; None: on a figure of its own.

    Returns
    -------
    ax : matplotlib axes
        With a bar for each part, from where the sum stands to where it goes.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> import mfga.plot
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = mfga.MFGARegressor(terms=5, features="linear + hinge", tune=False).fit(X, y)
    >>> mfga.plot.explain(model.explain(X)).get_xlabel()
    'score'
    """
    base, parts, score = explanation.parts(row, output, most)
    ax = _axes(ax)
    values = np.array([value for _, value in parts])
    starts = base + np.concatenate([[0], np.cumsum(values)[:-1]]) if parts else values
    places = np.arange(len(parts))
    ax.barh(places, values, left=starts, color=["tab:blue" if value > 0 else "tab:red" for value in values])
    ax.axvline(base, color="grey", linewidth=0.8, linestyle="--", label=f"average {base:.4g}")
    ax.axvline(score, color="black", linewidth=0.8, label=f"this row {score:.4g}")
    ax.set_yticks(places, [name for name, _ in parts])
    ax.invert_yaxis()
    ax.set(xlabel="score")
    ax.legend()
    return ax
