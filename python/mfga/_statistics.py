"""Statistics: one pass over the rows, and models from their sums alone."""

from sklearn.base import clone

from . import _core, _input
from ._estimators import MFGARegressor
from ._options import python_spelling, threads_of
from ._sums import add_rows, begin_statistics, fitted


class Statistics:
    """Sums over rows that regression models are fitted from, for the squared loss and one target.

    Rows are added a batch at a time and need not be kept; parts that were summed apart, on other machines perhaps, are
    merged. The sums say all about any model of the dictionary: `fit` chooses terms, and by cross-validation the ridge
    and the number of terms, without another look at the rows. Their size does not depend on the number of rows.

    Parameters
    ----------
    X : array, DataFrame or Arrow table of shape (n_samples, n_features)
        Rows that are like all others. They set scales, knots, centres and widths, and are not counted: `update` does.
    y : array of shape (n_samples,)
        Their targets.
    sample_weight : array of shape (n_samples,), default=None
        How much each row counts.
    features : str or None, default=None
        The dictionary. None: lines, hinges and, where there is room among 1,000 candidates, products of two columns.
    scale : {"auto", "standard", "robust", "quantile"}, default="auto"
        How inputs are scaled.
    folds : int, default=5
        Folds of every cross-validation. Each row belongs to one by its position.
    memory_limit : float, default=0
        MiB that the sums may take; 0: four fifths of the machine's memory.
    random_state : int, RandomState instance or None, default=0
        Seed of the folds, and of what the dictionary draws.
    n_jobs : int or None, default=None
        Threads; None and -1: all cores.

    Attributes
    ----------
    n_rows : int
        Rows that were added.
    n_candidates : int
        Candidates of the dictionary.
    features : str
        The dictionary.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from mfga import Statistics
    >>> X, y = make_friedman1(n_samples=600, random_state=0)
    >>> statistics = Statistics(X[:200], y[:200], features="linear + hinge(knots=8)")
    >>> for first in range(0, 600, 200):
    ...     statistics = statistics.update(X[first : first + 200], y[first : first + 200])
    >>> statistics.n_rows
    600
    >>> model = statistics.fit(terms=6)
    >>> round(model.score(X, y), 2) > 0.8
    True
    """

    def __init__(
        self,
        X,
        y,
        *,
        sample_weight=None,
        features=None,
        scale="auto",
        folds=5,
        memory_limit=0,
        random_state=0,
        n_jobs=None,
    ):
        # It reads rows, and knows their columns.
        self._reader = MFGARegressor(
            features=features,
            scale=scale,
            folds=folds,
            memory_limit=memory_limit,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        self._sums, self._reader._columns, *_ = begin_statistics(self._reader, X, y, sample_weight)

    @property
    def n_rows(self):
        """Rows that were added, those of weight 0 left out."""
        return self._sums.rows

    @property
    def n_candidates(self):
        """Candidates of the dictionary."""
        return self._sums.candidates

    @property
    def folds(self):
        """Folds of every cross-validation."""
        return self._sums.folds

    @property
    def features(self):
        """The dictionary."""
        return self._sums.features

    def update(self, X, y, sample_weight=None):
        """Add rows. Where that fails, nothing is added.

        Parameters
        ----------
        X : array, DataFrame or Arrow table of shape (n_samples, n_features)
            The rows, with the columns of the first ones.
        y : array of shape (n_samples,)
            Their targets.
        sample_weight : array of shape (n_samples,), default=None
            How much each row counts: 2 is two copies of it, 0 is none.

        Returns
        -------
        self : object
            These statistics.
        """
        x, y = _input.read_more(self._reader, X, y)
        add_rows(self._sums, x, y, _input.read_weights(sample_weight, x), threads_of(self._reader.n_jobs))
        return self

    def merge(self, other):
        """Add the rows of other statistics, such as copies that were updated elsewhere.

        Both must have been made from the same rows with the same parameters. In whatever order and grouping parts are
        merged, the sums are the same to the last bit.

        Parameters
        ----------
        other : Statistics
            The others, which stay as they are.

        Returns
        -------
        self : object
            These statistics.
        """
        with python_spelling():
            self._sums.merge(other._sums)
        return self

    def fit(self, terms="auto", **parameters):
        """Fit a model to all rows so far.

        Parameters
        ----------
        terms : int or "auto", default="auto"
            Number of terms.
        **parameters : dict
            Other parameters of `MFGARegressor`, such as `ridge`; those that need rows raise an error.

        Returns
        -------
        model : MFGARegressor
            Fitted.
        """
        reader = self._reader
        model = clone(reader).set_params(terms=terms, **parameters)
        for name in ("n_features_in_", "feature_names_in_", "_columns"):
            if name in vars(reader):
                setattr(model, name, getattr(reader, name))
        model._set_model(*fitted(model, self._sums))
        model._has_columns_of_targets = False
        return model

    def save(self, path):
        """Save the sums in a file that the command line reads, too.

        Parameters
        ----------
        path : str or path
            Of the file; an existing one is replaced.
        """
        with python_spelling():
            self._sums.save(str(path))

    @classmethod
    def load(cls, path):
        """Load statistics that were saved here or by the command line.

        Parameters
        ----------
        path : str or path
            Of the file.

        Returns
        -------
        statistics : Statistics
            With default parameters for what the file does not have.
        """
        with python_spelling():
            sums = _core.Statistics.load(str(path))
        statistics = cls.__new__(cls)
        statistics._sums = sums
        statistics._reader = MFGARegressor()._take(sums.empty_model(), path)
        return statistics

    def __getstate__(self):
        return {"sums": self._sums.to_bytes(), "reader": self._reader}

    def __setstate__(self, state):
        self._sums = _core.Statistics.from_bytes(state["sums"])
        self._reader = state["reader"]

    def __repr__(self):
        return f"Statistics(features={self.features!r}, n_rows={self.n_rows}, n_candidates={self.n_candidates})"
