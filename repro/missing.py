"""What missing values cost: adult as it is, and with a tenth of the cells of its inputs emptied, beside trees.

    bench/.venv/bin/python repro/missing.py DATA
"""

import argparse
import pathlib
import tempfile

import numpy
import pandas
from sklearn.ensemble import HistGradientBoostingClassifier

from tool_runs import PUBLIC_TABLES, run_tool

PART = 0.1
SEED = 1
TERMS = 100
PER_STEP = 5


def read(path):
    table = pandas.read_csv(path, header=None, comment="|", skipinitialspace=True, na_values="?")
    return table.iloc[:, :-1], table.iloc[:, -1].str.rstrip(".")


def emptied(inputs, random):
    return inputs.mask(random.random(inputs.shape) < PART)


def trees_error(train, train_labels, test, test_labels):
    texts = [name for name in train if not pandas.api.types.is_numeric_dtype(train[name])]
    levels = {name: pandas.CategoricalDtype(train[name].dropna().unique()) for name in texts}
    trees = HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=0)
    trees.fit(train.astype(levels), train_labels)
    return 100 * float(numpy.mean(trees.predict(test.astype(levels)) != test_labels))


def tool_error(folder, train, train_labels, test, test_labels):
    paths = []
    for name, inputs, labels in (("train.csv", train, train_labels), ("test.csv", test, test_labels)):
        paths.append(folder / name)
        pandas.concat([inputs, labels], axis=1).to_csv(paths[-1], header=False, index=False)
    report = run_tool("train", paths[0], "--test", paths[1], "--header", "no", "--terms", TERMS, "--per-step", PER_STEP)
    return report["test"]["error_percent"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=pathlib.Path)
    arguments = parser.parse_args()
    files = PUBLIC_TABLES["adult"].in_folder(arguments.data)
    (train, train_labels), (test, test_labels) = read(files.train), read(files.test)
    random = numpy.random.default_rng(SEED)
    print("| adult, wrong labels on the test rows | mfga | trees |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, of_train, of_test in (
            ("as it is", train, test),
            ("a tenth of the cells empty", emptied(train, random), emptied(test, random)),
        ):
            own = tool_error(pathlib.Path(folder), of_train, train_labels, of_test, test_labels)
            trees = trees_error(of_train, train_labels, of_test, test_labels)
            print(f"| {name} | {own:.2f} % | {trees:.2f} % |", flush=True)


if __name__ == "__main__":
    main()
