"""Any target, any table: classes, several outputs, missing values, counts, quantiles and the chosen size, beside scikit-learn.

    ./dev tables DATA [PART ...]

Each part is one run of the tool and its peers on the same rows. The peers: a linear model, gradient boosted trees with their
defaults, and explainable boosting machines where `interpret` is installed.
"""

import argparse
import pathlib
import sys
import tempfile

import numpy as np
import pandas
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, PoissonRegressor, Ridge
from sklearn.metrics import d2_pinball_score, mean_pinball_loss, mean_poisson_deviance, r2_score
from sklearn.model_selection import train_test_split
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from ours_tables import CLASSES_CASES, PAPER_CASES
from tool_runs import PUBLIC_TABLES, Stopwatch, run_tool

EMPTIED = 0.1
TERMS_OF_NAVAL = 60
TERMS_OF_COUNTS = 40
TERMS_OF_QUANTILES = 40
# Rows times classes up to which explainable boosting machines are fitted: minutes each.
MOST_FOR_BOOSTING_MACHINES = 25_000


def linear(model):
    """A linear model for tables as they come: numbers are standardised, texts one-hot."""
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    texts = OneHotEncoder(handle_unknown="ignore", min_frequency=10)
    columns = make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")), (texts, make_column_selector(dtype_exclude="number"))
    )
    return make_pipeline(columns, model)


def boosting_machine(classes, **settings):
    """Nothing where the package is not installed."""
    try:
        from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor
    except ImportError:
        return {}
    family = ExplainableBoostingClassifier if classes else ExplainableBoostingRegressor
    return {"EBM": family(random_state=0, **settings)}


def trees(classes, **settings):
    family = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    return family(categorical_features="from_dtype", random_state=0, **settings)


def timed_fit(model, inputs, target):
    stopwatch = Stopwatch()
    model.fit(inputs, target)
    return stopwatch.seconds()["fit_seconds"]


def show(title, rows):
    """A table of dictionaries with the same keys."""
    print(f"\n### {title}\n")
    names = list(rows[0])
    print("| " + " | ".join(names) + " |")
    print("|" + "---|" * len(names))
    for row in rows:
        print("| " + " | ".join(f"{v:.5g}" if isinstance(v, float) else str(v) for v in row.values()) + " |")
    sys.stdout.flush()


def write_parts(folder, *parts):
    """Files train.csv and test.csv."""
    paths = [pathlib.Path(folder) / f"{name}.csv" for name in ("train", "test")]
    for part, path in zip(parts, paths):
        part.to_csv(path, index=False)
    return paths


def fit_tool(train, test, *options):
    """The report of a fit, with the seconds that it took, what was read not counted."""
    report = run_tool("train", train, "--test", test, *options)
    report["fit"] = report["seconds"]["total"] - report["seconds"]["load"]
    return report


def classes_part(data, folder):
    """Wrong labels in percent, means over the splits."""
    rows = []
    for case in CLASSES_CASES:
        ((terms, _),) = case.at_most.items()
        errors, seconds = {}, {}

        def add(name, error, second):
            errors.setdefault(name, []).append(error)
            seconds.setdefault(name, []).append(second)

        for split in case.make_splits(data, folder):
            report = fit_tool(split.files.train, split.files.test, *split.files.column_options(), "--terms", terms)
            add("ours", report["test"]["error_percent"], report["fit"])
            peers = {"LogisticRegression": linear(LogisticRegression(max_iter=2000)), "trees": trees(True)}
            if len(split.train_target) * split.train_target.nunique() <= MOST_FOR_BOOSTING_MACHINES:
                peers |= boosting_machine(True)
            for name, model in peers.items():
                second = timed_fit(model, split.train_inputs, split.train_target)
                add(name, 100 * (1 - model.score(split.test_inputs, split.test_target)), second)
        names = ["ours", "LogisticRegression", "trees", *boosting_machine(True)]
        mean = {name: float(np.mean(errors[name])) if name in errors else "-" for name in names}
        times = float(np.mean(seconds["ours"]) / np.mean(seconds["trees"]))
        rows.append({"table": case.name, "terms": terms, **mean, "times the trees' time": times})
        show("Several classes, wrong labels in percent", rows[-1:])
    show("Several classes, wrong labels in percent", rows)


def naval_part(data, folder):
    """R2 of both targets with one set of terms."""
    frame = pandas.read_csv(data / "naval" / "naval.csv")
    targets = ["compressor_decay", "turbine_decay"]
    train, test = train_test_split(frame, test_size=0.25, random_state=0)
    report = fit_tool(*write_parts(folder, train, test), "--target", ",".join(targets), "--terms", TERMS_OF_NAVAL)
    ours = {"model": f"ours, {report['terms']} terms", "seconds": report["fit"]}
    rows = [{**ours, **{name: report["test"]["targets"][k]["r2"] for k, name in enumerate(targets)}}]
    peers = {"trees": trees(False), **boosting_machine(False)}
    one_for_each = {name: MultiOutputRegressor(model) for name, model in peers.items()}
    for name, model in {"Ridge": linear(Ridge()), **one_for_each}.items():
        seconds = timed_fit(model, train.drop(columns=targets), train[targets])
        scores = r2_score(test[targets], model.predict(test.drop(columns=targets)), multioutput="raw_values")
        rows.append({"model": name, "seconds": seconds, **dict(zip(targets, map(float, scores)))})
    show("naval, R2 of two outputs", rows)


def read_adult(file):
    """Its question marks are missing values."""
    frame = pandas.read_csv(file, header=None, comment="|", skipinitialspace=True, na_values="?")
    frame.columns = [f"c{j}" for j in range(frame.shape[1])]
    frame["c14"] = frame["c14"].str.removesuffix(".")
    return frame


def missing_part(data, folder):
    """Wrong labels of adult in percent, with all cells and with a tenth of them emptied at random."""
    rows = []
    parts = [read_adult(data / "adult" / name) for name in ("adult.data", "adult.test")]
    for emptied in (0, EMPTIED):
        random = np.random.default_rng(0)
        for part in parts:
            inputs = part.columns[:-1]
            part[inputs] = part[inputs].mask(random.uniform(size=(len(part), len(inputs))) < emptied)
        train, test = (part.copy() for part in parts)
        report = fit_tool(*write_parts(folder, train, test), "--terms", 100, "--per-step", 5)
        row = {"cells emptied": emptied, "ours": report["test"]["error_percent"]}
        for name in train.columns[:-1]:
            if not pandas.api.types.is_numeric_dtype(train[name]):
                train[name] = train[name].astype("category")
                test[name] = test[name].astype(train[name].dtype)
        peers = {"LogisticRegression": linear(LogisticRegression(max_iter=2000)), "trees": trees(True)}
        for name, model in {**peers, **boosting_machine(True)}.items():
            model.fit(train.drop(columns="c14"), train["c14"])
            row[name] = 100 * (1 - model.score(test.drop(columns="c14"), test["c14"]))
        rows.append(row)
    show("adult, wrong labels in percent", rows)


def size_part(data, folder):
    """What --terms auto chooses, and the errors of the sizes on its path, on the test rows."""
    rows = []
    for case in PAPER_CASES:
        files = PUBLIC_TABLES[case.name].in_folder(data)
        path = pathlib.Path(folder) / "model.json"
        report = run_tool("train", *files.options(), "--model", path)
        metric = case.measure.metric
        best = min(report["sizes"], key=lambda size: size["held_out"], default=None)
        chosen = next((size for size in report["sizes"] if size["chosen"]), None)
        rows.append(
            {
                "table": case.name,
                "terms chosen": report["terms"],
                "held-out loss": chosen["held_out"],
                "best size": best["terms"],
                "its held-out loss": best["held_out"],
                "standard error": best["standard_error"],
                "measure": metric,
                "test rows": report["test"][metric],
                "kB": path.stat().st_size / 1000,
                "seconds": report["seconds"]["total"],
            }
        )
    show("--terms auto", rows)


def count_tables(data):
    """A generated one, and a public one whose target is a whole number from 0 to 100."""
    random = np.random.default_rng(0)
    x = random.standard_normal((8000, 8))
    rate = np.exp(0.3 + 0.5 * x[:, 0] + 0.4 * np.abs(x[:, 1]) - 0.5 * (x[:, 2] > 0.5) + 0.3 * x[:, 3] * x[:, 4])
    made = pandas.DataFrame(x, columns=[f"x{j}" for j in range(8)]).assign(target=random.poisson(rate))
    yield "generated", made
    pol = pandas.read_csv(data / "tables" / "pol.tsv.gz", sep="\t")
    yield "pol", pol.assign(target=pol["target"].round().astype(int))


def counts_part(data, folder):
    """Mean Poisson deviance."""
    rows = []
    for name, frame in count_tables(data):
        train, test = train_test_split(frame, test_size=0.25, random_state=0)
        files = write_parts(folder, train, test)
        report = fit_tool(
            *files, "--target", "target", "--loss", "poisson", "--terms", TERMS_OF_COUNTS, "--model", f"{folder}/m"
        )
        predictions = pandas.Series(predict(folder, files[1]))
        row = {"table": name, "terms": report["terms"]}
        row["ours"] = mean_poisson_deviance(test["target"], predictions)
        peers = {"PoissonRegressor": linear(PoissonRegressor(max_iter=1000)), "trees": trees(False, loss="poisson")}
        for peer, model in {**peers, **boosting_machine(False, objective="poisson_deviance")}.items():
            model.fit(train.drop(columns="target"), train["target"])
            row[peer] = mean_poisson_deviance(test["target"], model.predict(test.drop(columns="target")))
        rows.append(row)
    show("Counts, mean Poisson deviance", rows)


def predict(folder, file, *options):
    """The predictions of the model in the folder."""
    out = pathlib.Path(folder) / "predictions.csv"
    run_tool("predict", f"{folder}/m", file, "--output", out, *options)
    return pandas.read_csv(out).iloc[:, -1]


def quantile_part(data, folder):
    """Pinball loss of the 0.9 quantile of year."""
    files = PUBLIC_TABLES["year"].in_folder(data)
    train, test = (pandas.read_csv(file, header=None) for file in (files.train, files.test))
    report = run_tool(
        "train", *files.options(), "--loss", "quantile(0.9)", "--terms", TERMS_OF_QUANTILES, "--model", f"{folder}/m"
    )
    rows = []
    models = {
        f"ours, {report['terms']} terms": predict(folder, files.test, "--header", "no"),
        "trees": trees(False, loss="quantile", quantile=0.9).fit(train.drop(columns=0), train[0]).predict(
            test.drop(columns=0)
        ),
        "constant": np.full(len(test), np.quantile(train[0], 0.9)),
    }
    for name, predictions in models.items():
        rows.append(
            {
                "model": name,
                "pinball loss": mean_pinball_loss(test[0], predictions, alpha=0.9),
                "D2": d2_pinball_score(test[0], predictions, alpha=0.9),
                "rows below": float(np.mean(test[0].to_numpy() <= np.asarray(predictions))),
            }
        )
    show("year, quantile 0.9", rows)


PARTS = {
    "naval": naval_part,
    "missing": missing_part,
    "counts": counts_part,
    "quantile": quantile_part,
    "size": size_part,
    "classes": classes_part,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path, help="folder of the public data sets")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"some of {', '.join(PARTS)}; default: all")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.parts) - set(PARTS))
    if unknown:
        parser.error(f"there is no part {', '.join(unknown)}; expected some of {', '.join(PARTS)}")
    for name in arguments.parts or PARTS:
        with tempfile.TemporaryDirectory() as folder:
            PARTS[name](arguments.data, folder)


if __name__ == "__main__":
    main()
