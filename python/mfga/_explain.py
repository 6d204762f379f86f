"""Explanations of rows: what each term, or each column, adds to the score."""

import html

import numpy as np

_SHOWN = 12


class Explanation:
    """What each part of a model adds to the scores of some rows.

    Of a row, `base`, the `values` from the first to the last and `rounding`, added in this order, are its score to the
    last bit. Of several targets or classes, the last axis of `values`, `rounding` and `scores` is that of the outputs.

    Attributes
    ----------
    values : ndarray of shape (n_samples, n_parts) or (n_samples, n_parts, n_outputs)
        The contributions of the parts: terms, or columns of X.
    base : float or ndarray of shape (n_outputs,)
        The average score of the training rows.
    rounding : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        What the addition of floating-point numbers loses.
    scores : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        The scores that are explained.
    names : list of str
        What the parts are, in the units of the table where a term allows it.
    output_names : list of str
        Of several targets or classes: their names.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import mfga
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> explanation = mfga.MFGAClassifier(terms=4, features="linear", tune=False).fit(X, y).explain(X)
    >>> explanation
    Explanation(150 rows, 4 parts, 3 outputs)
    >>> explanation.by_column().names == list(X.columns)
    True
    """

    def __init__(self, values, base, rounding, scores, names, output_names, ask=None):
        self.values = values
        self.base = base
        self.rounding = rounding
        self.scores = scores
        self.names = names
        self.output_names = output_names
        self._ask = ask

    @classmethod
    def _of(cls, model, rows, output_names, threads):
        def ask(by_column):
            values, base, rounding, scores, names = model.explain(rows, by_column, threads)
            several = values.ndim == 3
            return cls(
                values, base if several else float(base[0]), rounding, scores, names, output_names if several else []
            )

        explanation = ask(False)
        explanation._ask = ask
        return explanation

    def by_column(self):
        """Sum the contributions by column of X.

        A term of one column belongs to it. A term of several is divided between them without sampling: by Shapley
        values where there are up to four, and else along the line from the average row (docs/explain.md).

        Returns
        -------
        explanation : Explanation
            Whose parts are columns.
        """
        if self._ask is None:
            raise ValueError("this explanation is one of columns already, or a part of another one; ask that one")
        return self._ask(True)

    def __len__(self):
        return len(self.scores)

    def __getitem__(self, rows):
        """Take some of the rows; a number takes one."""
        if isinstance(rows, (int, np.integer)):
            rows = range(len(self))[rows]  # which checks it
            rows = slice(rows, rows + 1)
        return Explanation(
            self.values[rows], self.base, self.rounding[rows], self.scores[rows], self.names, self.output_names
        )

    def _output(self, output):
        """Find an output by name or position; None: the one with the largest score of the first row."""
        if not self.output_names:
            return None
        if output is None:
            return int(np.argmax(self.scores[0]))
        if output in self.output_names:
            return self.output_names.index(output)
        if isinstance(output, (int, np.integer)) and 0 <= output < len(self.output_names):
            return int(output)
        raise ValueError(f"output={output!r}: expected one of {self.output_names}, or its position")

    def parts(self, row=0, output=None, most=_SHOWN):
        """List the parts of a row, the largest first.

        Parameters
        ----------
        row : int, default=0
            Its position.
        output : str or int or None, default=None
            Of several targets or classes: which one; None: the one with the largest score.
        most : int, default=12
            How many; what others add is one more entry.

        Returns
        -------
        base, parts, score : float, list of (str, float), float
            The average, names and contributions, and the score.
        """
        one = self[row]
        place = one._output(output)
        values = one.values[0] if place is None else one.values[0][:, place]
        base = one.base if place is None else float(one.base[place])
        score = float(one.scores[0] if place is None else one.scores[0][place])
        order = np.argsort(-np.abs(values), kind="stable")
        parts = [(self.names[i], float(values[i])) for i in order if values[i] != 0]
        if len(parts) > most + 1:
            parts[most:] = [(f"{len(parts) - most} more", sum(value for _, value in parts[most:]))]
        return base, parts, score

    def to_frame(self, output=None):
        """Make a DataFrame of the contributions, with the columns `base`, the parts, `rounding` and `score`.

        Parameters
        ----------
        output : str or int or None, default=None
            Of several targets or classes: which one; None: the one with the largest score of the first row.

        Returns
        -------
        frame : pandas.DataFrame
            A row for each.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_frame needs pandas; `values` and `names` have the same") from error
        place = self._output(output)
        at = () if place is None else (place,)
        frame = pd.DataFrame(self.values[(slice(None), slice(None), *at)], columns=list(self.names))
        frame.insert(0, "base", self.base if place is None else self.base[place])
        frame["rounding"] = self.rounding[(slice(None), *at)]
        frame["score"] = self.scores[(slice(None), *at)]
        return frame

    def __repr__(self):
        what = f"{len(self.names)} parts" + (f", {len(self.output_names)} outputs" if self.output_names else "")
        return f"Explanation({len(self)} rows, {what})"

    def _repr_html_(self):
        if len(self) != 1:
            return f"<p>{html.escape(repr(self))}; <code>explanation[0]</code> shows the first row</p>"
        base, parts, score = self.parts()
        sums = np.cumsum([base] + [value for _, value in parts])
        lowest, width = sums.min(), max(np.ptp(sums), 1e-300)

        def line(name, number, left, right, colour):
            margin, length = 100 * (left - lowest) / width, 100 * (right - left) / width
            bar = (
                f'<div style="margin-left:{margin:.1f}%;width:{length:.1f}%;'
                f'min-width:1px;height:0.9em;background:{colour}"></div>'
            )
            cells = f'<td style="text-align:right">{number}</td><td style="width:16em">{bar}</td>'
            return f'<tr>{cells}<td style="text-align:left">{html.escape(name)}</td></tr>'

        lines = [line("average of the training rows", f"{base:.4g}", base, base, "#888")]
        for (name, value), before, after in zip(parts, sums[:-1], sums[1:], strict=True):
            colour = "#2a7de1" if value > 0 else "#d6604d"
            lines.append(line(name, f"{value:+.4g}", min(before, after), max(before, after), colour))
        of = f" of {self.output_names[self._output(None)]}" if self.output_names else ""
        lines.append(line(f"score{of}", f"{score:.4g}", sums[-1], sums[-1], "#888"))
        return f"<table><tbody>{''.join(lines)}</tbody></table>"
