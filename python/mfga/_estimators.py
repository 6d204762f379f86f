"""The estimators: scikit-learn's contract around the library's `fit` and its models."""

import numpy as np
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, column_or_1d

from . import _core, _dataset, _input
from ._base import Estimator, documented, undone_if_it_fails
from ._options import python_spelling, threads_of
from ._saved import label_texts, labels_of
from ._sums import add_rows, begin_statistics, fitted

# What there is once a model is fitted.
_OF_A_MODEL = ("_model", "report_", "n_terms_")


@documented("For numbers: squared, huber, huber(DELTA), poisson, gamma or quantile(PART).")
class MFGARegressor(MultiOutputMixin, RegressorMixin, Estimator):
    """Regression by a small formula: greedily selected kernel features, tuned to where they fit.

    `MFGARegressor().fit(X, y)` learns what `mfga train` learns from the same rows. Several targets, as columns of y,
    are learned together.

    Parameters
    ----------
    PARAMETERS

    Attributes
    ----------
    ATTRIBUTES

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from mfga import MFGARegressor
    >>> X, y = make_friedman1(n_samples=300, random_state=0)
    >>> model = MFGARegressor(terms=5, features="linear + hinge", tune=False).fit(X, y)
    >>> round(model.score(X, y), 2) > 0.8
    True
    >>> model.n_terms_
    5
    """

    _task = "regression"

    @undone_if_it_fails
    def fit(self, X, y, sample_weight=None, groups=None, *, checkpoint=None, resume=False):
        """Learn from rows.

        Parameters
        ----------
        X : array, DataFrame, Arrow table or pyarrow Dataset of shape (n_samples, n_features)
            Numbers, NaN where one is missing; of frames also truth values, texts and categories. Nothing is copied that
            need not be. The rows of a Dataset, such as Parquet files, are read batch by batch, and kept on disk where
            they would take more than half of `memory_limit`.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            The targets; of a Dataset the name of their column, or a list of names.
        sample_weight : array of shape (n_samples,), default=None
            How much each row counts: 2 is two copies of it, 0 is none. Of a Dataset the name of a column.
        groups : array of shape (n_samples,), default=None
            Rows of a group are held out together, where some are held out. Of a Dataset the name of a column.
        checkpoint : path, default=None
            A file for what has been found so far, written every ten seconds, and when the fit is interrupted. It is
            removed when the fit is done.
        resume : bool, default=False
            Whether to go on from the checkpoint, if it is there, to the same model.

        Returns
        -------
        self : object
            Fitted.
        """
        if _dataset.is_dataset(X):
            _dataset.learn_from(X, self, y, sample_weight, groups, checkpoint=checkpoint, resume=resume)
            vars(self).pop("_statistics", None)
            return self
        names = list(map(str, y.columns)) if hasattr(y, "columns") else None
        x, y, columns = _input.read_training(self, X, y, multi_output=True, y_numeric=True)
        targets = np.asarray(y, dtype=np.float64)
        n_targets = 1 if targets.ndim == 1 else targets.shape[1]
        if names is None and n_targets > 1:
            names = [f"y{k}" for k in range(n_targets)]
        self._learn(
            x,
            np.ascontiguousarray(targets.T).ravel(),
            columns,
            sample_weight,
            groups,
            target_names=names or (),
            checkpoint=checkpoint,
            resume=resume,
        )
        self._has_columns_of_targets = targets.ndim == 2
        vars(self).pop("_statistics", None)
        return self

    @undone_if_it_fails
    def partial_fit(self, X, y, sample_weight=None):
        """Learn from more rows, without a look back at those before.

        For the squared loss and one target. Sums over the rows are kept, as `Statistics` does, and say all about any
        model of the dictionary: the model is that of all rows so far, however they were divided into calls. The first
        call sets the scales and the dictionary from its rows, so these should be like the others: some hundreds at
        least. The model is fitted when it is first asked for. Nothing is tuned; parameters that need rows raise an
        error. After `fit` it begins anew.

        Parameters
        ----------
        X : array, DataFrame or Arrow table of shape (n_samples, n_features)
            The rows, with the same columns in every call.
        y : array of shape (n_samples,)
            The targets.
        sample_weight : array of shape (n_samples,), default=None
            How much each row counts: 2 is two copies of it, 0 is none.

        Returns
        -------
        self : object
            Fitted.
        """
        with python_spelling():
            _core.Statistics.check_options(self._options())
        statistics = vars(self).get("_statistics")
        if statistics is None:
            statistics, columns, *rows = begin_statistics(self, X, y, sample_weight)
        else:
            columns = self._columns
            x, y = _input.read_more(self, X, y)
            rows = x, y, _input.read_weights(sample_weight, x)
        add_rows(statistics, *rows, threads_of(self.n_jobs))
        for name in _OF_A_MODEL:
            vars(self).pop(name, None)
        self._statistics = statistics
        self._columns = columns
        self._has_columns_of_targets = False
        return self

    def __getattr__(self, name):
        # The model of partial_fit is fitted when something of it is asked for.
        if name not in _OF_A_MODEL or "_statistics" not in vars(self):
            return super().__getattribute__(name)  # says again what is wrong
        self._set_model(*fitted(self, self._statistics))
        return vars(self)[name]

    def __sklearn_is_fitted__(self):
        return "_statistics" in vars(self) or super().__sklearn_is_fitted__()

    def __getstate__(self):
        state = super().__getstate__()
        if "_statistics" in state:
            state["_statistics"] = state["_statistics"].to_bytes()
        return state

    def __setstate__(self, state):
        state = dict(state)
        if "_statistics" in state:
            state["_statistics"] = _core.Statistics.from_bytes(state["_statistics"])
        super().__setstate__(state)

    def predict(self, X):
        """Predict the targets of rows.

        Parameters
        ----------
        X : array, DataFrame or Arrow table of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
            The predictions.
        """
        values = self._values("predictions", X)
        return values.reshape(-1, 1) if values.ndim == 1 and self._has_columns_of_targets else values

    def _report_targets(self, y):
        """Give the library's targets: target after target."""
        return np.asarray(y, dtype=np.float64).T.ravel()

    def _take(self, model, path):
        super()._take(model, path)
        self._has_columns_of_targets = len(model.output_names) > 1
        vars(self).pop("_statistics", None)
        return self


@documented("For two classes: logistic or squared_hinge; for more: softmax; for any number: one_vs_rest.")
class MFGAClassifier(ClassifierMixin, Estimator):
    """Classification by a small formula: greedily selected kernel features, tuned to where they fit.

    `MFGAClassifier().fit(X, y)` learns what `mfga train --task classification` learns from the same rows, for any
    number of classes.

    Parameters
    ----------
    class_weight : dict, "balanced" or None, default=None
        How much the rows of each class count; "balanced": all classes together count the same.
    PARAMETERS

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted; without those whose rows all have weight 0.
    ATTRIBUTES

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mfga import MFGAClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = MFGAClassifier(terms=4, features="linear + hinge", tune=False).fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    >>> model.predict_proba(X[:2]).shape
    (2, 3)
    """

    _task = "classification"

    def __init__(
        self,
        terms="auto",
        *,
        class_weight=None,
        features=None,
        ridge="auto",
        penalty="ridge",
        loss="auto",
        tune="auto",
        effort="normal",
        choose="1se",
        per_step="auto",
        scale="auto",
        select="auto",
        search="greedy",
        refine=False,
        metric="none",
        nu="uniform",
        intercept="auto",
        tolerance=0,
        time_limit=0,
        tune_every=0,
        shortlist=0,
        engine="auto",
        precision="mixed",
        device="cpu",
        memory_limit=0,
        folds=5,
        ridges=None,
        warm_start=False,
        random_state=0,
        n_jobs=None,
        verbose=0,
        callback=None,
    ):
        shared = {name: value for name, value in locals().items() if name not in ("self", "class_weight")}
        Estimator.__init__(self, **shared)
        self.class_weight = class_weight

    @undone_if_it_fails
    def fit(self, X, y, sample_weight=None, groups=None, *, checkpoint=None, resume=False):
        """Learn from rows.

        Parameters
        ----------
        X : array, DataFrame, Arrow table or pyarrow Dataset of shape (n_samples, n_features)
            Numbers, NaN where one is missing; of frames also truth values, texts and categories. Nothing is copied that
            need not be. The rows of a Dataset, such as Parquet files, are read batch by batch, and kept on disk where
            they would take more than half of `memory_limit`.
        y : array of shape (n_samples,)
            The classes: numbers or texts; of a Dataset the name of their column.
        sample_weight : array of shape (n_samples,), default=None
            How much each row counts: 2 is two copies of it, 0 is none. Of a Dataset the name of a column.
        groups : array of shape (n_samples,), default=None
            Rows of a group are held out together, where some are held out. Of a Dataset the name of a column.
        checkpoint : path, default=None
            A file for what has been found so far, written every ten seconds, and when the fit is interrupted. It is
            removed when the fit is done.
        resume : bool, default=False
            Whether to go on from the checkpoint, if it is there, to the same model.

        Returns
        -------
        self : object
            Fitted.
        """
        if _dataset.is_dataset(X):
            return _dataset.learn_from(X, self, y, sample_weight, groups, checkpoint=checkpoint, resume=resume)
        name = getattr(y, "name", None)
        x, y, columns = _input.read_training(self, X, y)
        check_classification_targets(y)
        classes, positions = np.unique(column_or_1d(y), return_inverse=True)
        if len(classes) < 2:
            raise ValueError(f"y has one class, {classes[0]!r}; two classes or more are needed to learn from")
        if getattr(self, "class_weight", None) is not None:
            class_weights = compute_sample_weight(self.class_weight, y)
            if sample_weight is not None:
                class_weights = class_weights * _check_sample_weight(sample_weight, x, dtype=np.float64)
            sample_weight = class_weights
        labels = label_texts(classes)
        self._learn(
            x,
            positions.astype(np.float64),
            columns,
            sample_weight,
            groups,
            target_names=(str(name),) if name else (),
            labels=labels,
            checkpoint=checkpoint,
            resume=resume,
        )
        # A class whose rows all have weight 0 is not in the model, as if the rows were not there.
        self.classes_ = classes[np.isin(labels, self._model.labels)]
        return self

    def decision_function(self, X):
        """Score rows: of two classes above 0 where the second is likelier, of more a score for each.

        With the logistic loss the score of two classes is the log-odds of the second.

        Parameters
        ----------
        X : array, DataFrame or Arrow table of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            The scores.
        """
        return self._values("scores", X)

    def predict_proba(self, X):
        """Predict the probabilities of the classes.

        Parameters
        ----------
        X : array, DataFrame or Arrow table of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            In the order of `classes_`.
        """
        second = self._values("probabilities", X)
        return np.stack([1 - second, second], axis=1) if second.ndim == 1 else second

    def predict_log_proba(self, X):
        """Predict the logarithms of the probabilities of the classes.

        Parameters
        ----------
        X : array, DataFrame or Arrow table of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        logarithms : ndarray of shape (n_samples, n_classes)
            In the order of `classes_`.
        """
        return np.log(self.predict_proba(X))

    def predict(self, X):
        """Predict the classes of rows.

        Parameters
        ----------
        X : array, DataFrame or Arrow table of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The classes.
        """
        positions = self._values("predictions", X).astype(np.intp)
        return self.classes_[positions]

    def _report_targets(self, y):
        """Give the library's targets: positions among the classes."""
        y = column_or_1d(y)
        places = {label: float(place) for place, label in enumerate(self.classes_.tolist())}
        unknown = sorted({repr(label) for label in np.unique(y).tolist() if label not in places})
        if unknown:
            raise ValueError(f"y has classes that the model does not know: {', '.join(unknown)}")
        return [places[label] for label in y.tolist()]

    def _take(self, model, path):
        super()._take(model, path)
        self.classes_ = labels_of(model.labels)
        return self


def load(path):
    """Load a model that was saved by an estimator or by the command line.

    Parameters
    ----------
    path : str or path
        Of the file.

    Returns
    -------
    estimator : MFGARegressor or MFGAClassifier
        Fitted, with default parameters.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sklearn.datasets import load_wine
    >>> import mfga
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = mfga.MFGAClassifier(terms=6, tune=False).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(pathlib.Path(folder, "wine.json"))
    ...     again = mfga.load(pathlib.Path(folder, "wine.json"))
    >>> bool((again.predict(X) == model.predict(X)).all())
    True
    """
    with python_spelling():
        model = _core.Model.load(str(path))
    return (MFGARegressor if model.task == "regression" else MFGAClassifier)()._take(model, path)
