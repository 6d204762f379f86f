"""Model files go both ways between Python and the command line."""

import json
import pickle

import numpy as np
import pytest

import mfga
from mfga import MFGAClassifier, MFGARegressor

pandas = pytest.importorskip("pandas")
TOOL_OPTIONS = ["--terms", 5, "--features", "linear + hinge", "--tune", "no", "--ridge", 0.001, "--quiet"]


def frame_of(x):
    return pandas.DataFrame(x, columns=["age", "height", "weight", "pulse"][: x.shape[1]])


def test_defaults_are_those_of_the_command_line(tool, table, tmp_path):
    """The same rows give the same bits."""
    x, y = table
    frame_of(x).assign(y=y).to_csv(tmp_path / "train.csv", index=False, float_format="%.17g")
    tool("train", tmp_path / "train.csv", "--target", "y", "--model", tmp_path / "tool.json", "--quiet")
    MFGARegressor().fit(frame_of(x), y).save(tmp_path / "python.json")
    ours, theirs = (json.loads((tmp_path / name).read_text()) for name in ("python.json", "tool.json"))
    assert ours == theirs


def test_texts_and_missing_values_are_read_as_in_files(tool, tmp_path, quick):
    rng = np.random.default_rng(0)
    n = 1200
    frame = pandas.DataFrame(
        {
            "size": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
            "kind": rng.choice(["a", "b", "?", "", "missing"], size=n),
            "town": np.where(rng.random(n) < 0.95, "here", [f"town {i % 30}" for i in range(n)]),
            "name": [f"row {i}" for i in range(n)],
        }
    )
    y = frame["size"].fillna(3) + (frame["kind"] == "a") + 2 * (frame["town"] != "here") + rng.normal(size=n)
    frame.assign(y=y).to_csv(tmp_path / "train.csv", index=False, float_format="%.17g")
    quick["terms"] = 10
    tool("train", tmp_path / "train.csv", "--model", tmp_path / "tool.json", "--terms", 10, *TOOL_OPTIONS[2:])
    with pytest.warns(UserWarning, match="'name' is left out"):
        model = MFGARegressor(**quick).fit(frame, y)
    model.save(tmp_path / "python.json")
    ours, theirs = (json.loads((tmp_path / name).read_text()) for name in ("python.json", "tool.json"))
    assert ours == theirs
    again = mfga.load(tmp_path / "tool.json")
    assert list(again.feature_names_in_) == ["size", "kind", "town"]
    assert np.array_equal(again.predict(frame.drop(columns="name")), model.predict(frame))


def test_the_tool_predicts_with_a_model_of_python(tool, table, tmp_path, quick):
    x, y = table
    model = MFGARegressor(**quick).fit(frame_of(x), y)
    model.save(tmp_path / "model.json")
    frame_of(x)[["pulse", "weight", "height", "age"]].to_csv(tmp_path / "x.csv", index=False, float_format="%.17g")
    tool("predict", tmp_path / "model.json", tmp_path / "x.csv", "--output", tmp_path / "y.csv", "--quiet")
    predicted = pandas.read_csv(tmp_path / "y.csv").iloc[:, 0]
    np.testing.assert_allclose(predicted, model.predict(frame_of(x)), rtol=1e-12)


def test_python_predicts_with_a_model_of_the_tool(tool, classes, tmp_path, quick):
    x, y = classes
    frame = frame_of(x).assign(kind=np.where(x[:, 2] > 0, "a", "b"))
    frame.assign(y=y).to_csv(tmp_path / "train.csv", index=False, float_format="%.17g")
    tool("train", tmp_path / "train.csv", "--target", "y", "--model", tmp_path / "model.json", *TOOL_OPTIONS)
    model = mfga.load(tmp_path / "model.json")
    assert isinstance(model, MFGAClassifier)
    assert list(model.feature_names_in_) == list(frame.columns)
    assert list(model.classes_) == ["high", "low", "middle"]
    assert model.score(frame, y) > 0.8
    ours = MFGAClassifier(**quick).fit(frame, y)
    assert np.array_equal(ours.decision_function(frame), model.decision_function(frame))
    with pytest.raises(ValueError, match="is for classification; MFGARegressor is for regression"):
        MFGARegressor.load(tmp_path / "model.json")


def test_loaded_models_without_names(table, tmp_path, quick):
    x, y = table
    model = MFGARegressor(**quick).fit(x, y)
    model.save(tmp_path / "model.json")
    again = MFGARegressor.load(tmp_path / "model.json")
    assert not hasattr(again, "feature_names_in_")
    assert again.n_features_in_ == 4
    assert np.array_equal(again.predict(x), model.predict(x))


def test_columns_that_were_constant_leave_no_name(table, tmp_path, quick):
    x, y = table
    frame = frame_of(x).assign(same=1.0)
    model = MFGARegressor(**quick).fit(frame, y)
    model.save(tmp_path / "model.json")
    again = MFGARegressor.load(tmp_path / "model.json")
    assert again.n_features_in_ == 5
    assert np.array_equal(again.predict(frame.to_numpy()), model.predict(frame))
    # The names that are known are looked up.
    assert np.array_equal(again.predict(frame[frame.columns[::-1]]), model.predict(frame))
    assert np.array_equal(again.predict(frame.drop(columns="same")), model.predict(frame))
    with pytest.raises(ValueError, match="lacks the columns 'age', 'pulse'"):
        again.predict(frame.drop(columns=["age", "pulse"]))
    assert np.array_equal(pickle.loads(pickle.dumps(again)).predict(frame[frame.columns[::-1]]), model.predict(frame))


@pytest.mark.parametrize("has_levels", [False, True])
def test_columns_that_were_left_out_do_not_matter(table, has_levels, tmp_path, quick):
    x, y = table
    frame = frame_of(x)
    if has_levels:
        frame["kind"] = np.where(x[:, 0] > 0, "a", "b")
    frame.insert(1, "name", [f"row {i}" for i in range(len(x))])
    with pytest.warns(UserWarning, match="'name' is left out"):
        model = MFGARegressor(**quick).fit(frame, y)
    model.save(tmp_path / "model.json")
    again = MFGARegressor.load(tmp_path / "model.json")
    assert list(again.feature_names_in_) == [name for name in frame.columns if name != "name"]
    for other in (frame, frame.drop(columns="name"), frame[frame.columns[::-1]]):
        assert np.array_equal(again.predict(other), model.predict(frame))


def test_names_that_are_numbers_are_texts_in_files(table, tmp_path, quick):
    x, y = table
    frame = pandas.DataFrame({0: x[:, 0], 1: x[:, 1], 2: np.where(x[:, 2] > 0, "a", "b")})
    model = MFGARegressor(**quick).fit(frame, y)
    model.save(tmp_path / "model.json")
    assert np.array_equal(MFGARegressor.load(tmp_path / "model.json").predict(frame), model.predict(frame))


def test_texts_beside_columns_that_were_constant(tool, table, tmp_path, quick):
    """Without all names, those that are known are looked up, and others do not matter."""
    x, y = table
    frame = frame_of(x).assign(same=1.0, kind=np.where(x[:, 0] > 0, "a", "b"))
    model = MFGARegressor(**quick).fit(frame, y)
    model.save(tmp_path / "model.json")
    again = MFGARegressor.load(tmp_path / "model.json")
    other = frame.assign(more=0)[[*reversed(frame.columns), "more"]].drop(columns="same")
    assert np.array_equal(again.predict(other), model.predict(frame))
    with pytest.raises(ValueError, match="lacks the columns 'kind'"):
        again.predict(other.drop(columns="kind"))
    # A file without names has positions instead.
    frame.assign(y=y).to_csv(tmp_path / "plain.csv", index=False, header=False, float_format="%.17g")
    tool("train", tmp_path / "plain.csv", "--model", tmp_path / "tool.json", "--header", "no", *TOOL_OPTIONS)
    plain = MFGARegressor.load(tmp_path / "tool.json")
    assert plain.n_features_in_ == 6
    with pytest.warns(UserWarning, match="fitted without feature names"):
        assert np.array_equal(plain.predict(frame), model.predict(frame))
    with pytest.raises(ValueError, match="5 features, but MFGARegressor is expecting 6"):
        plain.predict(frame.drop(columns="same").rename(columns=dict(zip(frame.columns, range(6), strict=True))))


def test_numbers_as_classes_come_back_as_numbers(table, tmp_path, quick):
    x, y = table
    model = MFGAClassifier(**quick).fit(x, (y > 0).astype(int) * 2)
    model.save(tmp_path / "model.json")
    again = mfga.load(tmp_path / "model.json")
    assert list(again.classes_) == [0, 2]
    assert np.array_equal(again.predict(x), model.predict(x))


def test_files_that_are_no_models(tmp_path):
    with pytest.raises(OSError):
        mfga.load(tmp_path / "missing.json")
    (tmp_path / "wrong.json").write_text("[]")
    with pytest.raises(ValueError, match="wrong.json"):
        mfga.load(tmp_path / "wrong.json")
    with pytest.raises(OSError):
        MFGARegressor(terms=1, tune=False).fit([[0.0], [1], [2]], [0.0, 1, 3]).save(tmp_path / "no" / "folder.json")
