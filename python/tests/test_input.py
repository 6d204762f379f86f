"""Frames and Arrow tables: names, texts, categories, missing values."""

import warnings

import narwhals as nw
import numpy as np
import pytest

from mfga import MFGAClassifier, MFGARegressor, _input

pandas = pytest.importorskip("pandas")

N = 240
COLOURS = np.array(["red", "green", "blue"])


def mixed_frame():
    rng = np.random.default_rng(0)
    return pandas.DataFrame(
        {
            "size": rng.normal(size=N),
            "colour": COLOURS[rng.integers(0, 3, size=N)],
            "count": rng.integers(0, 9, size=N),
            "grade": pandas.Categorical(np.array(["a", "b"])[rng.integers(0, 2, size=N)], categories=["b", "a", "c"]),
            "flag": rng.integers(0, 2, size=N).astype(bool),
        }
    )


def target_of(frame):
    return (
        frame["size"].to_numpy()
        + 2 * (frame["colour"] == "red").to_numpy()
        + frame["flag"].to_numpy()
        - 3 * (frame["grade"] == "a").to_numpy()
    )


def as_kind(frame, kind):
    if kind == "pandas":
        return frame
    if kind == "polars":
        return pytest.importorskip("polars").from_pandas(frame)
    table = pytest.importorskip("pyarrow").Table.from_pandas(frame)
    if kind == "pyarrow":
        return table
    if kind == "narwhals":
        return nw.from_native(frame)

    class OnlyArrow:
        """A table that has nothing but the Arrow interface."""

        def __arrow_c_stream__(self, requested_schema=None):
            return table.__arrow_c_stream__(requested_schema)

    return OnlyArrow()


KINDS = ["pandas", "polars", "pyarrow", "narwhals", "arrow capsule"]


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_frames_give_one_model(kind, quick):
    frame = mixed_frame()
    y = target_of(frame)
    quick["terms"] = 6
    expected = MFGARegressor(**quick).fit(frame, y)
    assert expected.score(frame, y) > 0.999
    other = as_kind(frame, kind)
    model = MFGARegressor(**quick).fit(other, y)
    assert model._model.to_json() == expected._model.to_json()
    assert list(model.feature_names_in_) == list(frame.columns)
    assert model.n_features_in_ == 5
    assert np.array_equal(model.predict(other), expected.predict(frame))
    assert "colour=red" in model.formula_ and "grade=" in model.formula_


@pytest.mark.parametrize("kind", KINDS)
def test_frames_of_numbers_are_arrays_with_names(kind, quick, table):
    x, y = table
    frame = as_kind(pandas.DataFrame(x, columns=list("abcd")), kind)
    model = MFGARegressor(**quick).fit(frame, y)
    assert list(model.feature_names_in_) == list("abcd")
    assert np.array_equal(model.predict(frame), MFGARegressor(**quick).fit(x, y).predict(x))
    assert model._columns is None


def test_texts_are_columns_of_0_and_1():
    frame = mixed_frame()
    columns = _input.Columns.of(list(frame.columns), _input.counted_texts(nw.from_native(frame)))
    assert columns.levels == {"colour": ["blue", "green", "red"], "grade": ["a", "b"]}
    assert columns.input_names == [
        "size",
        "colour=blue",
        "colour=green",
        "colour=red",
        "count",
        "grade=a",
        "grade=b",
        "flag",
    ]
    assert columns.text_columns == [
        ("colour", 1, ["blue", "green", "red"], []),
        ("grade", 5, ["a", "b"], []),
    ]
    numbers = columns.numbers(nw.from_native(frame))
    assert numbers.flags.f_contiguous
    assert np.array_equal(numbers[:, 3], frame["colour"] == "red")
    assert np.array_equal(numbers[:, 1:4].sum(axis=1), np.ones(N))
    assert np.array_equal(numbers[:, 4], frame["count"])


def test_texts_that_are_not_known_count_as_none(quick):
    frame = mixed_frame()
    model = MFGARegressor(**quick).fit(frame, target_of(frame))
    other = frame.assign(colour="violet")
    with pytest.warns(UserWarning, match="240 rows have a text in the column 'colour'.*'violet'"):
        predicted = model.predict(other)
    assert np.isfinite(predicted).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(frame)


@pytest.mark.parametrize("column", ["size", "colour", "grade", "count", "flag"])
@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_missing_values_are_learned_from(column, kind, quick):
    """A value that is missing where the target is large is seen, in frames of every kind."""
    frame = mixed_frame()
    is_gone = np.random.default_rng(3).random(N) < 0.2
    y = target_of(frame) + 20 * is_gone
    hole = frame.astype({"count": "Int64", "flag": "boolean"})
    hole.loc[is_gone, column] = None
    quick["terms"] = 8
    model = MFGARegressor(**quick).fit(as_kind(hole, kind), y)
    assert model.score(as_kind(hole, kind), y) > 0.95
    assert f"{column}=missing" in model.formula_
    assert model.n_features_in_ == 5
    assert np.isfinite(model.predict(as_kind(hole, kind))).all()


def test_missing_values_that_the_training_did_not_have(quick):
    frame = mixed_frame()
    model = MFGARegressor(**quick).fit(frame, target_of(frame))
    for column in ("size", "colour", "grade"):
        assert np.isfinite(model.predict(frame.assign(**{column: None}))).all()


def test_missing_numbers_in_arrays(table, quick):
    x, y = table
    x = x.copy()
    x[:60, 2] = np.nan
    y = y + 10 * np.isnan(x[:, 2])
    model = MFGARegressor(**quick).fit(x, y)
    assert model.score(x, y) > 0.95
    assert "x2=missing" in model.formula_
    # By itself or in a table, in memory of any kind.
    assert np.array_equal(model.predict(x[:1]), model.predict(np.asfortranarray(x))[:1])
    x[3, 1] = np.inf
    for rows in (x, x[3:4]):
        with pytest.raises(ValueError, match="Input X contains infinity"):
            model.predict(rows)
    with pytest.raises(ValueError, match="Input X contains infinity"):
        MFGARegressor(**quick).fit(x, y)
    with pytest.raises(ValueError, match="Input y contains NaN"):
        MFGARegressor(**quick).fit(table[0], x[:, 2])


def test_rare_texts_are_one_level(quick):
    rng = np.random.default_rng(0)
    texts = np.concatenate([np.repeat(["a", "b"], 600), [f"rare {i}" for i in range(50)]])
    frame = pandas.DataFrame({"text": texts, "size": rng.normal(size=len(texts))})
    y = frame["size"] + 5 * frame["text"].str.startswith("rare")
    model = MFGARegressor(**quick).fit(frame, y)
    assert model._columns.levels == {"text": ["a", "b", "other"]}
    assert "text=other" in model.formula_
    assert model.score(frame, y) > 0.99
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        unknown = model.predict(pandas.DataFrame({"text": ["new"], "size": [0.0]}))
    assert np.array_equal(unknown, model.predict(pandas.DataFrame({"text": ["rare 1"], "size": [0.0]})))


def test_identifiers_are_left_out(quick):
    frame = mixed_frame()
    y = target_of(frame)
    named = frame.assign(name=[f"row {i}" for i in range(N)])
    with pytest.warns(UserWarning, match="'name' is left out: it has a text of its own in most rows") as caught:
        model = MFGARegressor(**quick).fit(named, y)
    assert caught[0].filename == __file__
    assert model.n_features_in_ == 6
    assert np.array_equal(model.predict(named), MFGARegressor(**quick).fit(frame, y).predict(frame))
    alone = named[["name", "size"]]
    with pytest.warns(UserWarning, match="'name' is left out"):
        assert MFGARegressor(**quick).fit(alone, y).n_features_in_ == 2


def test_texts_that_are_too_long_are_left_out(quick):
    frame = mixed_frame()
    y = target_of(frame)
    stories = frame.assign(story=["é" * (5000 + i % 2) for i in range(N)])
    with pytest.warns(UserWarning, match="'story' is left out: it holds texts of more than 10000 bytes"):
        model = MFGARegressor(**quick).fit(stories, y)
    assert np.array_equal(model.predict(stories), MFGARegressor(**quick).fit(frame, y).predict(frame))


def test_columns_of_other_things_are_refused(quick):
    frame = mixed_frame()
    y = target_of(frame)
    with pytest.raises(ValueError, match="column 'when' is of type"):
        MFGARegressor(**quick).fit(frame.assign(when=pandas.Timestamp("2020-01-01")), y)
    with pytest.raises(ValueError, match="other things than numbers and texts"):
        MFGARegressor(**quick).fit(frame.assign(odd=[{"a": 1}] * N), y)


def test_columns_that_mix_numbers_and_texts_are_refused(quick):
    frame = mixed_frame()
    y = target_of(frame)
    with pytest.raises(ValueError, match="the column 'odd' mixes numbers and texts, such as 1 and 'a'"):
        MFGARegressor(**quick).fit(frame.assign(odd=pandas.Series([1, "a"] * (N // 2), dtype=object)), y)
    numbers = frame[["size", "count"]]
    model = MFGARegressor(**quick).fit(numbers, y)
    with pytest.raises(ValueError, match="the column 'count' mixes numbers and texts, such as 2 and 'many'"):
        model.predict(numbers[:2].assign(count=pandas.Series([2, "many"], dtype=object)))


@pytest.mark.parametrize("nothing", [None, pandas.NA, float("nan")])
@pytest.mark.parametrize("beside", [["size"], ["size", "colour"]])
def test_objects_that_are_numbers_or_missing(nothing, beside, quick):
    frame = mixed_frame()
    count = [nothing if i % 5 == 0 else int(value) for i, value in enumerate(frame["count"])]
    numbers = [np.nan if i % 5 == 0 else value for i, value in enumerate(frame["count"])]
    y = target_of(frame) + np.arange(N) % 5
    objects = frame[beside].assign(count=pandas.Series(count, dtype=object))
    plain = frame[beside].assign(count=numbers)
    model, expected = (MFGARegressor(**quick).fit(x, y) for x in (objects, plain))
    assert model._model.to_json() == expected._model.to_json()
    assert np.array_equal(model.predict(objects), expected.predict(plain))


def test_names_must_differ(quick):
    frame = mixed_frame()
    y = target_of(frame)
    twice = frame.rename(columns={"count": "size"})
    with pytest.raises(ValueError, match="X has columns of the same name: 'size' 2 times; give each a name of its own"):
        MFGARegressor(**quick).fit(twice, y)
    pyarrow = pytest.importorskip("pyarrow")
    with pytest.raises(ValueError, match="X has columns of the same name: 'a' 2 times, 'b' 2 times"):
        MFGARegressor(**quick).fit(pyarrow.table([frame["size"]] * 4, names=["a", "b", "a", "b"]), y)


def test_frames_without_rows(quick):
    frame = mixed_frame()
    y = target_of(frame)
    model = MFGARegressor(**quick).fit(frame, y)
    with pytest.raises(ValueError, match="Found array with 0 sample"):
        model.predict(frame[:0])


def test_fields_of_records(table, quick):
    """Rows that are an odd number of bytes apart."""
    x, y = table
    records = np.zeros(len(x), dtype=[("mark", "u1"), ("values", "f8", (4,))])
    records["values"] = x
    assert records["values"].strides[0] % 8 != 0
    model = MFGARegressor(**quick).fit(records["values"], y)
    expected = MFGARegressor(**quick).fit(x, y)
    for rows in (slice(None), slice(0, 3)):
        assert np.array_equal(model.predict(records["values"][rows]), expected.predict(x[rows]))


def test_columns_are_checked_by_name(quick):
    frame = mixed_frame()
    model = MFGARegressor(**quick).fit(frame, target_of(frame))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[frame.columns[::-1]])
    with pytest.raises(ValueError, match="X is no frame.*'colour', 'grade'"):
        model.predict(frame.to_numpy())


def test_names_that_are_numbers(quick):
    frame = mixed_frame().rename(columns={"size": 0, "colour": 1, "count": 2, "grade": 3, "flag": 4})
    y = target_of(mixed_frame())
    model = MFGARegressor(**quick).fit(frame, y)
    assert model.score(frame, y) > 0.9
    assert "1=red" in model.formula_


def test_lengths_must_agree(quick):
    frame = mixed_frame()
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        MFGARegressor(**quick).fit(frame, np.zeros(N - 1))


def test_targets_with_names(quick):
    frame = mixed_frame()
    y = pandas.DataFrame({"one": target_of(frame), "two": frame["size"]})
    model = MFGARegressor(**quick).fit(frame, y)
    assert model._model.output_names == ["one", "two"]
    named = MFGAClassifier(**quick).fit(frame[["size"]], pandas.Series(frame["size"] > 0, name="is large"))
    assert named._model.target_name == "is large"


def test_sparse_tables_are_refused_in_scikit_learns_words(quick):
    scipy_sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(TypeError, match="[Ss]parse"):
        MFGARegressor(**quick).fit(scipy_sparse.eye(50, format="csr"), np.arange(50.0))
