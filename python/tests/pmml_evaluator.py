"""An evaluator of PMML, for test_export.py."""

import math
import xml.etree.ElementTree as ElementTree

import numpy as np

PMML = "{http://www.dmg.org/PMML-4_4}"


class PmmlEvaluator:
    """What the exported files use of PMML, by the words of its specification; evaluators from PyPI need Java."""

    FUNCTIONS = {
        "-": lambda a, b: a - b,
        "*": lambda a, b: a * b,
        "/": lambda a, b: a / b,
        "sum": lambda *a: math.fsum(a),
        "product": lambda *a: math.prod(a),
        "pow": lambda a, b: a**b,
        "exp": math.exp,
        "ln": math.log,
        "sqrt": math.sqrt,
        "cos": math.cos,
        "sin": math.sin,
        "abs": abs,
        "max": max,
        "min": min,
        "greaterOrEqual": lambda a, b: a >= b,
        "equal": lambda a, b: a == b,
        "isIn": lambda a, *b: a in b,
        "isNotIn": lambda a, *b: a not in b,
    }

    def __init__(self, text):
        self.root = ElementTree.fromstring(text)
        self.fields = self.root.findall(f"{PMML}TransformationDictionary/{PMML}DerivedField")
        self.model = self.root.find(f"{PMML}RegressionModel")

    def value(self, element, row):
        kind = element.tag.removeprefix(PMML)
        if kind == "Constant":
            return element.text if element.get("dataType") == "string" else float(element.text)
        if kind == "FieldRef":
            return row[element.get("field")]
        if kind == "NormContinuous":
            assert element.get("outliers") == "asExtremeValues"
            x = row[element.get("field")]
            points = [(float(point.get("orig")), float(point.get("norm"))) for point in element]
            return None if x is None else float(np.interp(x, *zip(*points, strict=True)))
        assert kind == "Apply"
        function = element.get("function")
        if function == "if":
            return self.value(element[1 if self.value(element[0], row) else 2], row)
        if function in ("and", "or"):
            return (all if function == "and" else any)(self.value(part, row) for part in element)
        a = [self.value(part, row) for part in element]
        if function in ("isMissing", "isNotMissing"):
            return (a[0] is None) == (function == "isMissing")
        return None if any(value is None for value in a) else self.FUNCTIONS[function](*a)

    def results(self, row):
        row = dict(row)
        for field in self.fields:
            row[field.get("name")] = self.value(field[0], row)
        sums = {}
        for table in self.model.findall(f"{PMML}RegressionTable"):
            parts = [float(part.get("coefficient")) * row[part.get("name")] for part in table]
            sums[table.get("targetCategory")] = float(table.get("intercept")) + sum(parts)
        if self.model.get("normalizationMethod") == "simplemax":
            return [value / sum(sums.values()) for value in sums.values()]
        outputs = self.model.findall(f"{PMML}Output/{PMML}OutputField[@feature='transformedValue']")
        others = [row[part[0].get("field")] for part in outputs if not part.get("name").startswith("score")]
        return others or list(sums.values())
