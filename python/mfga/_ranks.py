"""One model from rows that are in several places, for clusters: what is asked of each place, and what a rank does."""

import collections
import dataclasses

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import check_array
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_y, check_consistent_length, column_or_1d

from . import _input
from ._saved import label_texts
from ._texts import MOST_LEVELS


@dataclasses.dataclass
class Look:
    """What some of the rows tell about the table."""

    rows: int
    names: list | None  # of the columns; None: an array
    width: int
    texts: dict  # of each column of text: how many rows have each text, and whether it is one of categories
    labels: np.ndarray | None  # the classes among them
    counts: np.ndarray | None  # and how many rows each has
    target_names: list | None  # of several targets
    dimensions: int  # of y
    is_weighted: bool


def look_at(estimator, X, y, weights):
    """Look at some rows."""
    check_consistent_length(X, y, *([] if weights is None else [weights]))
    names, texts, width = None, {}, 0
    if _input.is_frame(X):
        frame = _input.known_frame(X)[0]
        names, texts, width = list(frame.columns), _input.counted_texts(frame), frame.shape[1]
        for counts, _ in texts.values():
            while len(counts) > MOST_LEVELS + 2:  # too many in any case
                counts.popitem()
    else:
        width = check_array(X, ensure_min_samples=0, input_name="X", **_input.NUMBERS).shape[1]
    labels = counts = target_names = None
    if is_classifier(estimator):
        labels, counts = np.unique(column_or_1d(y), return_counts=True)
        if len(labels):
            check_classification_targets(labels)
        target_names = [str(y.name)] if getattr(y, "name", None) else None
    else:
        if len(y):
            _check_y(y, multi_output=True, y_numeric=True, estimator=estimator)
        if hasattr(y, "columns"):
            target_names = list(map(str, y.columns))
        elif np.ndim(y) == 2:
            target_names = [f"y{k}" for k in range(np.shape(y)[1])] if np.shape(y)[1] > 1 else None
    is_weighted = weights is None or bool(np.any(np.asarray(weights)))
    return Look(len(y), names, width, texts, labels, counts, target_names, np.ndim(y), is_weighted)


@dataclasses.dataclass
class Layout:
    """What all ranks must agree on before they learn from their rows."""

    names: list | None  # of the columns; None: arrays
    width: int
    columns: _input.Columns | None  # if there are columns of text
    classes: np.ndarray | None
    class_weights: np.ndarray | None
    target_names: list
    dimensions: int  # of y

    @classmethod
    def of(cls, estimator, looks):
        """Agree on what all rows tell."""
        looks = [look for look in looks if look.rows > 0]
        if sum(look.rows for look in looks) < 2:
            raise ValueError("found fewer than 2 rows; expected at least 2 to learn from")
        if not any(look.is_weighted for look in looks):
            raise ValueError("all of `sample_weight` are 0; there is nothing to learn from")
        first = looks[0]
        for look in looks:
            if (look.names, look.width, look.target_names) != (first.names, first.width, first.target_names):
                raise ValueError(
                    f"some rows have the columns {_shown(first)} and others {_shown(look)}; expected the same of all"
                )
        columns = None
        if first.names is not None:
            columns = _input.Columns.of(first.names, _all_texts(looks))
        classes = class_weights = None
        if first.labels is not None:
            classes, class_weights = _all_classes(estimator, looks)
        return cls(
            first.names,
            first.width,
            columns if columns is not None and columns.levels else None,
            classes,
            class_weights,
            first.target_names or [],
            first.dimensions,
        )

    def learn(self, estimator, parts, communicator=None, store=None, **more):
        """Fit an estimator to the parts that are here, X, y and weights of each.

        Parameters
        ----------
        estimator : Estimator
            Not fitted.
        parts : iterable
            Each is forgotten as soon as it is read.
        communicator : Communicator, default=None
            The other ranks, which have more parts.
        store : StoredTable, default=None
            Where the rows go; None: memory.
        **more : dict
            For the library.
        """
        estimator.n_features_in_ = self.width
        if self.names is not None and all(isinstance(name, str) for name in self.names):
            estimator.feature_names_in_ = np.array(self.names, dtype=object)
        x, targets, weights = [], [], []
        for X, y, w in parts:
            if len(y) == 0:
                continue
            if store is None:
                x.append(self._numbers(X))
            else:
                store.add(self._checked(self._columns.kept(_input.known_frame(X)[0])))
            weight = None if w is None else _input.read_weights(w, y)
            if self.classes is not None:
                y = np.searchsorted(self.classes, column_or_1d(y))
                if self.class_weights is not None:
                    weight = self.class_weights[y] * (1.0 if weight is None else weight)
            targets.append(np.asarray(y, dtype=np.float64))
            weights.append(weight)
        is_weighted = weights and weights[0] is not None
        if store is not None:
            x = store
            store.finish(self.kept_levels, self._outputs)
        elif not x:  # a rank may have none
            width = self.width if self.columns is None else len(self.columns.input_names)
            x, targets = [np.empty((0, width))], [np.empty((0, max(1, len(self.target_names)))[: self.dimensions])]
        y = np.concatenate(targets)
        labels = () if self.classes is None else label_texts(self.classes)
        estimator._call_library(
            x,
            np.ascontiguousarray(y.T).ravel(),
            self.columns,
            np.concatenate(weights) if is_weighted else None,
            more.pop("groups", None),
            self.target_names,
            labels,
            communicator=communicator,
            **more,
        )
        if self.classes is None:
            estimator._has_columns_of_targets = self.dimensions == 2
        else:
            estimator.classes_ = self.classes[np.isin(labels, estimator._model.labels)]
        return estimator

    @property
    def kept_levels(self):
        """Of each number of a row that a store keeps: of how many levels it is the place; None: it is a number."""
        return [self._columns.levels.get(name) and len(self._columns.levels[name]) for name in self._columns.kept_names]

    @property
    def _columns(self):
        return self.columns or _input.Columns(self.names, {})

    @property
    def _outputs(self):
        """Scores of each row."""
        return len(self.target_names) if self.classes is None or len(self.classes) == 2 else len(self.classes)

    def _numbers(self, X):
        return self._checked(X if self.names is None else self._columns.numbers(_input.known_frame(X)[0]))

    @staticmethod
    def _checked(x):
        return check_array(x, ensure_min_samples=0, input_name="X", **_input.NUMBERS)


def _shown(look):
    names = [f"{look.width} without names"] if look.names is None else map(str, look.names)
    return ", ".join([*names, *(look.target_names or [])])


def _all_texts(looks):
    """Add up how many rows have each text; a column of no texts in some places may be one of numbers in others."""
    counted = {}
    for name in looks[0].names:
        found = [look.texts.get(name) for look in looks]
        texts = [counts for counts, _ in filter(None, found)]
        if None in found:
            if any(set(counts) - {None} for counts in texts):
                raise ValueError(
                    f"the column {name!r} holds texts in some partitions and numbers in others; make all of it one or "
                    "the other"
                )
        else:
            total = collections.Counter()
            for counts in texts:
                total.update(counts)
            counted[name] = total, any(is_category for _, is_category in found)
    return counted


def _all_classes(estimator, looks):
    every = np.concatenate([look.labels for look in looks])
    classes, places = np.unique(every, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y has one class, {classes[0]!r}; two classes or more are needed to learn from")
    wanted = getattr(estimator, "class_weight", None)
    if wanted is None:
        return classes, None
    if wanted == "balanced":
        counts = np.bincount(places, weights=np.concatenate([look.counts for look in looks]))
        return classes, counts.sum() / (len(classes) * counts)
    return classes, compute_class_weight(wanted, classes=classes, y=classes)
