"""What regression and classification share: parameters, the call of the library, state and files."""

import functools
import os

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from . import _core, _input
from ._explain import Explanation
from ._options import option_texts, python_spelling, seed_of, spelled, threads_of
from ._progress import with_line
from ._report import Reported
from ._saved import names_of
from ._show import Shown

# Parameters that are options of the library, by table.
FIT_OPTIONS = (
    "loss",
    "features",
    "nu",
    "select",
    "shortlist",
    "search",
    "refine",
    "tune",
    "tune_every",
    "metric",
    "effort",
    "time_limit",
    "terms",
    "choose",
    "per_step",
    "ridge",
    "penalty",
    "intercept",
    "scale",
    "tolerance",
    "engine",
    "precision",
    "device",
    "memory_limit",
    "folds",
    "ridges",
)

_PARAMETERS = """
    terms : int or "auto", default="auto"
        Number of terms of the model. "auto": as many as held-out rows gain by, 200 at most.
    features : str, Dictionary or None, default=None
        The dictionary of candidate features, such as "linear + hinge" or `Dictionary("hinge", knots=4)`. None: chosen
        by the rows.
    ridge : float, "auto" or "cv", default="auto"
        `ridge` times the squared norm of the coefficients is added to the sum of the losses. "auto": the best of a few
        on held-out rows. "cv": the best of `ridges` by cross-validation.
    penalty : {{"ridge", "logcosh"}}, default="ridge"
        What is multiplied by `ridge`: the sum of the squares of the coefficients, or of their log-cosh, a smooth
        stand-in for absolute values.
    loss : str, default="auto"
        What is minimised. {losses}
    tune : int, False or "auto", default="auto"
        Whether what was chosen - widths, centres, knots - is moved to where it fits best; a number of steps, or "auto"
        for as many as held-out rows gain by.
    effort : {{"quick", "normal", "thorough"}}, default="normal"
        How much is tried where held-out rows decide.
    choose : {{"1se", "best"}}, default="1se"
        Which number of terms `terms="auto"` takes: the smallest within a standard error of the best, or the best.
    per_step : int or "auto", default="auto"
        Terms that are added per greedy step; 1 is the most careful, more are faster. "auto": 1, and 1 more for every
        10 terms that there are.
    scale : {{"auto", "standard", "robust", "quantile"}}, default="auto"
        How inputs are scaled.
    select : {{"auto", "gradient", "normalised", "gain"}}, default="auto"
        What ranks the candidates.
    search : {{"greedy", "htp"}}, default="greedy"
        Terms step by step, or all at once by hard thresholding pursuit.
    refine : bool, default=False
        Whether terms are swapped afterwards until nothing improves.
    metric : {{"none", "diagonal", "full"}}, default="none"
        Whether it is learned how much each input counts.
    nu : {{"uniform", "norm", "alignment", "cv"}}, default="uniform"
        Weights of the dictionary's kernels.
    intercept : bool or "auto", default="auto"
        Whether there is a constant term; "auto": yes.
    tolerance : float, default=0
        The fit ends early when the mean training loss is at most this.
    time_limit : float, default=0
        Seconds that the fit may take; 0: any. There is a model in any case.
    tune_every : int, default=0
        Terms selected between tunings; 0: a quarter of all, 40 at most.
    shortlist : int, default=0
        Candidates of each step that are ranked again; 0: automatic.
    engine : {{"auto", "lazy", "gram"}}, default="auto"
        Passes over the rows, or all products of candidates once.
    precision : {{"mixed", "double"}}, default="mixed"
        Of the search; the atoms chosen are the same.
    device : {{"cpu", "cuda", "auto"}}, default="cpu"
        Where large searches look at the rows. "cuda": on a GPU of NVIDIA; "auto": there if there is one.
    memory_limit : float, default=0
        MiB that the search may take; 0: four fifths of the machine's memory.
    folds : int or "time", default=5
        Folds of `ridge="cv"`. "time": rows stand in the order of time, and wherever some are held out they come after
        those that are learned from.
    ridges : list of float or None, default=None
        What `ridge="cv"` chooses from; None: powers of ten from 1e-6 to 1e4.
    warm_start : bool, default=False
        Whether `fit` goes on from the model that is there: its terms are kept, and terms are added up to `terms`.
    random_state : int, RandomState instance or None, default=0
        Seed of everything random. A number is the seed of the command line, and gives the same model.
    n_jobs : int or None, default=None
        Threads; None and -1: all cores. The result does not depend on it.
    verbose : int, default=0
        Whether progress is shown.
    callback : callable or None, default=None
        Called after each step with an object that has `terms`, `terms_wanted`, `risk`, `seconds`, `phase` and `done`.
        If it returns True, the fit ends soon with the best model so far; what it raises ends the fit."""

_ATTRIBUTES = """
    report_ : dict
        What the fit found out: dictionary, ridge, path, tuning, numbers of terms tried, seconds, warnings.
    n_terms_ : int
        Number of terms.
    formula_ : str
        The model as a sum of terms. A notebook that ends a cell with it shows it in LaTeX, which is `formula_.latex`.
    terms_ : DataFrame, or list of dict where pandas is missing
        The terms with their coefficients.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns of X, if it had such."""


def documented(losses):
    """Fill in what the docstrings of the estimators share."""

    def fill(cls):
        cls.__doc__ = cls.__doc__.replace("    PARAMETERS", _PARAMETERS.strip("\n").format(losses=losses))
        cls.__doc__ = cls.__doc__.replace("    ATTRIBUTES", _ATTRIBUTES.strip("\n"))
        return cls

    return fill


def undone_if_it_fails(fit):
    """Leave the estimator as it was where a fit ends with an error."""
    # What scikit-learn sets when it checks X, before anything is learned.
    names = ("n_features_in_", "feature_names_in_")

    @functools.wraps(fit)
    def fit_or_undo(self, *args, **kwargs):
        before = {name: vars(self)[name] for name in names if name in vars(self)}
        try:
            return fit(self, *args, **kwargs)
        except BaseException:  # Ctrl-C, too
            for name in names:
                vars(self).pop(name, None)
            vars(self).update(before)
            raise

    return fit_or_undo


class Estimator(Shown, Reported, BaseEstimator):
    """What regression and classification share."""

    _option_names = FIT_OPTIONS
    _task = None

    def __init__(
        self,
        terms="auto",
        *,
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
        self.terms = terms
        self.features = features
        self.ridge = ridge
        self.penalty = penalty
        self.loss = loss
        self.tune = tune
        self.effort = effort
        self.choose = choose
        self.per_step = per_step
        self.scale = scale
        self.select = select
        self.search = search
        self.refine = refine
        self.metric = metric
        self.nu = nu
        self.intercept = intercept
        self.tolerance = tolerance
        self.time_limit = time_limit
        self.tune_every = tune_every
        self.shortlist = shortlist
        self.engine = engine
        self.precision = precision
        self.device = device
        self.memory_limit = memory_limit
        self.folds = folds
        self.ridges = ridges
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def _options(self):
        parameters = self.get_params(deep=False)
        texts = option_texts(parameters, self._option_names)
        texts["task"] = self._task
        texts["seed"] = str(seed_of(self.random_state))
        texts["threads"] = str(threads_of(self.n_jobs))
        return texts

    def _learn(
        self, x, y, columns, sample_weight, groups, target_names=(), labels=(), checkpoint=None, resume=False
    ):
        """Check the weights and groups of rows, and learn from them; y has target after target."""
        weights = _input.read_weights(sample_weight, x)
        if weights is not None and not np.any(weights):
            raise ValueError("all of `sample_weight` are 0; there is nothing to learn from")
        if groups is not None:
            check_consistent_length(x, groups)
            groups = _input.read_groups(groups)
        self._call_library(x, y, columns, weights, groups, target_names, labels, checkpoint=checkpoint, resume=resume)

    def _call_library(
        self, x, y, columns, weights, groups, target_names, labels, checkpoint=None, resume=False, communicator=None
    ):
        """Call the library with what was checked; x may be a list of arrays, whose rows follow one another."""
        names = list(map(str, getattr(self, "feature_names_in_", ())))
        start = vars(self).get("_model") if getattr(self, "warm_start", False) else None
        with python_spelling(), with_line(self.callback, self.verbose) as callback:
            model, report = _core.fit(
                x,
                y,
                options=self._options(),
                columns=names if columns is None else columns.input_names,
                target_name=", ".join(target_names) if target_names else "y",
                target_names=list(target_names) if len(target_names) > 1 else [],
                labels=list(labels),
                text_columns=[] if columns is None else columns.text_columns,
                weights=weights,
                groups=groups,
                start=start,
                callback=callback,
                checkpoint="" if checkpoint is None else os.fspath(checkpoint),
                resume=bool(resume),
                communicator=communicator,
            )
        self._set_model(model, report)
        self._columns = columns

    def _set_model(self, model, report):
        report["warnings"] = [spelled(text) for text in report["warnings"]]
        report["cut_short"] = [spelled(text) for text in report["cut_short"]]
        self._model = model
        self.report_ = report
        self.n_terms_ = model.n_terms

    def _values(self, what, X):
        """Ask the model for values of each row; `what` is a method of it."""
        # What scikit-learn checks of a few rows takes longer than the model. Where all is well, it is left out.
        state = self.__dict__
        is_plain = (
            type(X) is np.ndarray
            and X.dtype is _DOUBLE
            and X.ndim == 2
            and 0 < X.size <= _SMALL
            and "_model" in state
            and X.shape[1] == state["n_features_in_"]
            and "feature_names_in_" not in state
            and state["_columns"] is None
            and X.flags.aligned
            and not _core.has_infinite(X)
        )
        if not is_plain:
            check_is_fitted(self)
            X = _input.read_rows(self, X)
        try:
            return getattr(self._model, what)(X, threads_of(self.n_jobs))
        except ValueError as error:
            raise ValueError(spelled(str(error))) from None

    def explain(self, X):
        """Tell what each term adds to the score of each row, against the average of the training rows.

        Parameters
        ----------
        X : array, DataFrame or Arrow table of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        explanation : Explanation
            The contributions; those of a row add up to its `predict` (of numbers; with a link, to what the link is
            applied to) or `decision_function`. `explanation.by_column()` sums them by column of X, and
            `explanation[0]` shows a row in a notebook.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> import mfga
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> model = mfga.MFGARegressor(terms=5, features="linear + hinge", tune=False).fit(X, y)
        >>> explanation = model.explain(X)
        >>> explanation.values.shape
        (442, 5)
        >>> bool(np.allclose(explanation.base + explanation.values.sum(axis=1), model.predict(X)))
        True
        """
        check_is_fitted(self)
        rows = _input.read_rows(self, X)
        outputs = [str(name) for name in getattr(self, "classes_", self._model.output_names)]
        try:
            return Explanation._of(self._model, rows, outputs, threads_of(self.n_jobs))
        except ValueError as error:
            raise ValueError(spelled(str(error))) from None

    def __sklearn_is_fitted__(self):
        return hasattr(self, "_model")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def __getstate__(self):
        # The model is text: reading it back checks everything and executes nothing.
        state = dict(super().__getstate__())
        if "_model" in state:
            state["_model"] = state["_model"].to_json()
        if state.get("_columns") is not None:
            state["_columns"] = vars(state["_columns"])
        return state

    def __setstate__(self, state):
        state = dict(state)
        if "_model" in state:
            state["_model"] = _core.Model.from_json(state["_model"])
        if state.get("_columns") is not None:
            state["_columns"] = _input.Columns(**state["_columns"])
        super().__setstate__(state)

    def save(self, path):
        """Save the model in a file that the command line reads, too.

        Parameters
        ----------
        path : str or path
            Of a JSON file; an existing one is replaced.
        """
        check_is_fitted(self)
        with python_spelling():
            self._model.save(str(path))

    def export(self, format, path=None):
        """Write the model as a program in another language, or in a format that other tools read.

        Parameters
        ----------
        format : {"c", "cpp", "python", "sql", "latex", "sympy", "onnx", "pmml", "json"}
            What the file is.
        path : str, path or None, default=None
            Of the file; an existing one is replaced whole or not at all. None: nothing is written.

        Returns
        -------
        content : str, or bytes for "onnx"
            Of the file.
        """
        check_is_fitted(self)
        with python_spelling():
            content = self._model.exported(format)
            if path is not None:
                self._model.save_export(format, str(path))
        return content if format == "onnx" else content.decode()

    @classmethod
    def load(cls, path):
        """Load a model that was saved here or by the command line.

        Parameters
        ----------
        path : str or path
            Of the file.

        Returns
        -------
        estimator : object
            Fitted, with default parameters.
        """
        return cls()._take(_core.Model.load(str(path)), path)

    def _take(self, model, path):
        if model.task != self._task:
            raise ValueError(f"{path}: the model is for {model.task}; {type(self).__name__} is for {self._task}")
        names, levels, rare = names_of(model)
        has_names = model.unnamed_columns == 0
        if has_names and None not in names:
            self.feature_names_in_ = np.array(names, dtype=object)
        is_used = has_names or levels
        self._columns = _input.Columns(names, levels, rare, has_names, looks_up=has_names) if is_used else None
        self._model = model
        self.report_ = {}
        self.n_terms_ = model.n_terms
        self.n_features_in_ = len(names)
        return self


_DOUBLE = np.dtype(np.float64)
_SMALL = 4096
