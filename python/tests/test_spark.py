"""Estimators on a cluster of Spark: `local-cluster`, whose executors are processes."""

import pathlib
import re
import subprocess
import sys

import numpy as np
import pandas
import pytest

import mfga

pytest.importorskip("pyspark")

from pyspark.errors import PythonException  # noqa: E402
from pyspark.ml import Pipeline, PipelineModel  # noqa: E402
from pyspark.ml.evaluation import RegressionEvaluator  # noqa: E402
from pyspark.ml.feature import VectorAssembler  # noqa: E402
from pyspark.ml.tuning import CrossValidator, ParamGridBuilder  # noqa: E402
from pyspark.sql import functions as F  # noqa: E402

from mfga.spark import MFGAClassifier, MFGAClassifierModel, MFGARegressor, MFGARegressorModel  # noqa: E402

FEATURES = "linear + hinge(knots=6)"
ROWS = 1200


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(rng.normal(size=(ROWS, 2)), columns=["a", "b.c"])
    frame["colour"] = rng.choice(["red", "green", "blue"], ROWS)
    frame.loc[::50, "a"] = np.nan
    frame["y"] = 2 + np.nan_to_num(frame["a"]) + np.maximum(0, frame["b.c"]) + (frame["colour"] == "red")
    frame["kind"] = np.where(frame["y"] > 3, "high", "low")
    frame["count"] = np.tile([1.0, 2.0, 0.0, 1.0], ROWS // 4)
    return frame


@pytest.fixture(scope="module")
def table(spark, frame):
    table = spark.createDataFrame(frame).repartitionByRange(3, F.monotonically_increasing_id()).cache()
    assert table.count() == ROWS
    return table


def columns(**others):
    return {"inputCols": ["a", "b.c", "colour"], "labelCol": "y", "features": FEATURES, **others}


def in_order(table):
    """The rows in the order of the partitions, which is that of fits."""
    return table.toPandas()


def jobs_of(spark, name, work):
    """How many jobs Spark runs for some work."""
    spark.sparkContext.setJobGroup(name, name)
    result = work()
    spark.sparkContext._jsc.clearJobGroup()
    return result, len(spark.sparkContext.statusTracker().getJobIdsForGroup(name))


def test_sums_are_those_of_all_rows_whatever_the_partitions(spark, table, frame):
    estimator = MFGARegressor(terms=6, ridge=1e-3, **columns())
    model, jobs = jobs_of(spark, "sums", lambda: estimator.fit(table))
    assert jobs == 2  # one draws the sample, one adds up
    assert model.local.report_["rows"] == ROWS
    # The sample is all rows here, which set the scales in whatever order.
    x, y = frame[["a", "b.c", "colour"]], frame["y"]
    expected = mfga.Statistics(x, y, features=FEATURES).update(x, y).fit(terms=6, ridge=1e-3)
    assert list(model.local.terms_["term"]) == list(expected.terms_["term"])
    np.testing.assert_allclose(model.local.terms_["coefficient"], expected.terms_["coefficient"], rtol=1e-9)
    again = estimator.fit(table.repartition(7))
    np.testing.assert_allclose(again.local.terms_["coefficient"], expected.terms_["coefficient"], rtol=1e-9)


def test_the_same_partitions_give_the_same_model_to_the_last_bit(table):
    models = [MFGARegressor(terms=6, **columns()).fit(table).local._model.to_json() for _ in range(2)]
    assert models[0] == models[1]


def test_predictions_are_those_of_one_machine(table):
    model = MFGARegressor(terms=6, weightCol="count", **columns()).fit(table)
    assert model.local.report_["rows"] == ROWS * 3 // 4
    rows = in_order(model.transform(table))
    np.testing.assert_array_equal(rows["prediction"], model.local.predict(rows[["a", "b.c", "colour"]]))


def test_vectors_have_the_names_of_their_assembler_and_pipelines_are_saved(spark, table, tmp_path):
    table = table.withColumn("b", F.col("`b.c`")).fillna(0.0)
    assembler = VectorAssembler(inputCols=["b", "count"], outputCol="features")
    pipeline = Pipeline(stages=[assembler, MFGARegressor(labelCol="y", terms=3, features=FEATURES)])
    model = pipeline.fit(table)
    assert list(model.stages[1].local.feature_names_in_) == ["b", "count"]
    assert "max(0, b" in model.stages[1].local.formula_
    predicted = in_order(model.transform(table))
    model.save(str(tmp_path / "model"))
    again = PipelineModel.load(str(tmp_path / "model")).transform(table)
    np.testing.assert_array_equal(in_order(again)["prediction"], predicted["prediction"])
    # Arrays have no names.
    arrays = table.select(F.array("b", "count").alias("features"), F.col("y").alias("label"))
    without = MFGARegressor(terms=3, features=FEATURES).fit(arrays)
    assert not hasattr(without.local, "feature_names_in_")
    np.testing.assert_array_equal(in_order(without.transform(arrays))["prediction"], predicted["prediction"])


def test_spark_chooses_parameters(table):
    estimator = MFGARegressor(terms=1, **columns())
    grid = ParamGridBuilder().addGrid(estimator.terms, [1, 5]).build()
    evaluator = RegressionEvaluator(labelCol="y")
    best = CrossValidator(estimator=estimator, estimatorParamMaps=grid, evaluator=evaluator, numFolds=2).fit(table)
    assert best.bestModel.local.n_terms_ == 5


def test_estimators_are_saved(tmp_path):
    estimator = MFGARegressor(terms=7, features=mfga.Dictionary("linear"), inputCols=["a"], numWorkers=2)
    estimator.save(str(tmp_path / "estimator"))
    again = MFGARegressor.load(str(tmp_path / "estimator"))
    assert again.extractParamMap().keys() == estimator.extractParamMap().keys()
    assert (again.getOrDefault("terms"), again.getOrDefault("features")) == (7, "linear")


@pytest.mark.parametrize(
    ("parameters", "workers"), [({"loss": "huber", "tune": False}, None), ({"tune": 5, "weightCol": "count"}, 2)]
)
def test_ranks_learn_the_model_of_one_machine(table, tmp_path, parameters, workers):
    """Three partitions, two tasks at a time."""
    estimator = MFGARegressor(terms=5, **columns(**parameters))
    if workers is not None:
        estimator.setParams(numWorkers=workers)
    model = estimator.fit(table)
    rows = in_order(table)
    local = {name: value for name, value in parameters.items() if name != "weightCol"}
    expected = mfga.MFGARegressor(terms=5, features=FEATURES, **local)
    weights = rows["count"] if "weightCol" in parameters else None
    expected.fit(rows[["a", "b.c", "colour"]], rows["y"], sample_weight=weights)
    assert model.local._model.to_json() == expected._model.to_json()


def test_classes_are_of_the_kind_of_their_column(table, tmp_path):
    estimator = MFGAClassifier(terms=4, tune=False, **columns(labelCol="kind"))
    model = estimator.fit(table)
    rows = in_order(model.transform(table))
    x = rows[["a", "b.c", "colour"]]
    expected = mfga.MFGAClassifier(terms=4, tune=False, features=FEATURES).fit(x, rows["kind"])
    assert model.local._model.to_json() == expected._model.to_json()
    assert list(rows["prediction"]) == list(expected.predict(x))
    probabilities = np.stack(rows["probability"].map(lambda vector: vector.toArray()))
    np.testing.assert_array_equal(probabilities, expected.predict_proba(x))
    numbered = table.withColumn("kind", (F.col("kind") == "high").cast("double"))
    model = MFGAClassifier(terms=4, tune=False, class_weight="balanced", **columns(labelCol="kind")).fit(numbered)
    model.write().overwrite().save(str(tmp_path / "model"))
    again = MFGAClassifierModel.load(str(tmp_path / "model")).transform(numbered)
    assert again.schema["prediction"].dataType.simpleString() == "double"
    predicted = in_order(again)
    np.testing.assert_array_equal(predicted["prediction"], in_order(model.transform(numbered))["prediction"])
    assert (predicted["prediction"] == predicted["kind"]).mean() > 0.9


def test_what_is_wrong_is_told(spark, table, tmp_path):
    with pytest.raises(ValueError, match="no column 'features' of vectors; set `inputCols`"):
        MFGARegressor(labelCol="y").fit(table)
    with pytest.raises(ValueError, match="'colour' is of type string; expected vectors"):
        MFGARegressor(labelCol="y", featuresCol="colour").fit(table)
    with pytest.raises(ValueError, match="no parameter 'term'; `explainParams"):
        MFGARegressor(term=3)
    with pytest.raises(ValueError, match="no rows"):
        MFGARegressor(**columns()).fit(table.limit(0))
    with pytest.raises(ValueError, match="rows without a label"):
        MFGARegressor(**columns()).fit(table.withColumn("y", F.when(F.col("y") > 2, F.col("y"))))
    with pytest.raises(ValueError, match="`terms`"):
        MFGARegressor(**columns(terms=-3)).fit(table)
    dates = table.withColumn("a", F.current_date())
    with pytest.raises(ValueError, match="'a' is of type Date"):
        MFGARegressor(**columns()).fit(dates)
    lists = spark.createDataFrame([([1.0, 2.0], 1.0), ([1.0], 2.0)], "features array<double>, label double")
    with pytest.raises(ValueError, match="with 1 features and one with 2"):
        MFGARegressor().fit(lists)
    model = MFGARegressor(terms=2, **columns()).fit(table)
    with pytest.raises(PythonException, match="infinity"):
        model.transform(table.withColumn("a", F.lit(float("inf")))).collect()
    model.save(str(tmp_path / "model"))
    with pytest.raises(AssertionError, match="MFGARegressorModel"):
        MFGAClassifierModel.load(str(tmp_path / "model"))
    assert MFGARegressorModel.load(str(tmp_path / "model")).local.n_terms_ == 2


def test_what_is_wrong_with_some_rows_reaches_the_user_of_a_barrier_stage(table):
    """One of two tasks fails; both end, and the error is that of the library."""
    infinite = table.withColumn("a", F.when(F.monotonically_increasing_id() == 5, float("inf")).otherwise(F.col("a")))
    with pytest.raises(ValueError, match="infinity"):
        MFGARegressor(loss="huber", terms=3, **columns()).fit(infinite)
    with pytest.raises(ValueError, match="y has one class"):
        MFGAClassifier(**columns(labelCol="kind")).fit(table.withColumn("kind", F.lit("one")))
    with pytest.raises(ValueError, match="`numWorkers` is 3; expected at most 2"):
        MFGARegressor(loss="huber", numWorkers=3, **columns()).fit(table)
    unlabelled = table.withColumn("kind", F.when(F.monotonically_increasing_id() != 7, F.col("kind")))
    with pytest.raises(ValueError, match="1 rows without a label"):
        MFGAClassifier(**columns(labelCol="kind")).fit(unlabelled)


def test_a_cluster_that_encrypts_is_refused(spark, table):
    settings = spark.sparkContext._jsc.sc().conf()
    settings.set("spark.network.crypto.enabled", "true")
    try:
        with pytest.raises(ValueError, match=r"`spark.network.crypto.enabled`.*unencrypted"):
            MFGARegressor(loss="huber", **columns()).fit(table)
    finally:
        settings.remove("spark.network.crypto.enabled")


def test_the_docs_run(spark, capsys):
    text = (pathlib.Path(__file__).parents[2] / "docs" / "clusters.md").read_text()
    exec(re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)[1], {})
    assert "parity=even" in capsys.readouterr().out


def test_without_pyspark_the_message_names_what_to_install():
    hidden = "import sys; sys.modules['pyspark'] = None; import mfga; import mfga.spark"
    done = subprocess.run([sys.executable, "-c", hidden], capture_output=True, text=True)
    assert done.returncode != 0 and "install mfga[spark]" in done.stderr
