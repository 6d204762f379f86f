"""The extension: arrays of all layouts, options as texts, errors, progress, signals."""

import gc
import os
import signal
import threading
import tracemalloc

import numpy as np
import pytest

import mfga
from mfga import MFGARegressor, _core
from mfga._options import spelled, threads_of


def fit_core(x, y, callback=None, **options):
    texts = {"terms": "4", "features": "linear + hinge", "tune": "no", "ridge": "0.001", **options}
    return _core.fit(
        x,
        y,
        options=texts,
        columns=[],
        target_name="y",
        target_names=[],
        labels=[],
        text_columns=[],
        weights=None,
        groups=None,
        start=None,
        callback=callback,
    )


def test_the_version_is_that_of_the_library():
    assert mfga.__version__ == _core.version()
    assert mfga.__version__.count(".") == 2


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("layout", ["c", "fortran", "strided", "reversed", "read-only"])
def test_layouts_give_one_model(table, dtype, layout):
    x, y = table
    x = x.astype(dtype)
    expected = fit_core(np.ascontiguousarray(x, dtype=np.float64), y)[0].to_json()
    other = {
        "c": x,
        "fortran": np.asfortranarray(x),
        "strided": np.repeat(np.repeat(x, 2, axis=0), 3, axis=1)[::2, ::3],
        "reversed": np.ascontiguousarray(x[::-1])[::-1],
        "read-only": x.copy(),
    }[layout]
    other.flags.writeable = layout != "read-only"
    before = other.copy()
    model = fit_core(other, y)[0]
    assert model.to_json() == expected
    assert np.array_equal(other, before)
    assert np.array_equal(model.scores(other), model.scores(np.ascontiguousarray(x, dtype=np.float64)))


def test_mapped_files_are_used_where_they_are(table, tmp_path, quick):
    x, y = table
    np.save(tmp_path / "x.npy", x)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    model = MFGARegressor(**quick).fit(mapped, y)
    assert np.array_equal(model.predict(mapped), MFGARegressor(**quick).fit(x, y).predict(x))


@pytest.mark.parametrize("order", ["C", "F"])
def test_fits_and_predictions_copy_nothing(order, quick):
    x = np.asarray(np.random.default_rng(0).normal(size=(40000, 20)), order=order)
    y = x[:, 0].copy()
    tracemalloc.start()
    model = MFGARegressor(**quick).fit(x, y)
    model.predict(x)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < x.nbytes / 2


def test_arrays_of_other_numbers_are_refused(table):
    x, y = table
    with pytest.raises(ValueError, match="float64 or float32"):
        fit_core(x.astype(np.int32), y)
    with pytest.raises(ValueError, match="two dimensions"):
        fit_core(y, y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"terms": 0}, "`terms` is 0; expected a number from 1"),
        ({"terms": "many"}, '`terms` is "many"; expected a whole number or auto'),
        ({"ridge": -1.0}, "`ridge` is -1"),
        ({"features": "linear + nothing"}, "nothing"),
        ({"per_step": 1.5}, '`per_step` is "1.5"; expected a whole number'),
        ({"search": "htp", "select": "gradient"}, "use `select='normalised'`"),
        ({"tune": 5, "refine": True}, "`tune` is not possible with `refine`"),
        ({"ridge": "cv", "ridges": []}, "`ridges` is an empty list"),
        ({"n_jobs": 0}, "`n_jobs` is 0"),
        ({"scale": object()}, "`scale` is <object"),
    ],
)
def test_wrong_options_are_value_errors(table, options, message, quick):
    with pytest.raises(ValueError) as error:
        MFGARegressor(**{**quick, **options}).fit(*table)
    assert message in str(error.value)


def test_unknown_options_are_named(table):
    with pytest.raises(ValueError, match="no option `wrong`"):
        fit_core(*table, wrong="1")


def test_messages_have_pythons_spelling():
    assert spelled("`seed` and `tune=no`, `a b`") == "`random_state` and `tune=False`, `a b`"


def test_numbers_of_threads(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert [threads_of(n) for n in (None, -1, 3)] == [0, 0, 3]
    monkeypatch.setenv("OMP_NUM_THREADS", "2")  # as joblib does for its workers
    assert [threads_of(n) for n in (None, -1, 3)] == [2, 0, 3]


def test_threads_do_not_matter(table, quick):
    one, two = (MFGARegressor(n_jobs=n, **quick).fit(*table) for n in (1, 2))
    assert one._model.to_json() == two._model.to_json()


def test_models_are_texts(table):
    model = fit_core(*table)[0]
    again = _core.Model.from_json(model.to_json())
    assert again.to_json() == model.to_json()
    with pytest.raises(ValueError, match="format"):
        _core.Model.from_json("{}")


def test_progress_can_stop_and_keep(table, quick):
    seen = []

    def stop_at_three(progress):
        seen.append(progress.terms)
        return progress.terms >= 3

    model = MFGARegressor(callback=stop_at_three, **{**quick, "terms": 20}).fit(*table)
    assert model.report_["stopped"]
    assert 3 <= model.n_terms_ < 20
    assert seen == sorted(seen)


def test_what_a_callback_raises_ends_the_fit(table, quick):
    def fail(progress):
        raise LookupError(f"after {progress.terms}")

    model = MFGARegressor(callback=fail, **quick)
    with pytest.raises(LookupError, match="after"):
        model.fit(*table)
    assert not hasattr(model, "report_")
    assert model.set_params(callback=None).fit(*table).n_terms_ == 5


@pytest.fixture
def interruptible():
    """Python does not listen to Ctrl-C where its parent does not, as in the background of a script."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_ends_a_long_fit(table, quick):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(20000, 30))
    y = np.sin(x[:, 0]) * x[:, 1] + rng.normal(size=20000)
    # It would take minutes.
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        MFGARegressor(terms=200, effort="thorough").fit(x, y)
    timer.join()
    assert MFGARegressor(**quick).fit(*table).n_terms_ == 5


def test_other_threads_run_during_a_fit(table):
    """The interpreter's lock is free while the library works."""
    x, y = table
    turns, done = [], threading.Event()

    def count():
        while not done.wait(0.001):
            turns.append(1)

    counter = threading.Thread(target=count)
    counter.start()
    MFGARegressor(terms=20).fit(x, y)
    done.set()
    counter.join()
    assert len(turns) > 10


def test_memory_is_given_back(table, quick):
    """200 fits leave no more objects behind than a few, and no memory that grows with them."""
    x, y = table

    def resident():
        gc.collect()
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def fits(count):
        for _ in range(count):
            MFGARegressor(**quick).fit(x, y).predict(x)

    fits(20)
    before = resident()
    fits(200)
    assert resident() - before < 200 * x.nbytes / 2
