"""Learning from datasets of pyarrow: Parquet files and folders of them."""

import json
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pandas
import pytest

from mfga import MFGAClassifier, MFGARegressor

pa = pytest.importorskip("pyarrow")
ds = pytest.importorskip("pyarrow.dataset")
parquet = pytest.importorskip("pyarrow.parquet")

ROWS = 3000
PARAMETERS = {"terms": 8, "features": "linear + hinge", "tune": False}
INPUTS = ["size", "count", "flag", "colour", "grade", "id"]
# So little that the rows stay on disk.
SMALL = {"memory_limit": 0.4, "n_jobs": 1}


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame({"size": rng.normal(size=ROWS)})
    frame.loc[::50, "size"] = np.nan
    frame["count"] = pandas.array(rng.integers(0, 9, ROWS), dtype="Int64")
    frame.loc[::90, "count"] = pandas.NA
    frame["flag"] = rng.random(ROWS) < 0.5
    frame["colour"] = rng.choice(["red", "green", "blue"], ROWS)
    frame.loc[:200, "colour"] = "teal"  # in some of the files only
    frame.loc[2000::40, "colour"] = None
    frame.loc[2900:2903, "colour"] = ["rare", "rarer", "NA", "rarest"]
    frame["grade"] = pandas.Categorical(rng.choice(["a", "b"], ROWS))
    frame["id"] = [f"row {n}" for n in range(ROWS)]
    frame["y"] = frame["size"].fillna(0) + 2 * (frame["colour"] == "red") + frame["flag"] + 0.1 * rng.normal(size=ROWS)
    frame["z"] = frame["y"] ** 2
    frame["kind"] = np.select([frame["y"] > 1, frame["y"] > 0], ["high", "middle"], "low")
    frame["weight"] = rng.integers(0, 3, ROWS)
    frame["group"] = rng.choice(list("abcdefgh"), ROWS)
    return frame


@pytest.fixture(scope="module")
def folder(frame, tmp_path_factory):
    """The frame as three Parquet files, with several groups of rows in each."""
    folder = tmp_path_factory.mktemp("parts")
    for place, first in enumerate(range(0, ROWS, 1100)):
        table = pa.Table.from_pandas(frame[first : first + 1100], preserve_index=False)
        parquet.write_table(table, folder / f"part-{place}.parquet", row_group_size=300)
    return folder


def dataset_of(folder, *names):
    dataset = ds.dataset(folder, format="parquet")
    return dataset.replace_schema(pa.schema([field for field in dataset.schema if field.name in names]))


def same_model(found, expected):
    one, other = (json.loads(model._model.to_json()) for model in (found, expected))
    for model in (one, other):
        model["training"].pop("seconds", None)
    return one == other


@pytest.mark.filterwarnings("ignore:the column 'id' is left out")
@pytest.mark.parametrize("parameters", [{}, SMALL])
def test_the_model_is_that_of_the_rows_in_memory(frame, folder, parameters):
    model = MFGARegressor(**PARAMETERS, **parameters).fit(dataset_of(folder, *INPUTS, "y"), "y")
    expected = MFGARegressor(**PARAMETERS, **parameters).fit(frame[INPUTS], frame["y"])
    assert same_model(model, expected)
    assert list(model.feature_names_in_) == INPUTS
    assert any("colour" in formula for formula in model._model.formula_names)
    np.testing.assert_array_equal(model.predict(frame[INPUTS]), expected.predict(frame[INPUTS]))


@pytest.mark.filterwarnings("ignore:the column 'id' is left out")
@pytest.mark.parametrize("parameters", [{}, SMALL])
def test_classes_weights_and_groups(frame, folder, parameters):
    names = [*INPUTS, "kind", "weight", "group"]
    options = {**PARAMETERS, **parameters, "class_weight": "balanced", "ridge": "cv", "folds": 3}
    model = MFGAClassifier(**options)
    model.fit(dataset_of(folder, *names), "kind", sample_weight="weight", groups="group")
    expected = MFGAClassifier(**options)
    # Classes are weighted by all rows, as `compute_sample_weight` does it.
    expected.fit(frame[INPUTS], frame["kind"], sample_weight=frame["weight"], groups=frame["group"])
    assert same_model(model, expected)
    assert list(model.classes_) == ["high", "low", "middle"]


@pytest.mark.filterwarnings("ignore:the column 'id' is left out")
def test_several_targets(frame, folder):
    model = MFGARegressor(**PARAMETERS, **SMALL).fit(dataset_of(folder, *INPUTS, "y", "z"), ["y", "z"])
    expected = MFGARegressor(**PARAMETERS, **SMALL).fit(frame[INPUTS], frame[["y", "z"]])
    assert same_model(model, expected)
    assert model.predict(frame[INPUTS]).shape == (ROWS, 2)


@pytest.mark.filterwarnings("ignore:the column 'id' is left out")
def test_rows_are_on_disk_where_memory_is_small(folder):
    from mfga import _core, _dataset

    stores = []

    class Store(_core.StoredTable):
        def finish(self, *arguments):
            super().finish(*arguments)
            stores.append((self.is_on_disk, self.rows))

    wanted, _core.StoredTable = _core.StoredTable, Store
    try:
        dataset = dataset_of(folder, *INPUTS, "y")
        for limit in (0, SMALL["memory_limit"], 0.1):
            model = MFGARegressor(**PARAMETERS, memory_limit=limit)
            if limit == 0.1:
                with pytest.raises(ValueError, match=r"the dataset: .* each of 3000 rows.*Raise `memory_limit`"):
                    _dataset.learn_from(dataset, model, "y", None, None)
            else:
                model.fit(dataset, "y")
    finally:
        _core.StoredTable = wanted
    assert stores == [(False, ROWS), (True, ROWS)]


def test_a_table_larger_than_the_limit_takes_little_memory(tmp_path):
    """The peak of a process that learns from a file whose numbers take ten times as much as the limit."""
    rng = np.random.default_rng(0)
    columns = {f"x{j}": rng.normal(size=200_000) for j in range(60)}
    columns["y"] = columns["x0"] + rng.normal(size=200_000)
    parquet.write_table(pa.table(columns), tmp_path / "t.parquet", row_group_size=20_000)
    program = """
import resource, sys
import pyarrow.dataset as ds
from mfga import MFGARegressor
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
before = peak()
model = MFGARegressor(terms=2, features="linear", tune=False, ridge=1, n_jobs=1, memory_limit=32)
model.fit(ds.dataset(sys.argv[1]), "y")
print(peak() - before)
"""
    done = subprocess.run([sys.executable, "-c", program, tmp_path / "t.parquet"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    table = 200_000 * 60 * 8 / 2**20  # 92 MiB
    assert int(done.stdout) < 0.9 * table


@pytest.mark.filterwarnings("ignore:the column 'id' is left out")
def test_fits_go_on_from_a_checkpoint(frame, folder, tmp_path):
    dataset = dataset_of(folder, *INPUTS, "y")
    path = tmp_path / "c"
    options = {**PARAMETERS, **SMALL, "tune": 5}

    def end(progress):
        if progress.terms > 3:  # there is something to keep
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        MFGARegressor(**options, callback=end).fit(dataset, "y", checkpoint=path)
    assert path.exists()
    # With rows in memory as well: the rows are the same.
    model = MFGARegressor(**options).fit(frame[INPUTS], frame["y"], checkpoint=path, resume=True)
    assert same_model(model, MFGARegressor(**options).fit(dataset, "y"))


def test_what_is_wrong_is_said(frame, folder):
    dataset = dataset_of(folder, "size", "flag", "y")
    for given, text in [
        ({"y": frame["y"]}, "`y` is of type Series; expected the name of a column, for X is a dataset"),
        ({"y": "price"}, "`y` is 'price'; expected a column of the dataset, which has 'size', 'flag', 'y'"),
        ({"y": "y", "sample_weight": "w"}, "`sample_weight` is 'w'"),
        ({"y": "size"}, "y, the column 'size', is missing in some rows"),
        ({"y": ["y", "size", "flag"]}, "add some to learn from"),
    ]:
        with pytest.raises(ValueError, match=re.escape(text)):
            MFGARegressor(**PARAMETERS).fit(dataset, **given)
    with pytest.raises(ValueError, match="`y` is of type list"):
        MFGAClassifier(**PARAMETERS).fit(dataset, ["y"])
    with pytest.raises(ValueError, match="one class"):
        MFGAClassifier(**PARAMETERS).fit(ds.dataset(pa.table({"a": [1, 2, 3], "y": [1, 1, 1]})), "y")
    with pytest.raises(ValueError, match="infinity"):
        MFGARegressor(**PARAMETERS).fit(ds.dataset(pa.table({"a": [1, np.inf, 3], "y": [1, 2, 3]})), "y")
    dates = ds.dataset(pa.table({"when": pandas.date_range("2024-01-01", periods=9), "y": range(9)}))
    with pytest.raises(ValueError, match="the column 'when' is of type Datetime.*leave it out"):
        MFGARegressor(**PARAMETERS).fit(dates, "y")


def test_datasets_of_other_files(frame, tmp_path):
    rows = frame[["size", "flag", "y"]]
    rows.to_csv(tmp_path / "t.csv", index=False)
    expected = MFGARegressor(**PARAMETERS).fit(rows[["size", "flag"]], rows["y"])
    for dataset in (ds.dataset(pa.Table.from_pandas(rows)), ds.dataset(tmp_path / "t.csv", format="csv")):
        assert same_model(MFGARegressor(**PARAMETERS).fit(dataset, "y"), expected)


def test_the_docs_run(frame, tmp_path, monkeypatch):
    """Both ways of docs/scale.md: the estimator, and the table as CSV for the tool."""
    monkeypatch.chdir(tmp_path)
    os.mkdir("parts")
    rows = frame[["size", "colour", "y"]].rename(columns={"y": "price"})
    parquet.write_table(pa.Table.from_pandas(rows), "parts/a.parquet")
    text = (pathlib.Path(__file__).parents[2] / "docs" / "scale.md").read_text()
    program = re.search(r"```python\n(.*?)```", text, flags=re.DOTALL)[1]
    exec(program.replace("memory_limit=2000", "terms=3, tune=False"), {})
    assert pathlib.Path("model.json").exists()
    pytest.importorskip("polars")
    command = re.search(r"^    python3 -c '(.*scan_parquet.*)'$", text, re.MULTILINE)[1]
    subprocess.run([sys.executable, "-c", command], check=True)
    pandas.testing.assert_frame_equal(pandas.read_csv("parts.csv", keep_default_na=False, na_values=[""]), rows)
