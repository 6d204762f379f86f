"""How a fitted model is shown."""

import sys

from sklearn.utils.validation import check_is_fitted

_ALL = sys.maxsize


class Shown:
    """Formula and terms of a fitted estimator, which has a `_model`."""

    @property
    def formula_(self):
        """The model as a sum of terms, and what the symbols mean."""
        check_is_fitted(self)
        # The library speaks of the command line's tool, where the rest is found.
        return self._model.formula(_ALL).replace("mfga inspect shows them", "full_formula() has them").rstrip("\n")

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

    def full_formula(self):
        """Write every step from the values of a row to its prediction, with all digits.

        Returns
        -------
        text : str
            To compute with.
        """
        check_is_fitted(self)
        return self._model.full_formula()
