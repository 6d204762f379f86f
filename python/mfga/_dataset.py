"""Learning from datasets of pyarrow, such as Parquet files, which need not fit into memory.

The rows are read twice, a batch at a time: first targets, weights and texts, which tell what the table is; then all
columns, into rows that are kept on disk as the command line keeps those of a large file.
"""

import dataclasses
import sys

import numpy as np
from sklearn.base import is_classifier

from . import _core, _input
from ._ranks import Layout, look_at

_BATCH_NUMBERS = 1 << 22  # read at a time, in all columns: 32 MiB once they are numbers


def is_dataset(X):
    """Tell whether X is a dataset of pyarrow; who has not imported that has none."""
    module = sys.modules.get("pyarrow.dataset")
    return module is not None and isinstance(X, module.Dataset)


def learn_from(dataset, estimator, y, sample_weight, groups, **more):
    """Fit an estimator; y, weights and groups are names of columns, and all others are inputs."""
    several = isinstance(y, list | tuple) and not is_classifier(estimator)
    targets = [_column(dataset, "y", name) for name in (y if several else [y])]
    special = {what: _column(dataset, what, name) for what, name in _given(sample_weight, groups)}
    inputs = [name for name in dataset.schema.names if name not in (*targets, *special.values())]
    if not inputs:
        raise ValueError("the dataset has no columns beside y, `sample_weight` and `groups`; add some to learn from")
    empty = _input.known_frame(dataset.schema.empty_table().select(inputs))[0]
    texts = [name for name, column in _input.columns_by_name(empty).items() if _input.kind_of(column) == "text"]

    def parts(columns):
        wanted = dict.fromkeys([*columns, *targets, *special.values()])
        wanted.pop(special.get("groups"), None)
        for batch in _batches(dataset, list(wanted), len(inputs)):
            of_row = [_values(batch.column(target), target) for target in targets]
            weights = _values(batch.column(special["sample_weight"])) if "sample_weight" in special else None
            yield batch.select(columns), np.column_stack(of_row) if several else of_row[0], weights

    known = {"names": inputs, "width": len(inputs), "target_names": targets, "dimensions": 2 if several else 1}
    looks = [dataclasses.replace(look_at(estimator, *part), **known) for part in parts(texts)]
    layout = Layout.of(estimator, looks)
    store = _core.StoredTable(len(layout.kept_levels), estimator._options())
    if "groups" in special:
        column = dataset.to_table(columns=[special["groups"]]).column(0)
        more["groups"] = _input.read_groups(_values(column))
    return layout.learn(estimator, parts(inputs), store=store, **more)


def _given(sample_weight, groups):
    return [(what, name) for what, name in (("sample_weight", sample_weight), ("groups", groups)) if name is not None]


def _column(dataset, what, name):
    if not isinstance(name, str):
        found = type(name).__name__
        raise ValueError(f"`{what}` is of type {found}; expected the name of a column, for X is a dataset")
    if name not in dataset.schema.names:
        names = ", ".join(map(repr, dataset.schema.names))
        raise ValueError(f"`{what}` is {name!r}; expected a column of the dataset, which has {names}")
    return name


def _batches(dataset, columns, inputs):
    """Tables of so many rows that few are in memory at a time."""
    import pyarrow as pa
    import pyarrow.dataset as ds

    # Without these, Arrow reads far ahead.
    options = {"batch_size": max(1, _BATCH_NUMBERS // inputs), "batch_readahead": 1, "fragment_readahead": 1}
    if isinstance(getattr(dataset, "format", None), ds.ParquetFileFormat):
        options["fragment_scan_options"] = ds.ParquetFragmentScanOptions(use_buffered_stream=True, pre_buffer=False)
    for batch in dataset.to_batches(columns=columns, **options):
        if batch.num_rows:
            yield pa.Table.from_batches([batch])


def _values(column, target=None):
    """The values of a column as an array; none of a target may be missing."""
    import pyarrow as pa

    if target is not None and column.null_count:
        raise ValueError(f"y, the column {target!r}, is missing in some rows; fill these in, or leave the rows out")
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column.to_numpy()
