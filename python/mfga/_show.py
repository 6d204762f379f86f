"""How a fitted model is shown."""

import html
import sys

from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from ._formula import Formula, latex_of
from ._options import python_spelling

_ALL = sys.maxsize
_SHOWN = 30


class Shown:
    """Formula and terms of a fitted estimator, which has a `_model`."""

    @property
    def formula_(self):
        """The model as a sum of terms, and what the symbols mean; notebooks show the sum in LaTeX."""
        check_is_fitted(self)
        text = self._model.formula(_ALL)
        # The library speaks of the command line's tool, where the rest is found.
        shown = text.replace("mfga inspect shows them", "full_formula() has them").rstrip("\n")
        return Formula(shown, latex_of(self._model, text.partition("\n")[0]))

    @property
    def terms_(self):
        """The terms, in the order of selection: a DataFrame, or a list of dict where pandas is missing."""
        check_is_fitted(self)
        terms = self._model.terms()
        names = self._model.output_names
        rows = []
        for term in terms:
            row = {"term": term["term"]}
            if len(names) == 1:
                row["coefficient"] = term["coefficients"][0]
            else:
                row.update(zip((f"coefficient {name}" for name in names), term["coefficients"], strict=True))
            row["family"] = term["family"]
            row["inputs"] = term["inputs"]
            row["at"] = ", ".join(f"{column} = {value:.4g}" for column, value in term["places"][:2])
            rows.append(row)
        try:
            import pandas
        except ImportError:
            return rows
        return pandas.DataFrame(rows)

    def table_formula(self):
        """Write the model in the units of the table, for a calculator.

        Returns
        -------
        text : str
            With numbers of nine digits; scales are multiplied out where a term allows it.
        """
        check_is_fitted(self)
        with python_spelling():
            return self._model.table_formula().rstrip("\n")

    def full_formula(self):
        """Write every step from the values of a row to its prediction, with all digits.

        Returns
        -------
        text : str
            To compute with.
        """
        check_is_fitted(self)
        return self._model.full_formula()

    def _html_repr(self):
        """For notebooks: scikit-learn's box, and of a fitted estimator the formula and what more terms would do."""
        text = estimator_html_repr(self)
        if not self.__sklearn_is_fitted__():
            return text
        formula = html.escape(self._model.formula(_SHOWN).rstrip("\n"))
        return f"{text}<pre style='line-height: 1.2'>{formula}</pre>{_loss_picture(self.report_)}"

    # Before scikit-learn 1.7 nothing asks for the method above.
    def _repr_html_inner(self):
        return self._html_repr()

    def _repr_mimebundle_(self, **kwargs):
        bundle = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] = self._html_repr()
        return bundle


def _loss_picture(report):
    """Draw the loss by number of terms: of held-out rows where they chose the number, else of the training rows."""
    if not report:
        return ""  # a loaded model
    sizes = sorted(report["sizes"], key=lambda size: size["terms"])
    points = [(size["terms"], size["held_out"]) for size in sizes]
    chosen = [(size["terms"], size["held_out"]) for size in sizes if size["chosen"]]
    rows = "held-out"
    if len(points) < 2:
        points = [(0, report["initial_risk"])] + [(step["terms"], step["risk"]) for step in report["path"]]
        chosen, rows = points[-1:], "training"
    width, height, edge = 360, 140, 24
    losses = [loss for _, loss in points]
    most, lowest, highest = max(points)[0], min(losses), max(losses)

    def place(point):
        x = edge + (width - 2 * edge) * point[0] / (most or 1)
        y = height - edge - (height - 2 * edge) * (point[1] - lowest) / ((highest - lowest) or 1)
        return f"{x:.1f},{y:.1f}"

    line = " ".join(map(place, points))
    marks = "".join("<circle cx='{}' cy='{}' r='4'/>".format(*place(point).split(",")) for point in chosen)
    return (
        f"<svg width='{width}' height='{height}' role='img' font-size='11' fill='currentColor'>"
        f"<polyline points='{line}' fill='none' stroke='currentColor'/>{marks}"
        f"<text x='{edge}' y='12'>loss of {rows} rows, {highest:.4g} to {lowest:.4g}</text>"
        f"<text x='{edge}' y='{height - 6}'>terms, up to {most}; the dot is the model</text></svg>"
    )
