"""Estimators for Spark in the manner of `pyspark.ml`; they need pyspark (`pip install mfga[spark]`).

The rows stay where Spark has them. For the squared loss one job adds up sums over the rows, and the driver learns from
these, as `mfga.Statistics` does. The package must be installed on the machines of the executors, too.
"""

import inspect
from collections.abc import Iterator

import numpy as np

try:
    import pandas as pd
    import pyarrow  # noqa: F401
    from pyspark.ml import Estimator, Model
    from pyspark.ml.functions import array_to_vector, vector_to_array
    from pyspark.ml.linalg import VectorUDT
    from pyspark.ml.param import Param, Params, TypeConverters
    from pyspark.ml.param.shared import (
        HasFeaturesCol,
        HasInputCols,
        HasLabelCol,
        HasPredictionCol,
        HasProbabilityCol,
        HasWeightCol,
    )
    from pyspark.ml.util import (
        DefaultParamsReadable,
        DefaultParamsReader,
        DefaultParamsWritable,
        DefaultParamsWriter,
        MLReadable,
        MLReader,
        MLWritable,
        MLWriter,
    )
    from pyspark.sql import functions as F
    from pyspark.sql.types import ArrayType
except ImportError as error:
    raise ImportError("mfga.spark needs pyspark, pandas and pyarrow; install mfga[spark]") from error

from . import _core, _estimators
from ._options import option_text, seed_of
from ._spark import Rows, learned_by_ranks, sums_of, threads
from ._statistics import Statistics

__all__ = ["MFGAClassifier", "MFGAClassifierModel", "MFGARegressor", "MFGARegressorModel"]

# So many rows, drawn at random, set scales and dictionary.
_SAMPLE = 10_000
# Parameters of the estimators for one machine that are for its screen and its threads.
_LEFT_OUT = ("warm_start", "n_jobs", "verbose", "callback")
# What predicted classes are, by the kind of their array.
_SPARK_TYPES = {"i": "bigint", "u": "bigint", "f": "double", "b": "boolean", "O": "string", "U": "string"}
# Parameters that `Statistics` is made with; the others are for the fit.
_OF_STATISTICS = ("features", "scale", "folds", "memory_limit", "random_state")


class _Columns(HasInputCols, HasFeaturesCol, HasLabelCol, HasWeightCol, HasPredictionCol):
    """Which columns of a DataFrame are what."""

    def _inputs(self, dataset):
        """One column of all inputs: a struct of columns, or an array of numbers."""
        if self.isSet(self.inputCols):
            return F.struct(*map(_named, self.getInputCols()))
        name = self.getFeaturesCol()
        if name not in dataset.columns:
            raise ValueError(
                f"there is no column {name!r} of vectors; set `inputCols` to the columns to learn from, or "
                "`featuresCol` to a column of vectors"
            )
        kind = dataset.schema[name].dataType
        if isinstance(kind, VectorUDT):
            return vector_to_array(_named(name))
        if isinstance(kind, ArrayType):
            return _named(name).cast("array<double>")
        raise ValueError(
            f"the column {name!r} is of type {kind.simpleString()}; expected vectors or arrays of numbers. Set "
            "`inputCols` to learn from columns of numbers and texts"
        )

    def _reader(self, dataset):
        """What reads the rows; it knows the names that an assembler has left of the parts of vectors."""
        if self.isSet(self.inputCols):
            return Rows(None, self.getLabelCol())
        metadata = dataset.schema[self.getFeaturesCol()].metadata.get("ml_attr", {})
        attributes = [attribute for group in metadata.get("attrs", {}).values() for attribute in group]
        names = {attribute["idx"]: attribute.get("name") for attribute in attributes}
        names = [names.get(place) for place in range(metadata.get("num_attrs", 0))]
        return Rows(names if names and None not in names else None, self.getLabelCol())


def _named(name):
    return F.col(f"`{name.replace('`', '``')}`")  # a name may have dots


def _with_options(cls):
    """Give a class the parameters of its estimator for one machine, as Params of the same names and defaults."""
    helps = {row["name"]: row["help"] for table in _core.option_tables().values() for row in table}
    cls._options = {}
    for name, parameter in inspect.signature(cls._local.__init__).parameters.items():
        if name == "self" or name in _LEFT_OUT:
            continue
        # A Dictionary is kept as its text, which Spark can write.
        convert = (lambda value: option_text("features", value)) if name == "features" else None
        setattr(cls, name, Param(Params._dummy(), name, helps.get(name, f"see mfga.{cls.__name__}"), convert))
        cls._options[name] = parameter.default
    return cls


class _Estimator(_Columns, Estimator, DefaultParamsReadable, DefaultParamsWritable):
    """What regression and classification share."""

    _local = None

    numWorkers = Param(
        Params._dummy(),
        "numWorkers",
        "tasks that learn together, where sums do not tell all; as many must run at the same time",
        TypeConverters.toInt,
    )

    def __init__(self, **parameters):
        super().__init__()
        self._setDefault(**self._options)
        self.setParams(**parameters)

    def setParams(self, **parameters):
        """Set parameters by name.

        Parameters
        ----------
        **parameters : dict
            Those of the class.

        Returns
        -------
        self : object
            The estimator.
        """
        for name, value in parameters.items():
            if not self.hasParam(name):
                raise ValueError(f"{type(self).__name__} has no parameter {name!r}; `explainParams()` shows all")
            if value is not None:
                self._set(**{name: value})
        return self

    def _estimator(self):
        """The estimator for one machine with these parameters, and with a seed that is the same for all."""
        local = self._local(**{name: self.getOrDefault(name) for name in self._options})
        return local.set_params(random_state=seed_of(local.random_state))

    def _selected(self, dataset):
        """The rows as columns x, y and, if there are weights, w."""
        chosen = [self._inputs(dataset).alias("x"), _named(self.getLabelCol()).alias("y")]
        if self.isSet(self.weightCol):
            chosen.append(_named(self.getWeightCol()).cast("double").alias("w"))
        return dataset.select(*chosen)

    def _learned_by_ranks(self, dataset):
        workers = self.getOrDefault(self.numWorkers) if self.isSet(self.numWorkers) else None
        return learned_by_ranks(self._selected(dataset), self._reader(dataset), self._estimator(), workers)

    def _wrapped(self, kind, dataset, local):
        model = kind(local, dataset.schema[self.getLabelCol()].dataType.simpleString())
        return self._copyValues(model)


class _Model(_Columns, Model, MLReadable, MLWritable):
    """What the models of regression and classification share."""

    _local = None

    def __init__(self, local, label_type):
        super().__init__()
        self._fitted = local
        self._label_type = label_type

    @property
    def local(self):
        """The model as an estimator for one machine, which shows its formula, explains, exports and saves."""
        return self._fitted

    def _values(self, dataset, method, returns):
        """A column of what a method of the estimator gives for each row."""
        local = self._fitted
        is_struct = self.isSet(self.inputCols)
        names = getattr(local, "feature_names_in_", None)

        def values(batches: Iterator[pd.DataFrame if is_struct else pd.Series]) -> Iterator[pd.Series]:
            local.n_jobs = threads()
            for batch in batches:
                x = batch if is_struct else pd.DataFrame(np.stack(batch.to_numpy()), columns=names)
                found = getattr(local, method)(x if is_struct or names is not None else x.to_numpy())
                yield pd.Series(found if found.ndim == 1 else list(found))

        return F.pandas_udf(values, returns)(self._inputs(dataset))

    def write(self):
        """Give what writes the model where Spark keeps files."""
        return _ModelWriter(self)

    @classmethod
    def read(cls):
        """Give what reads a model that was written."""
        return _ModelReader(cls)


class _ModelWriter(MLWriter):
    def __init__(self, model):
        super().__init__()
        self._model = model

    def saveImpl(self, path):
        model = self._model
        more = {"model": model.local._model.to_json(), "label_type": model._label_type}
        DefaultParamsWriter.saveMetadata(model, path, self.sparkSession, extraMetadata=more)


class _ModelReader(MLReader):
    def __init__(self, cls):
        super().__init__()
        self._class = cls

    def load(self, path):
        name = f"{self._class.__module__}.{self._class.__name__}"
        metadata = DefaultParamsReader.loadMetadata(path, self.sparkSession, name)
        local = self._class._local()._take(_core.Model.from_json(metadata["model"]), path)
        model = self._class(local, metadata["label_type"])
        model._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(model, metadata)
        return model


@_with_options
class MFGARegressor(_Estimator):
    """Regression on a Spark DataFrame by a small formula.

    The squared loss is learned from sums: 10,000 rows, drawn at random, set the dictionary and its scales, one job adds
    up sums over all rows, and the driver learns from these, as `mfga.Statistics` does, untuned. Where a parameter
    needs rows - another `loss`, `tune=40`, `metric`, ... - the tasks of a barrier stage learn together, each from its
    own rows, and find the model that `mfga.MFGARegressor` finds in the same rows, to the last bit.

    Parameters
    ----------
    inputCols : list of str
        Columns to learn from: numbers, truth values, texts.
    featuresCol : str, default="features"
        Where there are no `inputCols`: a column of vectors, or of arrays of numbers.
    labelCol : str, default="label"
        The target.
    weightCol : str
        How much each row counts; without it all count the same.
    predictionCol : str, default="prediction"
        The column that the model adds.
    numWorkers : int
        Tasks of a barrier stage; without it as many as there are partitions and run at a time.
    **parameters : dict
        Those of `mfga.MFGARegressor` that say what is learned, such as `terms`, `features` and `ridge`, each a `Param`.

    Examples
    --------
    >>> from pyspark.sql import SparkSession
    >>> from mfga.spark import MFGARegressor
    >>> spark = SparkSession.builder.getOrCreate()
    >>> rows = [(float(i % 7), float(i % 11), float(2 * (i % 7) + abs(i % 11 - 5))) for i in range(500)]
    >>> table = spark.createDataFrame(rows, "a double, b double, y double")
    >>> estimator = MFGARegressor(inputCols=["a", "b"], labelCol="y", features="linear + hinge(knots=4)", terms=4)
    >>> model = estimator.fit(table)
    >>> model.transform(table).columns
    ['a', 'b', 'y', 'prediction']
    >>> model.local.n_terms_
    4
    """

    _local = _estimators.MFGARegressor

    def _fit(self, dataset):
        local = self._estimator()
        try:
            _core.Statistics.check_options(local._options())
        except ValueError:  # it needs rows
            return self._wrapped(MFGARegressorModel, dataset, self._learned_by_ranks(dataset))
        rows, reader = self._selected(dataset), self._reader(dataset)
        parameters = local.get_params()
        sample = rows.orderBy(F.rand(parameters["random_state"])).limit(_SAMPLE).toArrow()
        if not len(sample):
            raise ValueError("the DataFrame has no rows to learn from")
        x, y, weights = reader.parts(sample)
        begun = Statistics(x, y, sample_weight=weights, **{name: parameters[name] for name in _OF_STATISTICS})
        others = {name: parameters[name] for name in self._options if name not in _OF_STATISTICS}
        return self._wrapped(MFGARegressorModel, dataset, sums_of(rows, reader, begun).fit(**others))


class MFGARegressorModel(_Model):
    """A model on Spark DataFrames: `transform` adds the column of predictions.

    `save` keeps it where Spark keeps files, `MFGARegressorModel.load` reads it back.

    Examples
    --------
    >>> from pyspark.sql import SparkSession
    >>> from mfga.spark import MFGARegressor
    >>> spark = SparkSession.builder.getOrCreate()
    >>> table = spark.createDataFrame([(float(i), 3.0 * i + 1) for i in range(200)], "a double, y double")
    >>> model = MFGARegressor(inputCols=["a"], labelCol="y", features="linear", terms=1, ridge=0.0).fit(table)
    >>> round(model.transform(table).first()["prediction"], 6)
    1.0
    """

    _local = _estimators.MFGARegressor

    def _transform(self, dataset):
        return dataset.withColumn(self.getPredictionCol(), self._values(dataset, "predict", "double"))


@_with_options
class MFGAClassifier(_Estimator, HasProbabilityCol):
    """Classification on a Spark DataFrame by a small formula.

    The tasks of a barrier stage learn together, each from its own rows, and find the model that `mfga.MFGAClassifier`
    finds in the same rows, to the last bit. Classes may be numbers, texts or truth values, and so are the predictions.

    Parameters
    ----------
    inputCols, featuresCol, weightCol, numWorkers
        As of `mfga.spark.MFGARegressor`.
    labelCol : str, default="label"
        The class.
    predictionCol : str, default="prediction"
        The column of classes that the model adds.
    probabilityCol : str, default="probability"
        The column of vectors that the model adds: the probabilities of the classes, in the order of
        `model.local.classes_`.
    **parameters : dict
        Those of `mfga.MFGAClassifier` that say what is learned, each a `Param`.

    Examples
    --------
    >>> from pyspark.sql import SparkSession
    >>> from mfga.spark import MFGAClassifier
    >>> spark = SparkSession.builder.getOrCreate()
    >>> rows = [(float(i % 7), float(i % 11), "high" if i % 7 > i % 11 else "low") for i in range(500)]
    >>> table = spark.createDataFrame(rows, "a double, b double, size string")
    >>> estimator = MFGAClassifier(inputCols=["a", "b"], labelCol="size", features="linear", terms=2, tune=False)
    >>> estimator.fit(table).transform(table).first()["prediction"]
    'low'
    """

    _local = _estimators.MFGAClassifier

    def _fit(self, dataset):
        return self._wrapped(MFGAClassifierModel, dataset, self._learned_by_ranks(dataset))


class MFGAClassifierModel(_Model, HasProbabilityCol):
    """A model of classes on Spark DataFrames: `transform` adds the columns of predictions and probabilities.

    `save` keeps it where Spark keeps files, `MFGAClassifierModel.load` reads it back.

    Examples
    --------
    >>> from pyspark.sql import SparkSession
    >>> from mfga.spark import MFGAClassifier
    >>> spark = SparkSession.builder.getOrCreate()
    >>> table = spark.createDataFrame([(float(i), i >= 100) for i in range(200)], "a double, label boolean")
    >>> model = MFGAClassifier(inputCols=["a"], features="linear", terms=1, tune=False).fit(table)
    >>> model.transform(table).columns
    ['a', 'label', 'prediction', 'probability']
    """

    _local = _estimators.MFGAClassifier

    def _transform(self, dataset):
        kind = _SPARK_TYPES[self.local.classes_.dtype.kind]
        prediction = self._values(dataset, "predict", kind).cast(self._label_type)
        probability = array_to_vector(self._values(dataset, "predict_proba", "array<double>"))
        return dataset.withColumns({self.getPredictionCol(): prediction, self.getProbabilityCol(): probability})
