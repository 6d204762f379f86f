#!/usr/bin/env python3
"""The Python estimators beside scikit-learn's and others on public tables: error, fit seconds, size, seconds per row.

    ./dev compare [--data DATA] [--tables NAME ...] [--methods NAME ...] [--splits N]

Every fit is a process of its own with one thread, so that CPU seconds mean the same for all. Its result is a line of a
file (--out): a second run goes on where the first one ended, and prints the tables of docs/python-table.md from all
there is. `adult` and `year` need the folder of data sets.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import pickle
import resource
import signal
import subprocess
import sys
import time

TABLES = ("breast_cancer", "diabetes", "digits", "wine", "friedman1", "friedman2", "friedman3", "adult", "year")
CLASSES = ("breast_cancer", "digits", "wine", "adult")
FROM_FOLDER = {"adult": "adult/adult.data", "year": "year/train.csv"}
METHODS = {
    "mfga": "mfga",
    "linear": "Ridge / LogisticRegression",
    "kernel": "KernelRidge / SVC",
    "trees": "HistGradientBoosting",
    "ebm": "EBM",
    "omp": "OMP of PolynomialFeatures",
    "gam": "pyGAM",
}
NEEDED = {"ebm": "interpret", "gam": "pygam"}
TEST_PART = 0.25
ROWS_OF_FRIEDMAN = 1000
NOISE_OF_FRIEDMAN = {"friedman1": 1.0, "friedman2": 125.0, "friedman3": 0.1}
ROWS_TO_TIME = 10000
CPU_SECONDS_TO_TIME = 0.5
# Above these, peers are used with fewer choices of their settings; docs/python-table.md says which.
MOST_ROWS_FOR_GRIDS = 10000
MOST_NUMBERS_FOR_OMP_CV = 2e7
MOST_COLUMNS_FOR_GAM_GRIDS = 20


# What follows runs in the process of one fit, where alone scikit-learn and the like are imported.


def read_table(name, data):
    import numpy as np
    import pandas
    from sklearn import datasets

    if name in NOISE_OF_FRIEDMAN:
        make = getattr(datasets, f"make_{name}")
        x, y = make(n_samples=ROWS_OF_FRIEDMAN, noise=NOISE_OF_FRIEDMAN[name], random_state=0)
        return pandas.DataFrame(x, columns=[f"x{j}" for j in range(x.shape[1])]), y
    if name == "adult":
        parts = [
            pandas.read_csv(data / "adult" / file, header=None, comment="|", skipinitialspace=True, na_values="?")
            for file in ("adult.data", "adult.test")
        ]
        frame = pandas.concat(parts, ignore_index=True)
        frame.columns = [f"x{j}" for j in range(frame.shape[1] - 1)] + ["y"]
        return frame.drop(columns="y"), frame["y"].str.rstrip(".").to_numpy(dtype=str)
    if name == "year":
        frame = pandas.concat(
            [pandas.read_csv(data / "year" / file, header=None) for file in ("train.csv", "test.csv")],
            ignore_index=True,
        )
        return frame.iloc[:, 1:].rename(columns=lambda j: f"x{j}"), frame[0].to_numpy(dtype=np.float64)
    return getattr(datasets, f"load_{name}")(return_X_y=True, as_frame=True)


def text_columns(x):
    import pandas

    return [name for name in x.columns if not pandas.api.types.is_numeric_dtype(x[name])]


def encoded(x):
    """Columns of 0 and 1 for texts; numbers standardised."""
    from sklearn.compose import make_column_transformer
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    texts = text_columns(x)
    if not texts:
        return StandardScaler()
    hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return make_column_transformer((hot, texts), remainder=StandardScaler())


def make_linear(x, is_classes):
    import numpy as np
    from sklearn.linear_model import LogisticRegression, RidgeCV
    from sklearn.pipeline import make_pipeline

    last = LogisticRegression(max_iter=2000) if is_classes else RidgeCV(np.logspace(-3, 3, 13))
    return make_pipeline(encoded(x), last)


def make_kernel(x, is_classes):
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    widths = [value / x.shape[1] for value in (0.1, 0.3, 1)]
    if is_classes:
        model, grid = SVC(), {"svc__C": [1, 10, 100], "svc__gamma": widths}
        model = make_pipeline(encoded(x), model)
    else:
        model, grid = KernelRidge(kernel="rbf"), {"kernelridge__alpha": [0.01, 0.1, 1], "kernelridge__gamma": widths}
        model = make_pipeline(encoded(x), model)
    if len(x) <= MOST_ROWS_FOR_GRIDS:
        model = GridSearchCV(model, grid, cv=3)
    return model if is_classes else TransformedTargetRegressor(model, transformer=StandardScaler())


def make_trees(x, is_classes):
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    kind = HistGradientBoostingClassifier if is_classes else HistGradientBoostingRegressor
    return kind(categorical_features=text_columns(x) or None, random_state=0)


def make_ebm(x, is_classes):
    from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

    kind = ExplainableBoostingClassifier if is_classes else ExplainableBoostingRegressor
    return kind(n_jobs=1, random_state=0)


def make_omp(x, is_classes):
    from sklearn.linear_model import OrthogonalMatchingPursuit, OrthogonalMatchingPursuitCV
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures, StandardScaler

    columns = encoded(x).fit_transform(x).shape[1]
    is_small = len(x) * columns * (columns + 3) / 2 <= MOST_NUMBERS_FOR_OMP_CV
    last = OrthogonalMatchingPursuitCV(cv=5) if is_small else OrthogonalMatchingPursuit()
    # Of classes: least squares to 0 and 1, each against the rest.
    last = OneVsRestClassifier(last) if is_classes else last
    return make_pipeline(encoded(x), PolynomialFeatures(2, include_bias=False), StandardScaler(), last)


class Gam:
    """pyGAM with a spline for each column of numbers and a factor for each of texts."""

    def __init__(self, x, is_classes):
        import numpy as np
        from sklearn.preprocessing import OrdinalEncoder

        self.texts = text_columns(x)
        self.numbers = [name for name in x.columns if name not in self.texts]
        self.encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
        self.is_classes = is_classes
        self.medians = x[self.numbers].median()
        self.dtype = np.float64

    def matrix(self, x, texts):
        import numpy as np

        # A text that was not in the training rows counts as the first level, for pyGAM takes no other.
        levels = np.maximum(texts, 0) if self.texts else np.empty((len(x), 0))
        return np.column_stack([x[self.numbers].fillna(self.medians), levels]).astype(self.dtype)

    def fit(self, x, y):
        import pygam

        texts = self.encoder.fit_transform(x[self.texts]) if self.texts else None
        terms = [pygam.s(j) for j in range(len(self.numbers))]
        terms += [pygam.f(len(self.numbers) + j) for j in range(len(self.texts))]
        total = sum(terms[1:], terms[0])
        self.gam = pygam.LogisticGAM(total) if self.is_classes else pygam.LinearGAM(total)
        if self.is_classes:
            self.labels = sorted(set(y))
            y = (y == self.labels[1]).astype(float)
        matrix = self.matrix(x, texts)
        if len(terms) <= MOST_COLUMNS_FOR_GAM_GRIDS:
            self.gam.gridsearch(matrix, y, progress=False)
        else:
            self.gam.fit(matrix, y)
        return self

    def predict(self, x):
        import numpy as np

        predicted = self.gam.predict(self.matrix(x, self.encoder.transform(x[self.texts]) if self.texts else None))
        return np.where(predicted, self.labels[1], self.labels[0]) if self.is_classes else predicted


def make_mfga(x, is_classes):
    from mfga import MFGAClassifier, MFGARegressor

    return (MFGAClassifier if is_classes else MFGARegressor)(n_jobs=1)


MAKERS = {
    "mfga": make_mfga,
    "linear": make_linear,
    "kernel": make_kernel,
    "trees": make_trees,
    "ebm": make_ebm,
    "omp": make_omp,
    "gam": Gam,
}


def with_numbers_only(x, method):
    """Peers that take no missing values get none: the texts that are missing are a level."""
    return x.fillna({name: "missing" for name in text_columns(x)}) if method not in ("mfga", "trees", "ebm") else x


def measure(job):
    """One fit of one method on one split of one table."""
    import warnings

    import numpy as np
    import pandas
    from sklearn.model_selection import train_test_split

    warnings.filterwarnings("ignore")
    table, method = job["table"], job["method"]
    x, y = read_table(table, pathlib.Path(job["data"]))
    y = np.asarray(y)
    is_classes = table in CLASSES
    if method == "gam" and is_classes and len(set(y)) > 2:
        return {"skipped": "two classes only"}
    if method == "trees":
        x = x.astype({name: "category" for name in text_columns(x)})
    x = with_numbers_only(x, method)
    stratify = y if is_classes else None
    x_train, x_test, y_train, y_test = train_test_split(
        x, y, test_size=TEST_PART, random_state=job["split"], stratify=stratify
    )
    model = MAKERS[method](x_train, is_classes)
    start, cpu = time.perf_counter(), time.process_time()
    model.fit(x_train, y_train)
    result = {"seconds": time.perf_counter() - start, "cpu_seconds": time.process_time() - cpu}
    predicted = model.predict(x_test)
    if is_classes:
        result["error"] = 100 * float(np.mean(predicted != y_test))
    else:
        result["error"] = float(np.sqrt(np.mean((np.asarray(predicted) - y_test) ** 2)))
    many = pandas.concat([x_test] * -(-ROWS_TO_TIME // len(x_test)), ignore_index=True)[:ROWS_TO_TIME]
    # Clocks of CPU time may tick every few milliseconds: many calls, until a tick does not matter.
    calls, cpu = 0, time.process_time()
    while time.process_time() - cpu < CPU_SECONDS_TO_TIME:
        model.predict(many)
        calls += 1
    result["microseconds_per_row"] = 1e6 * (time.process_time() - cpu) / (calls * len(many))
    result["kib"] = len(pickle.dumps(model)) / 1024
    if method == "mfga":
        result["terms"] = model.n_terms_
    return result


# What follows drives.


def run_one(job, limit):
    threads = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
    command = [sys.executable, __file__, "--one", json.dumps(job)]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env={**os.environ, **threads},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit)),
    )
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return {"skipped": f"not within {limit} CPU seconds"}
    if done.returncode != 0:
        return {"skipped": "failed: " + (done.stderr.strip().splitlines() or ["no message"])[-1][:200]}
    return json.loads(done.stdout.splitlines()[-1])


def read_results(file):
    lines = file.read_text().splitlines() if file.exists() else []
    return {(line["table"], line["method"], line["split"]): line for line in map(json.loads, lines)}


def mean_and_error(values):
    import statistics

    mean = statistics.fmean(values)
    return mean, statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else None


def error_text(values):
    mean, error = mean_and_error(values)
    return f"{mean:.4g}" if error is None else f"{mean:.4g} ± {error:.2g}"


def tables_text(results):
    """The results as Markdown: errors of all, then everything of each table."""
    by_pair = {}
    for (table, method, _), line in results.items():
        by_pair.setdefault((table, method), []).append(line)
    shown_tables = [name for name in TABLES if any(table == name for table, _ in by_pair)]
    shown = [name for name in METHODS if any(method == name for _, method in by_pair)]

    def measured(table, method):
        return [line for line in by_pair.get((table, method), ()) if "error" in line]

    def reason(table, method):
        lines = by_pair.get((table, method))
        return lines[0]["skipped"] if lines else "not run"

    text = ["| table | " + " | ".join(METHODS[method] for method in shown) + " |", "|---" * (len(shown) + 1) + "|"]
    for table in shown_tables:
        cells = []
        for method in shown:
            lines = measured(table, method)
            cells.append(error_text([line["error"] for line in lines]) if lines else "-")
        unit = "% wrong" if table in CLASSES else "RMSE"
        text.append(f"| {table}, {unit} | " + " | ".join(cells) + " |")
    for table in shown_tables:
        unit = "% wrong" if table in CLASSES else "RMSE"
        text += ["", f"## {table}", "", f"| method | splits | {unit} | fit s | CPU s | KiB | µs per row |"]
        text.append("|---|---|---|---|---|---|---|")
        for method in shown:
            lines = measured(table, method)
            if not lines:
                text.append(f"| {METHODS[method]} | {reason(table, method)} | | | | | |")
                continue
            means = [mean_and_error([line[key] for line in lines])[0] for key in
                     ("seconds", "cpu_seconds", "kib", "microseconds_per_row")]
            name = METHODS[method]
            if method == "mfga":
                name += f", {mean_and_error([line['terms'] for line in lines])[0]:.0f} terms"
            text.append(
                f"| {name} | {len(lines)} | {error_text([line['error'] for line in lines])} | "
                + " | ".join(f"{value:.3g}" if value < 1000 else f"{value:,.0f}" for value in means) + " |"
            )
    return "\n".join(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=pathlib.Path, default=os.environ.get("MFGA_DATA"),
                        help="folder of data sets, for adult and year; default: $MFGA_DATA")
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=TABLES)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--time-limit", type=int, default=900, help="CPU seconds for one fit and its predictions")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/python_table.jsonl"))
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measure(json.loads(arguments.one))))
        return
    results = read_results(arguments.out)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    for table in arguments.tables:
        data = pathlib.Path(arguments.data) if arguments.data else None
        if table in FROM_FOLDER and (data is None or not (data / FROM_FOLDER[table]).exists()):
            print(f"{table}: left out, for the folder of data sets has no {FROM_FOLDER[table]}", file=sys.stderr)
            continue
        for split in range(arguments.splits):
            for method in arguments.methods:
                if (table, method, split) in results or results.get((table, method, 0), {}).get("skipped"):
                    continue
                if importlib.util.find_spec(NEEDED.get(method, "json")) is None:
                    print(f"{METHODS[method]}: left out, for {NEEDED[method]} is not installed", file=sys.stderr)
                    continue
                job = {"table": table, "method": method, "split": split, "data": str(data)}
                line = {**job, **run_one(job, arguments.time_limit)}
                del line["data"]
                results[(table, method, split)] = line
                with arguments.out.open("a") as file:
                    file.write(json.dumps(line) + "\n")
                print(line, file=sys.stderr, flush=True)
    print(tables_text(results))


if __name__ == "__main__":
    main()
