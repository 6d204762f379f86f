"""Sums over rows that models are fitted from, as `partial_fit` and `Statistics` use them."""

import numpy as np

from . import _core, _input
from ._options import python_spelling
from ._progress import with_line


def begin_statistics(estimator, X, y, sample_weight):
    """Set the dictionary from rows, which are not counted yet.

    Returns
    -------
    statistics : _core.Statistics
    columns : Columns or None
        If X has columns of text.
    x, y, weights : arrays
        The rows, to be added.
    """
    name = getattr(y, "name", None)
    x, y, columns = _input.read_training(estimator, X, y, y_numeric=True)
    y = np.ascontiguousarray(y, dtype=np.float64)
    weights = _input.read_weights(sample_weight, x)
    options = estimator._options()
    options["ridge"] = "cv"  # whose folds are those of the statistics
    options.pop("ridges", None)
    names = list(map(str, getattr(estimator, "feature_names_in_", ())))
    with python_spelling():
        statistics = _core.Statistics.begin(
            x,
            y,
            options=options,
            columns=names if columns is None else columns.input_names,
            target_name=str(name) if name else "y",
            text_columns=[] if columns is None else columns.text_columns,
            weights=weights,
        )
    return statistics, columns, x, y, weights


def add_rows(statistics, x, y, weights, threads):
    """Add rows to statistics, all of them or, where that fails, none."""
    with python_spelling():
        statistics.update(x, np.ascontiguousarray(y, dtype=np.float64), weights, threads, None)


def fitted(estimator, statistics):
    """Fit a model to statistics with the parameters of an estimator; gives it and its report."""
    with python_spelling(), with_line(estimator.callback, estimator.verbose) as callback:
        return statistics.fit(estimator._options(), callback)
