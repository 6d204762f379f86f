"""Formulas of models in LaTeX, for notebooks."""

import re

_MOST_COLUMNS = 12  # of outputs, as in the text
_SPECIAL = {
    "\\": r"\backslash ",
    "^": r"\wedge ",
    "~": r"\sim ",
    " ": r"\ ",
    "-": r"\text{-}",
    "=": "{=}",
    "<": "{<}",
    ">": "{>}",
    **{sign: "\\" + sign for sign in "_%#&${}"},
}
# Of the library's formulas, beside names and numbers.
_WORDS = {name: f"\\{name}" for name in ("max", "cos", "sin", "log", "exp", "pi")} | {"more": r"\text{ more}"}
_SIGNS = {">=": r"\ge", " * ": r" \cdot ", "; ": ";\\ ", "|": r"\vert ", "_": r"\_"}
_OPERATORS = "+-=<>/,;"
_NUMBER = r"\d+(?:\.\d+)?(?:e[+-]?\d+)?"


class Formula(str):
    """The text of a formula, which notebooks show in LaTeX."""

    __slots__ = ("latex",)

    def __new__(cls, text, latex):
        """Make a formula of its text and of the same in LaTeX."""
        self = super().__new__(cls, text)
        self.latex = latex
        return self

    def __reduce__(self):
        return Formula, (str(self), self.latex)

    def _repr_latex_(self):
        return f"$\\displaystyle {self.latex}$"


def latex_name(name):
    r"""Write a name as it is; `x12`, a column without one, gets an index.

    >>> print(latex_name("x12"), latex_name("sepal length (cm)"), latex_name("x5=Never-married"))
    x_{12} \mathrm{sepal\ length\ (cm)} \mathrm{x5{=}Never\text{-}married}
    """
    if re.fullmatch(r"[A-Za-z]\d+", name):
        return f"{name[0]}_{{{name[1:]}}}"
    if len(name) == 1 and name.isalpha():
        return name
    return f"\\mathrm{{{''.join(_SPECIAL.get(sign, sign) for sign in name)}}}"


def latex_number(text):
    r"""Write a number; powers of ten as such.

    >>> print(latex_number("12.5"), latex_number("1.2e-05"))
    12.5 1.2 \cdot 10^{-5}
    """
    digits, _, power = text.partition("e")
    return f"{digits} \\cdot 10^{{{int(power)}}}" if power else digits


def latex_term(text, names):
    r"""Write a term; the names of its inputs are known, for they may hold anything.

    >>> print(latex_term("max(0, bmi - 0.5) * q(age)", ["bmi", "q(age)"]))
    \max(0, \mathrm{bmi} - 0.5) \cdot q(\mathrm{age})
    >>> print(latex_term("x1^2 * G(2.7)", ["x1"]))
    x_{1}^{2} \cdot G(2.7)
    """
    # Longest names first: one may begin as another does. A name ends where no letter or digit follows.
    known = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True) if name)
    pattern = rf"(?P<name>(?:{known})(?![A-Za-z0-9_]))|" if known else ""
    pattern += rf"(?P<number>{_NUMBER})|(?P<word>[A-Za-z]\w*)|\^(?P<power>\d+)|(?P<sign>>=| \* |; |.)"

    def written(match):
        kind, part = match.lastgroup, match[match.lastgroup]
        if kind == "name":
            # Columns on another scale: q(age).
            scaled = re.fullmatch(r"([a-z])\((.*)\)", part, flags=re.DOTALL)
            return f"{scaled[1]}({latex_name(scaled[2])})" if scaled else latex_name(part)
        if kind == "number":
            return latex_number(part)
        if kind == "word":
            return _WORDS.get(part) or (latex_name(part) if len(part) < 3 else f"\\operatorname{{{part}}}")
        if kind == "power":
            return f"^{{{part}}}"
        before, after = text[: match.start()], text[match.end() :]
        if part == " " and before and before[-1] not in _OPERATORS and after and after[0] not in _OPERATORS:
            return r"\,"  # between a number and what it is multiplied by
        return _SIGNS.get(part, part)

    return re.sub(pattern, written, text, flags=re.DOTALL)


def latex_of(model, title):
    """Write the whole model: a sum for one output, a table for several.

    Parameters
    ----------
    model : _core.Model
        The model.
    title : str
        What the sum is.
    """
    names = model.formula_names
    intercepts = model.intercepts
    # Parts in front that are 0 but for rounding are left to the text.
    terms = [(term["coefficients"], latex_term(term["term"], names)) for term in model.terms()]
    if len(intercepts) == 1:
        lines = [f"{latex_name(title)} = & {latex_number(f'{intercepts[0]:.6g}')}"]
        for (coefficient,), term in terms:
            lines.append(f"& {'-' if coefficient < 0 else '+'} {latex_number(f'{abs(coefficient):.6g}')}\\; {term}")
        return "\\begin{array}{rl}" + " \\\\ ".join(lines) + "\\end{array}"
    shown = model.output_names[:_MOST_COLUMNS]
    rows = [([latex_name(name) for name in shown], "")]
    for values, term in [(intercepts, "1"), *terms]:
        rows.append(([latex_number(f"{value:+.4g}") for value in values[: len(shown)]], term))
    more = ["\\cdots"] if len(shown) < len(intercepts) else []
    lines = [" & ".join([*cells, *more, term]) for cells, term in rows]
    layout = "r" * (len(shown) + len(more)) + "l"
    return f"\\begin{{array}}{{{layout}}}" + " \\\\ ".join(lines) + "\\end{array}"
