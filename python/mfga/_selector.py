"""The chosen terms as features for other estimators."""

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from . import _input
from ._estimators import MFGARegressor
from ._options import python_spelling, threads_of


class FeatureSelector(MetaEstimatorMixin, TransformerMixin, BaseEstimator):
    """Turn rows into the values of the terms that an estimator of this package chooses.

    Parameters
    ----------
    estimator : MFGARegressor, MFGAClassifier or None, default=None
        What chooses the terms; None: an `MFGARegressor` with its defaults.

    Attributes
    ----------
    estimator_ : object
        The fitted estimator.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns of X, if it had such.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from sklearn.linear_model import LassoLarsIC
    >>> from sklearn.pipeline import make_pipeline
    >>> from mfga import FeatureSelector, MFGARegressor
    >>> X, y = make_friedman1(n_samples=300, random_state=0)
    >>> selector = FeatureSelector(MFGARegressor(terms=8, features="linear + hinge", tune=False))
    >>> selector.fit_transform(X, y).shape
    (300, 8)
    >>> make_pipeline(selector, LassoLarsIC()).fit(X, y).score(X, y) > 0.8
    True
    """

    def __init__(self, estimator=None):
        self.estimator = estimator

    def fit(self, X, y, sample_weight=None):
        """Choose the terms.

        Parameters
        ----------
        X : array, DataFrame or Arrow table of shape (n_samples, n_features)
            The rows.
        y : array
            What the terms are to explain.
        sample_weight : array of shape (n_samples,), default=None
            How much each row counts.

        Returns
        -------
        self : object
            Fitted.
        """
        estimator = MFGARegressor() if self.estimator is None else clone(self.estimator)
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        self.estimator_ = estimator.fit(X, y, sample_weight=sample_weight)
        self.n_features_in_ = self.estimator_.n_features_in_
        if hasattr(self.estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.estimator_.feature_names_in_
        self._set_terms()
        return self

    def _set_terms(self):
        model = self.estimator_._model
        self._terms = model.terms_as_outputs() if model.n_terms > 0 else None

    def transform(self, X):
        """Evaluate the terms.

        Parameters
        ----------
        X : array, DataFrame or Arrow table of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        values : ndarray of shape (n_samples, n_terms)
            Of each term, without its coefficient.
        """
        check_is_fitted(self)
        x = _input.read_rows(self.estimator_, X)
        if self._terms is None:
            return np.empty((len(x), 0))
        with python_spelling():
            return self._terms.scores(x, threads_of(self.estimator_.n_jobs)).reshape(len(x), -1)

    def get_feature_names_out(self, input_features=None):
        """Name the terms by their formulas.

        Parameters
        ----------
        input_features : ignored
            The names of the columns are known from the fit.

        Returns
        -------
        names : ndarray of str
            One per term; those that read the same are numbered.
        """
        check_is_fitted(self)
        names, seen = [], {}
        for term in self.estimator_._model.terms():
            count = seen[term["term"]] = seen.get(term["term"], 0) + 1
            names.append(term["term"] if count == 1 else f"{term['term']} ({count})")
        return np.array(names, dtype=object)

    def __sklearn_is_fitted__(self):
        return hasattr(self, "estimator_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        return tags

    def __getstate__(self):
        state = dict(super().__getstate__())
        state.pop("_terms", None)  # follows from the estimator
        return state

    def __setstate__(self, state):
        super().__setstate__(state)
        if "estimator_" in state:
            self._set_terms()
