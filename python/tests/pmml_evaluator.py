"""An evaluator of PMML, for test_export_formulas.py."""

import functools
import xml.etree.ElementTree as ElementTree

import numpy as np

PMML = "{http://www.dmg.org/PMML-4_4}"


def is_missing(values):
    values = np.asarray(values)
    return np.equal(values, None) if values.dtype.kind == "O" else np.isnan(values)


def reduced(function):
    return lambda *a: functools.reduce(function, a)


class PmmlEvaluator:
    """What the exported files use of PMML, by the words of its specification; evaluators from PyPI need Java.

    A value is that of all rows: numbers, where NaN is missing, or texts, where None is.
    """

    FUNCTIONS = {
        "-": np.subtract,
        "*": np.multiply,
        "/": np.divide,
        "sum": reduced(np.add),
        "product": reduced(np.multiply),
        "pow": np.power,
        "exp": np.exp,
        "ln": np.log,
        "sqrt": np.sqrt,
        "cos": np.cos,
        "sin": np.sin,
        "abs": np.abs,
        "max": reduced(np.maximum),
        "min": reduced(np.minimum),
    }
    # Of a missing value nothing is true.
    CONDITIONS = {
        "greaterOrEqual": np.greater_equal,
        "equal": lambda a, b: a == b,
        "isIn": lambda a, *b: np.isin(a, b),
        "isNotIn": lambda a, *b: ~np.isin(a, b),
    }

    def __init__(self, text):
        self.root = ElementTree.fromstring(text)
        self.fields = self.root.findall(f"{PMML}TransformationDictionary/{PMML}DerivedField")
        self.model = self.root.find(f"{PMML}RegressionModel")

    def value(self, element, values):
        kind = element.tag.removeprefix(PMML)
        if kind == "Constant":
            return element.text if element.get("dataType") == "string" else float(element.text)
        if kind == "FieldRef":
            return values[element.get("field")]
        if kind == "NormContinuous":
            assert element.get("outliers") == "asExtremeValues"
            points = [(float(point.get("orig")), float(point.get("norm"))) for point in element]
            return np.interp(values[element.get("field")], *zip(*points, strict=True))
        assert kind == "Apply"
        function = element.get("function")
        a = [self.value(part, values) for part in element]
        if function == "if":
            return np.where(*a)
        if function in ("and", "or"):
            return (np.logical_and if function == "and" else np.logical_or).reduce(a)
        if function in ("isMissing", "isNotMissing"):
            return is_missing(a[0]) == (function == "isMissing")
        if function in self.CONDITIONS:
            return self.CONDITIONS[function](*a) & ~is_missing(a[0])
        return self.FUNCTIONS[function](*a)

    def results(self, columns):
        """What is predicted of all rows, from columns by name."""
        values = dict(columns)
        rows = len(next(iter(values.values())))
        with np.errstate(all="ignore"):  # of what is not chosen
            for field in self.fields:
                values[field.get("name")] = self.value(field[0], values)
        sums = {}
        for table in self.model.findall(f"{PMML}RegressionTable"):
            parts = [float(part.get("coefficient")) * values[part.get("name")] for part in table]
            sums[table.get("targetCategory")] = float(table.get("intercept")) + sum(parts)
        if self.model.get("normalizationMethod") == "simplemax":
            found = [value / sum(sums.values()) for value in sums.values()]
        else:
            outputs = self.model.findall(f"{PMML}Output/{PMML}OutputField[@feature='transformedValue']")
            found = [values[part[0].get("field")] for part in outputs if not part.get("name").startswith("score")]
            found = found or list(sums.values())
        return np.stack([np.broadcast_to(value, rows) for value in found], axis=1)
