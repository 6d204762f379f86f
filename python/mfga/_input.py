"""From what users have - arrays, frames, Arrow tables - to the numbers that the library learns from.

A column of text becomes a column of 0 and 1 for each of its levels, as the command line does it with files.
"""

import warnings

import narwhals as nw
import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import (
    _check_sample_weight,
    _check_y,
    _get_feature_names,
    check_consistent_length,
    column_or_1d,
    validate_data,
)

from ._texts import count_texts, is_missing, level_finder, levels_of, texts_of

NUMBERS = {"dtype": [np.float64, np.float32], "order": None, "ensure_all_finite": "allow-nan"}


def is_frame(X):
    """Tell whether X has named columns."""
    return nw.dependencies.is_into_dataframe(X) or isinstance(X, nw.DataFrame) or hasattr(X, "__arrow_c_stream__")


def frame_of(X):
    """Wrap a frame so that all kinds are used in one way; others pass through."""
    if isinstance(X, nw.DataFrame):
        return X
    if nw.dependencies.is_into_dataframe(X):
        return nw.from_native(X, eager_only=True)
    if hasattr(X, "__arrow_c_stream__"):
        return nw.from_arrow(X, backend=_arrow_backend())
    return X


def _arrow_backend():
    for name in ("pyarrow", "polars", "pandas"):
        try:
            __import__(name)
        except ImportError:
            continue
        return name
    raise ImportError("reading this table needs pyarrow, polars or pandas; install one of them")


def columns_by_name(frame):
    """The columns of a frame; `frame[name]` would be a row if the name is a number."""
    return dict(zip(frame.columns, frame.iter_columns(), strict=True))


def kind_of(column):
    """Tell whether a column is one of numbers or of text."""
    dtype = column.dtype
    if dtype.is_numeric() or dtype == nw.Boolean:
        return "numbers"
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return "text"
    if dtype in (nw.Object, nw.Unknown):
        if all(isinstance(value, str) or is_missing(value) for value in column.to_numpy()):
            return "text"
        _numbers_of(column)  # says what else there is
        return "numbers"
    raise ValueError(
        f"the column {column.name!r} is of type {dtype}; expected numbers, truth values, texts or categories. "
        "Turn it into one of these, or leave it out"
    )


def _numbers_of(column):
    values = column.to_numpy()
    if values.dtype != object:
        return values
    # Objects: missing values among whole numbers or truth values, or whatever somebody put there.
    try:
        return np.array([np.nan if is_missing(value) else value for value in values], dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"the column {column.name!r} {_what_is_wrong(values)}") from None


def _what_is_wrong(values):
    texts, numbers = [], []
    for value in values:
        if isinstance(value, str):
            texts.append(value)
        elif not is_missing(value):
            try:
                float(value)
            except (TypeError, ValueError):
                return f"holds other things than numbers and texts, such as {value!r}"
            numbers.append(value)
    if texts and numbers:
        return f"mixes numbers and texts, such as {numbers[0]!r} and {texts[0]!r}; make all of it one or the other"
    if texts:
        return f"holds texts, such as {texts[0]!r}, where numbers are needed"
    return "holds other things than numbers"


def counted_texts(frame):
    """Of each column of text: how many rows have each text, and whether it is one of categories."""
    return {
        name: (count_texts(texts_of(column)), column.dtype in (nw.Categorical, nw.Enum))
        for name, column in columns_by_name(frame).items()
        if kind_of(column) == "text"
    }


class Columns:
    """What became of the columns of a frame: numbers, or levels of text.

    Parameters
    ----------
    names : list of str
        Of the columns of the frame, in order; None for one that is not used.
    levels : dict of str to list of str
        The levels of those that are text; none of one that is left out.
    rare : dict of str to list of str
        The texts of the level `other`, where there are such.
    has_names : bool, default=True
        Whether columns are found by name; else by position.
    looks_up : bool, default=False
        Whether frames may have other columns, too, in any order. So it is with a model from a file, which does not have
        the names of all columns of its training.
    """

    def __init__(self, names, levels, rare=(), has_names=True, looks_up=False):
        self.names = list(names)
        self.levels = dict(levels)
        self.rare = dict(rare)
        self.has_names = has_names
        self.looks_up = looks_up

    @classmethod
    def of(cls, names, counted):
        """Tell from the texts of the rows of training, as `counted_texts` gives them, what becomes of the columns."""
        levels, rare = {}, {}
        for name, (counts, is_category) in counted.items():
            levels[name], rare_here, reason = levels_of(counts, is_category)
            if rare_here:
                rare[name] = rare_here
            if reason:
                warnings.warn(f"the column {name!r} is left out: it {reason}", UserWarning, stacklevel=5)
        return cls(names, levels, rare)

    @property
    def input_names(self):
        """The names of the columns of numbers."""
        result = []
        for name in self.names:
            result += [f"{name}={level}" for level in self.levels[name]] if name in self.levels else [str(name)]
        return result

    @property
    def text_columns(self):
        """Which columns of numbers are levels: name, first position, levels, rare texts."""
        result, first = [], 0
        for name in self.names:
            if self.levels.get(name):
                result.append((str(name), first, self.levels[name], self.rare.get(name, [])))
            first += len(self.levels.get(name, [name]))
        return result

    def numbers(self, frame):
        """The columns of numbers, by columns in memory."""
        matrix = np.empty((len(frame), len(self.input_names)), dtype=np.float64, order="F")
        columns = columns_by_name(frame)
        if not self.has_names:
            columns = dict(zip(self.names, columns.values(), strict=True))
        elif self.looks_up:  # files have names as texts
            columns = {str(name): column for name, column in columns.items()}
        place = 0
        for name in self.names:
            width = len(self.levels.get(name, [name]))
            block = matrix[:, place : place + width]
            if name is None:
                block[:] = 0
            elif name in self.levels:
                self._fill(block, name, columns[name])
            else:
                block[:, 0] = _numbers_of(columns[name])
            place += width
        return matrix

    @property
    def kept_names(self):
        """The names of the columns that are not left out."""
        return [name for name in self.names if self.levels.get(name) != []]

    def kept(self, frame):
        """As `numbers`, of rows of training, but of a text the place of its level, in one column."""
        matrix = np.empty((len(frame), len(self.kept_names)), dtype=np.float64, order="F")
        columns = columns_by_name(frame)
        for place, name in enumerate(self.kept_names):
            if name not in self.levels:
                matrix[:, place] = _numbers_of(columns[name])
                continue
            matrix[:, place] = self._places(name, texts_of(columns[name]))
            if len(matrix) and matrix[:, place].min() < 0:
                raise ValueError(f"the column {name!r} has other texts than before; read what does not change")
        return matrix

    def _places(self, name, texts):
        find = level_finder(self.levels[name], self.rare.get(name, ()))
        return np.array([find(text) for text in texts], dtype=np.intp)

    def _fill(self, block, name, column):
        if block.shape[1] == 0:
            return
        texts = texts_of(column)
        found = self._places(name, texts)
        block[:] = 0
        rows = np.flatnonzero(found >= 0)
        block[rows, found[rows]] = 1
        block[found == -1] = np.nan
        if unknown := [texts[row] for row in np.flatnonzero(found == -2)]:
            warnings.warn(
                f"{len(unknown)} rows have a text in the column {name!r} that the model does not know, such as "
                f"{unknown[0]!r}; it counts as none of the known ones",
                UserWarning,
                stacklevel=6,
            )


class _Named:
    """Stands for a frame whose names an older scikit-learn would not find."""

    def __init__(self, frame):
        self.shape = frame.shape
        self.column_names = lambda: frame.columns

    def __dataframe__(self, *_, **__):
        return self


def known_frame(X):
    """The frame, and as scikit-learn knows it."""
    try:
        frame = frame_of(X)
    except nw.exceptions.DuplicateError as error:
        # "...: - 'a' 2 times - 'b' 3 times"
        which = " ".join(str(error).split()).partition(": - ")[2].replace(" - ", ", ")
        raise ValueError(f"X has columns of the same name: {which}; give each a name of its own") from None
    native = frame.to_native()
    if _get_feature_names(native) is None and all(isinstance(name, str) for name in frame.columns):
        native = _Named(frame)
    return frame, native


def _is_plain(frame, native):
    """Whether scikit-learn makes the right numbers of a frame: it knows pandas, but no missing values among objects."""
    return nw.dependencies.is_pandas_dataframe(native) and nw.Object not in frame.schema.values()


def _aligned(x):
    """Copy what lies askew in memory, such as a field of records of odd length; others pass through."""
    return np.require(x, requirements="A") if isinstance(x, np.ndarray) else x


def read_groups(groups):
    """Number the groups of rows."""
    groups = column_or_1d(groups)
    if groups.dtype.kind in "fO" and any(map(is_missing, groups)):
        raise ValueError("`groups` has missing values; give every row a group")
    try:
        return np.unique(groups, return_inverse=True)[1].astype(np.intp)
    except TypeError:
        raise ValueError("`groups` mixes kinds of things, such as numbers and texts; make them all one kind") from None


def read_weights(sample_weight, x):
    """Check the weights of rows; None stays None."""
    if sample_weight is None:
        return None
    return _check_sample_weight(sample_weight, x, dtype=np.float64, ensure_non_negative=True)


def read_training(estimator, X, y, **y_options):
    """Check X and y of a fit, and set `n_features_in_` and `feature_names_in_`.

    Returns
    -------
    x : array of numbers
    y : array
    columns : Columns or None
        If X has columns of text.
    """
    if is_frame(X):
        frame, native = known_frame(X)
        columns = Columns.of(frame.columns, counted_texts(frame))
        if columns.levels or not _is_plain(frame, native):
            y = validate_data(estimator, y=y, **y_options)
            validate_data(estimator, native, skip_check_array=True)
            x = check_array(
                columns.numbers(frame), ensure_min_samples=2, estimator=estimator, input_name="X", **NUMBERS
            )
            if len(y) != len(x):
                raise ValueError(f"Found input variables with inconsistent numbers of samples: {[len(x), len(y)]}")
            return x, y, columns if columns.levels else None
        X = native
    x, y = validate_data(estimator, X, y, ensure_min_samples=2, **NUMBERS, **y_options)
    return _aligned(x), y, None


def read_rows(estimator, X):
    """Check X of a fitted estimator; gives the array of numbers that its model takes."""
    columns = estimator._columns
    if columns is not None and columns.looks_up and is_frame(X):
        frame, _ = known_frame(X)
        names = list(map(str, frame.columns))
        known = {None, *names}
        if missing := [name for name in columns.names if name not in known]:
            raise ValueError(f"X lacks the columns {', '.join(map(repr, missing))}, which the model uses")
        if columns.levels or names != columns.names:
            return check_array(columns.numbers(frame), estimator=estimator, input_name="X", **NUMBERS)
    if columns is None or not columns.levels:
        if is_frame(X):
            frame, X = known_frame(X)
            if not _is_plain(frame, X):
                validate_data(estimator, X, skip_check_array=True, reset=False)
                x = Columns(frame.columns, {}).numbers(frame)
                return check_array(x, estimator=estimator, input_name="X", **NUMBERS)
        return _aligned(validate_data(estimator, X, reset=False, **NUMBERS))
    if not is_frame(X):
        raise ValueError(
            f"X is no frame; {type(estimator).__name__} has learned from one with the text columns "
            f"{', '.join(map(repr, columns.levels))}, and needs the same columns"
        )
    frame, native = known_frame(X)
    validate_data(estimator, native, skip_check_array=True, reset=False)
    return check_array(columns.numbers(frame), estimator=estimator, input_name="X", **NUMBERS)


def read_more(estimator, X, y):
    """Check rows that are to be learned from besides others.

    Returns
    -------
    x : array of numbers
    y : array
    """
    x = read_rows(estimator, X)
    y = _check_y(y, y_numeric=True, estimator=estimator)
    check_consistent_length(x, y)
    return x, y
