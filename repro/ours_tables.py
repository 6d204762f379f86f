"""The tables on which ours.py compares: the paper's, and others of many kinds, each with its splits."""

import pathlib
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pandas
from sklearn import datasets
from sklearn.model_selection import train_test_split

from tool_runs import PUBLIC_TABLES, TableFiles

TEST_PART = 0.25
ROWS_FOR_ONE_SPLIT = 5000  # smaller tables are split several times, and errors are means over the splits
SPLITS_OF_SMALL_TABLES = 3
ROWS_OF_A_LARGE_TEST = 20000
TERMS_OF_OTHER_TABLES = 200
TERMS_OF_TABLES_FOR_RULES = 100


@dataclass
class Split:
    """The rows of one training and test table: as files for the tool, as frames for scikit-learn."""

    files: TableFiles
    train_inputs: pandas.DataFrame
    train_target: pandas.Series
    test_inputs: pandas.DataFrame
    test_target: pandas.Series
    train_groups: pandas.Series | None = None  # rows of one group must not be on both sides of a cross-validation


@dataclass(frozen=True)
class Measure:
    """What is compared. `metric` is one of those that the tool reports; the trees are tuned for `scoring`."""

    title: str
    metric: str
    scoring: str
    half_range: Callable[[Split], float] | None = None  # of a target that is scaled to [-1, 1] first

    def error(self, metrics, split):
        value = metrics[self.metric]
        return value if self.half_range is None else 100 * value / self.half_range(split) ** 2


def half_range_of_training_rows(split):
    return (split.train_target.max() - split.train_target.min()) / 2


YEARS = (1922, 2011)  # the range of the whole data set, of which the rows are a sample
YEAR_MSE = Measure(
    "100 MSE, target in [-1, 1]", "mse", "neg_mean_squared_error", lambda split: (YEARS[1] - YEARS[0]) / 2
)
NEWS_MSE = Measure("100 MSE, target in [-1, 1]", "mse", "neg_mean_squared_error", half_range_of_training_rows)
WRONG_LABELS = Measure("wrong labels, %", "error_percent", "accuracy")
RMSE = Measure("RMSE", "rmse", "neg_mean_squared_error")
LOG_LOSS = Measure("log-loss", "log_loss", "neg_log_loss")


@dataclass(frozen=True)
class Case:
    """A table of the comparison. make_splits(data folder, folder for files) gives its splits one by one."""

    name: str
    measure: Measure
    make_splits: Callable
    at_most: dict = field(default_factory=lambda: {TERMS_OF_OTHER_TABLES: None})  # number of terms -> error to reach
    name_in_paper: str | None = None


def read_libsvm(file, n_features):
    inputs, labels = datasets.load_svmlight_file(file, n_features=n_features)
    return pandas.DataFrame(inputs.toarray()), pandas.Series(labels)


def read_delimited(file, files):
    """Inputs, target and ignored column of a table of comma-separated values, as the tool reads them."""
    header = 0 if files.has_names() else None
    frame = pandas.read_csv(file, header=header, comment=files.comment, skipinitialspace=True)
    if files.target is None:
        target = frame.columns[-1]
    else:
        target = files.target if files.has_names() else int(files.target)
    labels = frame.pop(target)
    if not pandas.api.types.is_numeric_dtype(labels):
        labels = labels.str.removesuffix(".")
    return frame, labels, frame.pop(files.ignore) if files.ignore else None


def with_same_categories(train, test):
    """Columns of text as categories, which are those of the training rows."""
    for name in train.columns:
        if not pandas.api.types.is_numeric_dtype(train[name]):
            train[name] = train[name].astype("category")
            test[name] = test[name].astype(train[name].dtype)


def public_split(name):
    def make_splits(data, _):
        files = PUBLIC_TABLES[name].in_folder(data)
        if name == "adult a9a":
            train = read_libsvm(files.train, None)
            test = read_libsvm(files.test, train[0].shape[1])
            yield Split(files, *train, *test)
            return
        *train, groups = read_delimited(files.train, files)
        *test, _ = read_delimited(files.test, files)
        with_same_categories(train[0], test[0])
        yield Split(files, *train, *test, groups if name == "epileptic by recording" else None)

    return make_splits


def random_splits(make_frame, classes, n_splits=None, test_size=TEST_PART):
    """Splits by seed of a frame whose last column is the target."""

    def make_splits(data, folder):
        frame = make_frame(data)
        target = frame.columns[-1]
        for seed in range(n_splits or (1 if len(frame) >= ROWS_FOR_ONE_SPLIT else SPLITS_OF_SMALL_TABLES)):
            parts = train_test_split(
                frame, test_size=test_size, random_state=seed, stratify=frame[target] if classes else None
            )
            paths = [pathlib.Path(folder) / f"{part}.csv" for part in ("train", "test")]
            for part, path in zip(parts, paths):
                part.to_csv(path, index=False)
            train, test = (part.reset_index(drop=True) for part in parts)
            yield Split(
                TableFiles(*map(str, paths), target=target),
                train.drop(columns=target),
                train[target],
                test.drop(columns=target),
                test[target],
            )

    return make_splits


def table_of(inputs, target):
    frame = pandas.DataFrame(np.asarray(inputs), columns=[f"x{j}" for j in range(1, np.shape(inputs)[1] + 1)])
    return frame.assign(y=np.asarray(target))


def friedman(generate, noise):
    """2,000 rows of one of Friedman's functions, with as many irrelevant inputs as make it ten."""

    def make_frame(_):
        inputs, target = generate(n_samples=2000, noise=noise, random_state=0)
        irrelevant = np.random.default_rng(0).standard_normal((2000, 10 - inputs.shape[1]))
        return table_of(np.hstack([inputs, irrelevant]), target)

    return make_frame


def large_friedman(rows):
    """So many rows to learn from, of Friedman's first function, and some more to test with."""

    def make_frame(_):
        return table_of(*datasets.make_friedman1(n_samples=rows + ROWS_OF_A_LARGE_TEST, noise=1, random_state=0))

    return random_splits(make_frame, classes=False, n_splits=1, test_size=ROWS_OF_A_LARGE_TEST)


def table_for_rules(name):
    return lambda data: pandas.read_csv(data / "tables" / f"{name}.tsv.gz", sep="\t")


def sparse_products(_):
    """Four of 50 inputs matter, through a product, a square and a line."""
    random = np.random.default_rng(1)
    x = random.standard_normal((3000, 50))
    return table_of(x, x[:, 0] * x[:, 1] + x[:, 2] ** 2 + x[:, 3] + 0.5 * random.standard_normal(3000))


def sparse_thresholds(_):
    """Four of 30 inputs matter, through thresholds, two of them together: a function that trees can have exactly."""
    random = np.random.default_rng(2)
    x = random.uniform(size=(3000, 30))
    signal = 2.0 * (x[:, 0] > 0.3) + 3.0 * ((x[:, 1] > 0.5) & (x[:, 2] > 0.4)) - 1.5 * (x[:, 3] > 0.7)
    return table_of(x, signal + 0.5 * random.standard_normal(3000))


def sparse_ring(_):
    """Two classes, inside and outside of a ring in three of 40 inputs, with a soft border."""
    random = np.random.default_rng(3)
    x = random.standard_normal((3000, 40))
    log_odds = 2 * ((x[:, :3] ** 2).sum(axis=1) - 2.4)
    return table_of(x, (random.uniform(size=3000) < 1 / (1 + np.exp(-log_odds))).astype(int))


def letter_halves(data):
    frame = pandas.read_csv(data / "letter" / "letter.csv")
    return frame.assign(target=(frame["target"] >= "N").astype(int))


def naval_compressor(data):
    return pandas.read_csv(data / "naval" / "naval.csv").drop(columns="turbine_decay")


def shipped(load, target=lambda values: values):
    def make_frame(_):
        inputs, values = load(return_X_y=True)
        return table_of(inputs, target(values))

    return make_frame


def public_case(name, measure, at_most, name_in_paper=None):
    return Case(name, measure, public_split(name), at_most, name_in_paper)


def regression_case(name, make_frame):
    return Case(name, RMSE, random_splits(make_frame, classes=False))


def classes_case(name, make_frame):
    return Case(name, LOG_LOSS, random_splits(make_frame, classes=True))


PAPER_CASES = [
    public_case("year", YEAR_MSE, {40: 4.02, 400: 3.97}, "year"),
    public_case("news", NEWS_MSE, {20: 0.0667}, "news"),
    public_case("adult", WRONG_LABELS, {100: 13.0}, "adult"),
    public_case("adult a9a", WRONG_LABELS, {100: 14.9}, "adult"),
    public_case("epileptic", WRONG_LABELS, {20: 2.75}, "epileptic"),
    public_case("epileptic by recording", WRONG_LABELS, {20: 2.9}),
]
OTHER_CASES = [
    regression_case("diabetes", shipped(datasets.load_diabetes)),
    classes_case("breast cancer", shipped(datasets.load_breast_cancer)),
    classes_case("wine class 1", shipped(datasets.load_wine, lambda kind: (kind == 1).astype(int))),
    classes_case("digits parity", shipped(datasets.load_digits, lambda digit: digit % 2)),
    regression_case("friedman1", friedman(datasets.make_friedman1, noise=1)),
    regression_case("friedman2", friedman(datasets.make_friedman2, noise=125)),
    regression_case("friedman3", friedman(datasets.make_friedman3, noise=0.1)),
    regression_case("naval compressor", naval_compressor),
    classes_case("letter halves", letter_halves),
    regression_case("products", sparse_products),
    regression_case("thresholds", sparse_thresholds),
    classes_case("ring", sparse_ring),
]


def case_for_rules(file, measure, name=None):
    splits = random_splits(table_for_rules(file), measure is LOG_LOSS, SPLITS_OF_SMALL_TABLES)
    return Case(name or file, measure, splits, {TERMS_OF_TABLES_FOR_RULES: None})


# The tables on which rules and defaults are settled. `ring` is among those above as another table.
CASES_FOR_RULES = [
    *(case_for_rules(name, RMSE) for name in ("house_8L", "cpu_act", "pol", "2dplanes", "puma8NH", "wind", "music")),
    *(case_for_rules(name, LOG_LOSS) for name in ("phoneme", "churn", "twonorm", "coil2000", "mushroom")),
    case_for_rules("ring", LOG_LOSS, "ringnorm"),
]


def with_classes(make_frame):
    """The last column as text: for the tool, numbers of more than two values are numbers."""

    def make_classes(data):
        frame = make_frame(data)
        target = frame.columns[-1]
        return frame.assign(**{target: "class " + frame[target].astype(str)})

    return make_classes


def several_classes(name, make_frame, terms, n_splits=SPLITS_OF_SMALL_TABLES, test_size=TEST_PART):
    return Case(name, WRONG_LABELS, random_splits(with_classes(make_frame), True, n_splits, test_size), {terms: None})


# More than two classes.
CLASSES_CASES = [
    several_classes("letter", lambda data: pandas.read_csv(data / "letter" / "letter.csv"), 400, 1, 0.2),
    several_classes("digits", shipped(datasets.load_digits), 200, 5),
    *(
        several_classes(name, table_for_rules(name), 200)
        for name in (
            "connect-4",
            "dna",
            "krkopt",
            "optdigits",
            "page-blocks",
            "satimage",
            "segmentation",
            "shuttle",
            "texture",
        )
    ),
]
LARGE_CASES = [
    Case("friedman1 100k", RMSE, large_friedman(100_000), {100: None}),
    Case("friedman1 1M", RMSE, large_friedman(1_000_000), {40: None}),
]
