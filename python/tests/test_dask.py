"""Estimators on a cluster of Dask whose workers are processes."""

import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pandas
import pytest

import mfga

pytest.importorskip("distributed")

import dask  # noqa: E402
import dask.array as da  # noqa: E402
import dask.dataframe as dd  # noqa: E402
import distributed  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402

from mfga.dask import MFGAClassifier, MFGARegressor  # noqa: E402

ROWS = 3000
LIMIT = 300  # seconds until a test fails that waits


@contextlib.contextmanager
def cluster(workers):
    with (
        distributed.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0") as processes,
        distributed.Client(processes) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def client():
    with cluster(2) as client:
        yield client


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(ROWS, 5))
    x[::70, 3] = np.nan
    return x, x[:, 0] + np.maximum(0, x[:, 1]) + 0.1 * rng.normal(size=ROWS)


@pytest.fixture(scope="module")
def frame(rows):
    x, y = rows
    rng = np.random.default_rng(1)
    frame = pandas.DataFrame(x, columns=list("abcde"))
    frame["colour"] = rng.choice(["red", "green", "blue"], ROWS)
    # A text of a few rows, which are all in one partition.
    frame.loc[:20, "colour"] = "teal"
    frame["y"] = y + (frame["colour"] == "red")
    frame["kind"] = np.select([frame["y"] > 1, frame["y"] > 0], ["high", "middle"], "low")
    return frame


def same_file(found, expected, folder):
    found.save(folder / "found.json")
    expected.save(folder / "expected.json")
    return (folder / "found.json").read_bytes() == (folder / "expected.json").read_bytes()


PARAMETERS = {"terms": 8, "features": "linear + hinge", "tune": False}


@pytest.mark.parametrize("parameters", [PARAMETERS, {"terms": 4, "loss": "huber", "tune": 5}])
def test_arrays_give_the_model_of_one_machine(client, rows, parameters, tmp_path):
    x, y = rows
    weights = np.tile([1.0, 2.0, 0.0], ROWS // 3)
    # Blocks of other sizes for the targets, and of some columns only.
    dask_x, dask_y = da.from_array(x, chunks=(470, 2)), da.from_array(y, chunks=1000)
    model = MFGARegressor(**parameters).fit(dask_x, dask_y, sample_weight=da.from_array(weights, chunks=470))
    expected = mfga.MFGARegressor(**parameters).fit(x, y, sample_weight=weights)
    assert same_file(model, expected, tmp_path)
    predicted = model.predict(dask_x)
    assert isinstance(predicted, da.Array)
    np.testing.assert_array_equal(predicted.compute(), expected.predict(x))
    assert model.score(dask_x, dask_y) == expected.score(x, y)
    np.testing.assert_array_equal(model.predict(x), expected.predict(x))


def test_frames_give_the_model_of_one_machine(client, frame, tmp_path):
    table = dd.from_pandas(frame, npartitions=5)
    names = [*"abcde", "colour"]
    parameters = {**PARAMETERS, "class_weight": "balanced"}
    model = MFGAClassifier(**parameters).fit(table[names], table["kind"])
    expected = mfga.MFGAClassifier(**parameters).fit(frame[names], frame["kind"])
    assert same_file(model, expected, tmp_path)
    assert list(model.classes_) == ["high", "low", "middle"]
    assert list(model.feature_names_in_) == names
    predicted = model.predict(table[names])
    assert isinstance(predicted, dd.Series)
    assert list(predicted.compute()) == list(expected.predict(frame[names]))
    probabilities = model.predict_proba(table[names]).compute()
    np.testing.assert_array_equal(probabilities.to_numpy(), expected.predict_proba(frame[names]))
    assert model.score(table[names], table["kind"]) == expected.score(frame[names], frame["kind"])


def test_several_targets(client, rows, tmp_path):
    x, y = rows
    targets = np.column_stack([y, y**2, -y])
    dask_x = da.from_array(x, chunks=(800, 5))
    model = MFGARegressor(**PARAMETERS).fit(dask_x, da.from_array(targets, chunks=(800, 2)))
    expected = mfga.MFGARegressor(**PARAMETERS).fit(x, targets)
    assert same_file(model, expected, tmp_path)
    np.testing.assert_array_equal(model.predict(dask_x).compute(), expected.predict(x))


def test_another_fit_begins_anew_and_warm_starts_go_on(client, rows, frame, tmp_path):
    x, y = rows
    dask_x, dask_y = da.from_array(x, chunks=(700, 5)), da.from_array(y, chunks=700)
    with pytest.raises(NotFittedError):
        MFGARegressor().predict(dask_x)
    table = dd.from_pandas(frame[["a"]], npartitions=2)
    model = MFGARegressor(warm_start=True, **PARAMETERS).fit(table, dask_y.rechunk(1500))
    assert list(model.feature_names_in_) == ["a"]
    model = model.set_params(warm_start=False).fit(dask_x, dask_y)
    assert not hasattr(model, "feature_names_in_") and model.n_features_in_ == 5
    expected = mfga.MFGARegressor(**PARAMETERS).fit(x, y)
    assert same_file(model, expected, tmp_path)
    model.set_params(warm_start=True, terms=10).fit(dask_x, dask_y)
    assert same_file(model, expected.set_params(warm_start=True, terms=10).fit(x, y), tmp_path)


def test_partitions_stay_where_they_are(client, rows):
    x, y = rows
    workers = sorted(client.nthreads())
    x, y = da.from_array(x, chunks=(500, 5)), da.from_array(y, chunks=500)
    x = client.persist(x, workers=workers[-1:])
    distributed.wait(x)
    before = client.who_has(distributed.futures_of(x))
    model = MFGARegressor(terms=3, features="linear", tune=False).fit(x, y)
    assert client.who_has(distributed.futures_of(x)) == before
    assert model.n_terms_ == 3


def test_any_number_of_workers_and_partitions(rows, tmp_path):
    x, y = rows
    expected = mfga.MFGARegressor(**PARAMETERS).fit(x, y)
    with cluster(4):
        for chunk in (3000, 2990, 100):
            model = MFGARegressor(**PARAMETERS).fit(da.from_array(x, chunks=(chunk, 5)), da.from_array(y, chunks=chunk))
            assert same_file(model, expected, tmp_path), chunk


def test_errors_of_a_worker_reach_the_user(client, rows):
    x, y = rows
    infinite = x.copy()
    infinite[ROWS - 1, 2] = np.inf  # of the last worker only
    dask_x, dask_y = da.from_array(x, chunks=(700, 5)), da.from_array(y, chunks=700)
    with pytest.raises(ValueError, match="infinity"):
        MFGARegressor(terms=2).fit(da.from_array(infinite, chunks=(700, 5)), dask_y)
    with pytest.raises(ValueError, match="y has one class"):
        MFGAClassifier().fit(dask_x, da.zeros(ROWS, chunks=700))
    with pytest.raises(ValueError, match="`terms`"):
        MFGARegressor(terms=-1).fit(dask_x, dask_y)
    with pytest.raises(ValueError, match="NaN"):
        MFGARegressor(terms=2).fit(dask_x, dask_x[:, 3])
    with pytest.raises(ValueError, match="all of `sample_weight` are 0"):
        MFGARegressor(terms=2).fit(dask_x, dask_y, da.zeros(ROWS, chunks=700))
    parts = [pandas.DataFrame({"a": part}, dtype=object) for part in (["x", "y"] * 50, list(range(100)))]
    with dask.config.set({"dataframe.convert-string": False}):
        odd = dd.from_map(lambda place: parts[place], [0, 1], meta=parts[0])
        with pytest.raises(ValueError, match="'a' holds texts in some partitions and numbers in others"):
            MFGARegressor(terms=2).fit(odd, da.from_array(y[:200], chunks=100))
    # The cluster goes on.
    assert MFGARegressor(**PARAMETERS).fit(dask_x, dask_y).n_terms_ == 8


def test_what_is_wrong_is_told_before_there_is_work(client, rows):
    x, y = rows
    dask_x, dask_y = da.from_array(x, chunks=(700, 5)), da.from_array(y, chunks=700)
    with pytest.raises(TypeError, match="X is of type ndarray; expected a Dask array or DataFrame"):
        MFGARegressor().fit(x, y)
    with pytest.raises(TypeError, match="y is of type ndarray"):
        MFGARegressor().fit(dask_x, y)
    with pytest.raises(ValueError, match="X has 3000 rows, and y 2000"):
        MFGARegressor().fit(dask_x, dask_y[:2000])
    with pytest.raises(ValueError, match="X has 2 partitions, and y 3"):
        table = dd.from_pandas(pandas.DataFrame(x), npartitions=2)
        MFGARegressor().fit(table, dd.from_pandas(pandas.Series(y), npartitions=3))
    with pytest.raises(ValueError, match="X has 3 dimensions"):
        MFGARegressor().fit(dask_x[:, :, None], dask_y)
    with pytest.raises(ValueError, match="`callback` and `verbose`"):
        MFGARegressor(verbose=1).fit(dask_x, dask_y)


def slow_fit():
    """An estimator that learns for many minutes, and rows for it."""
    rng = np.random.default_rng(0)
    x, y = da.from_array(rng.normal(size=(20000, 40)), chunks=(10000, 40)), da.random.random(20000, chunks=10000)
    return MFGARegressor(terms=4000, features="gaussian(order=2) + hinge", per_step=1, tune=False, loss="huber"), x, y


def wait_until_learning(client, wanted):
    """Wait until so many workers are within a fit."""

    def is_learning():
        import sys

        names = set()
        for frame in sys._current_frames().values():
            while frame is not None:
                names.add(frame.f_code.co_name)
                frame = frame.f_back
        return "_call_library" in names

    deadline = time.monotonic() + LIMIT
    while sum(client.run(is_learning).values()) != wanted:
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_a_worker_that_dies_ends_the_fit(client):
    processes = client.run(os.getpid)

    def kill_one_that_learns():
        wait_until_learning(client, 2)
        os.kill(next(iter(processes.values())), signal.SIGKILL)

    killer = threading.Thread(target=kill_one_that_learns, daemon=True)
    killer.start()
    slow, x, y = slow_fit()
    with pytest.raises(ConnectionError, match="has gone"):
        slow.fit(x, y)
    killer.join(LIMIT)
    client.wait_for_workers(2, timeout=LIMIT)
    assert not hasattr(slow, "n_terms_")


def test_an_interrupt_ends_the_fit_on_all_workers(client):
    def interrupt():
        wait_until_learning(client, 2)
        os.kill(os.getpid(), signal.SIGINT)

    client.wait_for_workers(2, timeout=LIMIT)
    thread = threading.Thread(target=interrupt, daemon=True)
    thread.start()
    slow, x, y = slow_fit()
    with pytest.raises(KeyboardInterrupt):
        slow.fit(x, y)
    thread.join(LIMIT)
    wait_until_learning(client, 0)
    # The workers are free for others.
    assert MFGARegressor(**PARAMETERS).fit(x[:, :5], y).n_terms_ == 8


def test_a_partition_that_cannot_be_computed_tells_why(client, rows):
    def fails():
        raise ArithmeticError("this partition is broken")

    x, y = rows
    parts = [da.from_array(x[:1000], chunks=(500, 5)), da.from_delayed(dask.delayed(fails)(), (500, 5), float)]
    broken = client.persist(da.concatenate(parts))
    with pytest.raises(ArithmeticError, match="this partition is broken"):
        MFGARegressor(**PARAMETERS).fit(broken, da.from_array(y[:1500], chunks=500))


def test_a_cluster_with_tls_is_refused(client, rows, monkeypatch):
    monkeypatch.setattr(distributed.Client, "nthreads", lambda self: {"tls://10.0.0.1:8786": 1})
    with pytest.raises(ValueError, match="TLS.*unencrypted.*mfga.MFGARegressor"):
        MFGARegressor().fit(*(da.from_array(part) for part in rows))


def test_the_docs_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (pathlib.Path(__file__).parents[2] / "docs" / "clusters.md").read_text()
    exec(re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)[0], {"__name__": "__main__"})
    assert mfga.load("model.json").n_terms_ == 8


def test_without_dask_the_message_names_what_to_install():
    hidden = "import sys; sys.modules['distributed'] = None; import mfga; import mfga.dask"
    done = subprocess.run([sys.executable, "-c", hidden], capture_output=True, text=True)
    assert done.returncode != 0 and "install mfga[dask]" in done.stderr
