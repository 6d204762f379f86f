"""An evaluator of exported LaTeX, for test_export_formulas.py: the formulas as a reader takes them."""

import re

import numpy as np

LETTER = r"(?:\\textbackslash\{\}|\\[~^]\{\}|\\[{}$&#%_]|[^\\{}])"
TOKEN = re.compile(
    rf"(?P<text>\\text\{{(?P<content>{LETTER}*)\}})|(?P<command>\\[A-Za-z]+|\\[\\,;])"
    r"|(?P<number>\d+(?:\.\d+)?)|(?P<symbol>[A-Za-z(){}|^_+=&,;-])|\s+"
)
FUNCTIONS = {
    "\\exp": np.exp,
    "\\ln": np.log,
    "\\cos": np.cos,
    "\\sin": np.sin,
    "\\max": np.maximum,
    "\\min": np.minimum,
}


def plain(content):
    """The name that stands in \\text{}."""
    content = content.replace("\\textbackslash{}", "\0")
    return re.sub(r"\\([~^])\{\}", r"\1", re.sub(r"\\([{}$&#%_])", r"\1", content)).replace("\0", "\\")


class LatexEvaluator:
    """Computes lines `name &= formula` one after the other.

    `rows` has `numbers(name)`, the values of a column, and says what is true of one: `is_missing(name)` and
    `is_level(name, level)`.
    """

    def __init__(self, text, rows):
        self.rows = rows
        lines = text.splitlines()
        assert lines[0].startswith("% ") and lines[1] == "\\begin{aligned}" and lines[-1] == "\\end{aligned}"
        body = "\n".join(lines[2:-1]).replace(" \\\\\n &\\quad", "")
        self.values = {}
        with np.errstate(all="ignore"):  # of what is not chosen
            for line in body.split(" \\\\\n"):
                name, formula = line.split(" &= ", 1)
                self.tokens = [(kind, match) for match in TOKEN.finditer(formula) if (kind := match.lastgroup)]
                assert "".join(match[0] for match in TOKEN.finditer(formula)) == formula, formula
                self.at = 0
                self.values[name] = self.sum()
                assert self.at == len(self.tokens), formula

    def peek(self):
        return self.tokens[self.at][1][0] if self.at < len(self.tokens) else ""

    def take(self, *expected):
        found = self.peek()
        assert not expected or found in expected, (found, expected)
        self.at += 1
        return found

    def is_text(self, ahead=0):
        return self.at + ahead < len(self.tokens) and self.tokens[self.at + ahead][1]["text"] is not None

    def text(self):
        content = plain(self.tokens[self.at][1]["content"])
        self.at += 1
        return content

    def sum(self):
        total = 0.0
        sign = 1 if self.peek() not in "+-" or not self.peek() else (1 if self.take() == "+" else -1)
        while True:
            total = total + sign * self.product()
            if self.peek() not in ("+", "-"):
                return total
            sign = 1 if self.take() == "+" else -1

    def product(self):
        result = self.power()
        while self.peek() in ("\\,", "\\cdot"):
            self.take()
            result = result * self.power()
        return result

    def power(self):
        base = self.whole()
        if self.peek() != "^":
            return base
        self.take()
        return base ** self.group()

    def group(self):
        self.take("{")
        value = self.sum()
        self.take("}")
        return value

    def whole(self):
        if self.tokens[self.at][1]["number"]:
            return float(self.take())
        if self.is_text() or self.peek() in ("z", "v"):
            return self.name()
        command = self.take()
        if command == "\\left":
            closing = {"(": ")", "|": "|"}[self.take("(", "|")]
            value = self.sum()
            self.take("\\right")
            self.take(closing)
            return np.abs(value) if closing == "|" else value
        if command == "\\frac":
            return self.group() / self.group()
        if command == "\\sqrt":
            return np.sqrt(self.group())
        if command == "\\begin":
            return self.cases()
        if command == "\\operatorname":
            return self.line()
        arguments = self.arguments()
        return FUNCTIONS[command](*arguments)

    def name(self):
        start = self.tokens[self.at][1].start()
        content = self.text() if self.is_text() else self.take()
        if self.peek() == "_":
            self.take("_")
            self.take("{")
            self.at += 1
            self.take("}")
        key = self.tokens[self.at - 1][1].string[start : self.tokens[self.at - 1][1].end()]
        return self.values[key] if key in self.values else self.rows.numbers(content)

    def arguments(self):
        self.take("\\left")
        self.take("(")
        values = [self.sum()]
        while self.peek() == ",":
            self.take(",")
            self.take("\\;")
            values.append(self.sum())
        self.take("\\right")
        self.take(")")
        return values

    def line(self):
        """Of `operatorname{line}(x; points)`: straight between the points, level outside."""
        for expected in ["{", *"line", "}", "\\left", "("]:
            self.take(expected)
        x = self.sum()
        self.take(";")
        points = []
        while self.peek() == "\\;":
            self.take("\\;")
            self.take("(")
            first = self.sum()
            self.take(",")
            points.append((first, self.sum()))
            self.take(")")
            if self.peek() == ",":
                self.take(",")
        self.take("\\right")
        self.take(")")
        return np.interp(x, *zip(*points, strict=True))

    def cases(self):
        for expected in ["{", *"cases", "}"]:
            self.take(expected)
        then = self.sum()
        self.take("&")
        condition = self.condition()
        self.take("\\\\")
        otherwise = self.sum()
        self.take("&")
        assert self.text() == "else"
        for expected in ["\\end", "{", *"cases", "}"]:
            self.take(expected)
        return np.where(condition, then, otherwise)

    def condition(self):
        if self.is_text() and self.is_text(1):
            name, what = self.text(), self.text()
            assert what == " is missing"
            return self.rows.is_missing(name)
        if self.is_text() and self.tokens[self.at + 1][1][0] == "=":
            name = self.text()
            self.take("=")
            return self.rows.is_level(name, self.text())
        left = self.sum()
        self.take("\\ge")
        return left >= self.sum()
