"""A page about a fitted model."""

import html
import os
import pathlib
import tempfile

import numpy as np
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from . import _input
from ._options import python_spelling, threads_of


class Page:
    """A page about a model; notebooks show it inline.

    Attributes
    ----------
    html : str
        One page that needs nothing else.
    """

    def __init__(self, text):
        self.html = text

    def save(self, path):
        """Write the page; an existing file is replaced whole or not at all.

        Parameters
        ----------
        path : str or path
            Of an HTML file.
        """
        path = pathlib.Path(path)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(self.html)
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(name, 0o666 & ~mask)  # as of any new file, not the private one of a temporary one
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise

    def __repr__(self):
        return f"<page about a model, {len(self.html.encode()) // 1000} kB>"

    def _repr_html_(self):
        style = "width: 100%; height: 48rem; border: 0"
        return f'<iframe title="page about a model" style="{style}" srcdoc="{html.escape(self.html)}"></iframe>'


class Reported:
    """The page of a fitted estimator, which has a `_model`."""

    def report(self, path=None, X=None, y=None, *, sample_weight=None, title=""):
        """Write a page about the model: formula, errors, importance, effects, what was tried.

        Parameters
        ----------
        path : str, path or None, default=None
            Of the HTML file; None: nothing is written.
        X : array, DataFrame or Arrow table of shape (n_samples, n_features), default=None
            Rows to look at the model with, best such that it was not trained on. None: the parts that need none.
        y : array of shape (n_samples,) or (n_samples, n_outputs), default=None
            Their targets. None: nothing is said about errors.
        sample_weight : array of shape (n_samples,), default=None
            How much each row counts.
        title : str, default=""
            Of the page; empty: made from the target.

        Returns
        -------
        page : Page
            Shown inline where a cell of a notebook ends with it; `page.html` is its text.
        """
        check_is_fitted(self)
        if X is None and (y is not None or sample_weight is not None):
            raise ValueError("y and sample_weight belong to the rows of X; give X as well")
        rows = targets = weights = None
        if X is not None:
            rows = _input.read_rows(self, X)
            weights = _input.read_weights(sample_weight, rows)
            if y is not None:
                check_consistent_length(rows, y)
                targets = np.ascontiguousarray(self._report_targets(y), dtype=np.float64)
        with python_spelling():
            page = Page(self._model.report(rows, targets, weights, title, threads_of(self.n_jobs)))
        if path is not None:
            page.save(path)
        return page
