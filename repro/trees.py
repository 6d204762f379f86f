"""The peer of ours.py: scikit-learn's gradient boosted trees, with its defaults and tuned on the training rows."""

import pickle
import time

import pandas
from scipy.stats import loguniform
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import log_loss, mean_squared_error
from sklearn.model_selection import GroupKFold, KFold, ParameterSampler, StratifiedKFold, cross_val_score
from threadpoolctl import threadpool_limits

from tool_runs import Stopwatch

FOLDS = 3
DRAWS = 8
DRAWS_OF_SMALL_TABLES = 24
ROWS_OF_SMALL_TABLES = 6000
MOST_ROWS_OF_A_SEARCH = 10000  # of several classes, each of which has trees of its own in every iteration
ROWS_OF_RARE_CLASSES = 100
SHAPES = {
    "learning_rate": loguniform(0.02, 0.3),
    "max_leaf_nodes": [4, 8, 16, 31, 63],
    "min_samples_leaf": [5, 10, 20, 50, 100],
    "l2_regularization": [0, 0.1, 1, 10, 100],
}
SPACE = [
    {**SHAPES, "early_stopping": [True], "max_iter": [500]},
    {**SHAPES, "early_stopping": [False], "max_iter": [50, 100, 200]},
]
DEFAULTS = {}


def make_trees(settings, classes):
    family = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    return family(categorical_features="from_dtype", random_state=0, **settings)


def plain(settings):
    """The same settings in numbers that JSON has."""
    return {name: value.item() if hasattr(value, "item") else value for name, value in settings.items()}


def tuned_settings(split, scoring, classes):
    """The best of the defaults and some random settings, by cross-validation on the training rows."""
    if split.train_groups is not None:
        folds = GroupKFold(FOLDS)
    else:
        folds = (StratifiedKFold if classes else KFold)(FOLDS, shuffle=True, random_state=0)
    draws = DRAWS_OF_SMALL_TABLES if len(split.train_target) < ROWS_OF_SMALL_TABLES else DRAWS
    inputs, target, groups = split.train_inputs, split.train_target, split.train_groups
    if classes and target.nunique() > 2 and len(target) > MOST_ROWS_OF_A_SEARCH:
        # All rows of rare classes stay, for early stopping needs some of each class in every fold.
        is_rare = target.map(target.value_counts()) < ROWS_OF_RARE_CLASSES
        some = target[~is_rare].sample(MOST_ROWS_OF_A_SEARCH - is_rare.sum(), random_state=0)
        target = pandas.concat([some, target[is_rare]])
        inputs = inputs.loc[target.index]

    def mean_score(settings):
        return cross_val_score(
            make_trees(settings, classes),
            inputs,
            target,
            groups=groups,
            cv=folds,
            scoring=scoring,
        ).mean()

    return max([DEFAULTS, *map(plain, ParameterSampler(SPACE, draws, random_state=0))], key=mean_score)


def metrics_of(trees, split, classes):
    """Under the names that the tool has for them."""
    truth = split.test_target
    if not classes:
        mse = mean_squared_error(truth, trees.predict(split.test_inputs))
        return {"mse": mse, "rmse": mse**0.5}
    return {
        "error_percent": 100 * (1 - trees.score(split.test_inputs, truth)),
        "log_loss": log_loss(truth, trees.predict_proba(split.test_inputs), labels=trees.classes_),
    }


def measure_trees(split, scoring, tuned, prediction_inputs, prediction_runs, threads=1):
    """The seconds of the fit have those of the search in them."""
    classes = scoring in ("accuracy", "neg_log_loss")
    with threadpool_limits(limits=threads):
        stopwatch = Stopwatch()
        settings = tuned_settings(split, scoring, classes) if tuned else DEFAULTS
        trees = make_trees(settings, classes).fit(split.train_inputs, split.train_target)
        seconds = stopwatch.seconds()
        predict_seconds = []
        for _ in range(prediction_runs):
            start = time.perf_counter()
            trees.predict(prediction_inputs)
            predict_seconds.append(time.perf_counter() - start)
        return {
            "metrics": metrics_of(trees, split, classes),
            "bytes": len(pickle.dumps(trees)),
            **seconds,
            "microseconds_per_row": 1e6 * min(predict_seconds, default=0) / len(prediction_inputs),
            "settings": settings,
            "iterations": trees.n_iter_,
        }
