"""Fits and models of the mfga library; use the estimators of `mfga`."""

from collections.abc import Mapping, Sequence
from typing import Annotated

import numpy
from numpy.typing import NDArray


def version() -> str: ...

def option_tables() -> dict:
    """The rows of the tables of options: name, default, value, help."""

def has_infinite(x: Annotated[NDArray, dict(device='cpu', writable=False)]) -> bool:
    """Whether a number of an array is infinite."""

class Dictionary:
    """A sum of feature families."""

    def __init__(self, expression: str) -> None: ...

    @property
    def families(self) -> list[tuple[str, dict[str, str]]]: ...

    def candidates(self, n_inputs: int) -> float: ...

class Progress:
    """Where a fit stands."""

    @property
    def terms(self) -> int: ...

    @property
    def terms_wanted(self) -> int: ...

    @property
    def risk(self) -> float: ...

    @property
    def seconds(self) -> float: ...

    @property
    def validated(self) -> float: ...

    @property
    def tuning_steps(self) -> int: ...

    @property
    def phase(self) -> str: ...

    @property
    def done(self) -> float: ...

class Model:
    """A trained model."""

    @staticmethod
    def from_json(text: str) -> Model: ...

    @staticmethod
    def load(path: str) -> Model: ...

    def save(self, path: str) -> None: ...

    def to_json(self) -> str: ...

    def __reduce__(self) -> tuple: ...

    def scores(self, x: Annotated[NDArray, dict(device='cpu', writable=False)], threads: int = 0) -> NDArray[numpy.float64]: ...

    def predictions(self, x: Annotated[NDArray, dict(device='cpu', writable=False)], threads: int = 0) -> NDArray[numpy.float64]: ...

    def probabilities(self, x: Annotated[NDArray, dict(device='cpu', writable=False)], threads: int = 0) -> NDArray[numpy.float64]: ...

    def explain(self, x: Annotated[NDArray, dict(device='cpu', writable=False)], by_column: bool, threads: int = 0) -> tuple: ...

    def terms_as_outputs(self) -> Model: ...

    def report(self, x: Annotated[NDArray, dict(device='cpu', writable=False)] | None, targets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, title: str, threads: int) -> str: ...

    def formula(self, most_terms: int) -> str: ...

    def table_formula(self) -> str: ...

    def full_formula(self) -> str: ...

    def exported(self, format: str) -> bytes: ...

    def save_export(self, format: str, path: str) -> None: ...

    def terms(self) -> list: ...

    @property
    def n_terms(self) -> int: ...

    @property
    def task(self) -> str: ...

    @property
    def loss(self) -> str: ...

    @property
    def target_name(self) -> str: ...

    @property
    def labels(self) -> list[str]: ...

    @property
    def n_columns(self) -> int: ...

    @property
    def unnamed_columns(self) -> int: ...

    @property
    def output_names(self) -> list[str]: ...

    @property
    def text_columns(self) -> list[tuple[str, int, list[str], list[str]]]: ...

    @property
    def inputs(self) -> list[tuple[str, int]]: ...

    @property
    def formula_names(self) -> list[str]: ...

    @property
    def intercepts(self) -> list[float]: ...

class StoredTable:
    """Rows that come in batches, on disk if they are many."""

    def __init__(self, kept: int, options: Mapping[str, str]) -> None: ...

    def add(self, rows: Annotated[NDArray, dict(device='cpu', writable=False)]) -> None: ...

    def finish(self, levels: Sequence[int | None], outputs: int) -> None:
        """
        `levels`: of each number that is kept, of how many levels it is the place, or None.
        """

    @property
    def is_on_disk(self) -> bool: ...

    @property
    def rows(self) -> int: ...

class Statistics:
    """Sums that models are fitted from."""

    @staticmethod
    def begin(x: Annotated[NDArray, dict(device='cpu', writable=False)], y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], options: Mapping[str, str], columns: Sequence[str], target_name: str, text_columns: Sequence[tuple[str, int, Sequence[str], Sequence[str]]], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> Statistics:
        """Without rows yet; these set the dictionary."""

    @staticmethod
    def from_bytes(bytes: bytes) -> Statistics: ...

    @staticmethod
    def load(path: str) -> Statistics: ...

    @staticmethod
    def check_options(options: Mapping[str, str]) -> None:
        """Raises where an option needs rows."""

    def update(self, x: Annotated[NDArray, dict(device='cpu', writable=False)], y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, threads: int, callback: object | None) -> None: ...

    def merge(self, other: Statistics) -> None: ...

    def fit(self, options: Mapping[str, str], callback: object | None) -> tuple: ...

    def save(self, path: str) -> None: ...

    def to_bytes(self) -> bytes: ...

    def empty_model(self) -> Model: ...

    @property
    def rows(self) -> int: ...

    @property
    def candidates(self) -> int: ...

    @property
    def folds(self) -> int: ...

    @property
    def features(self) -> str: ...

def fit(x: Annotated[NDArray, dict(device='cpu', writable=False)] | Sequence[Annotated[NDArray, dict(device='cpu', writable=False)]] | StoredTable, y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], options: Mapping[str, str], columns: Sequence[str], target_name: str, target_names: Sequence[str], labels: Sequence[str], text_columns: Sequence[tuple[str, int, Sequence[str], Sequence[str]]], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, groups: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, start: Model | None, callback: object | None, checkpoint: str = '', resume: bool = False, communicator: object | None = None) -> tuple:
    """Learns a model; the report of the fit comes with it."""
