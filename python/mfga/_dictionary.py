"""The dictionary of candidate features as an object."""

import numbers

from . import _core
from ._options import python_spelling


class Dictionary:
    """The candidate features that a model may pick from: a sum of feature families, checked when it is made.

    An estimator takes it as `features`, as it takes the same expression as text.

    Parameters
    ----------
    expression : str
        A family such as "hinge", or a sum such as "linear + hinge(knots=4)".
    **options : str, number, or list of these
        Of the family, where `expression` is one family without options of its own. A list is possible for `sigma`:
        one summand with each width.

    Attributes
    ----------
    expression : str
        The whole sum, as the command line's `--features` takes it.
    families : list of tuple (str, dict)
        The summands: the name of the family, and the options that were written, as texts.

    Examples
    --------
    >>> from mfga import Dictionary
    >>> features = Dictionary("linear") + Dictionary("gaussian", order=2, sigma=["auto", "auto*3"])
    >>> features
    Dictionary('linear + gaussian(order=2, sigma=[auto, auto*3])')
    >>> [family for family, options in features.families]
    ['linear', 'gaussian', 'gaussian']
    >>> features.candidates(10)
    142
    >>> Dictionary("hing")
    Traceback (most recent call last):
        ...
    ValueError: `features`: there is no feature family "hing"; there are: ...
    """

    def __init__(self, expression, **options):
        if not isinstance(expression, str):
            raise TypeError(f"`expression` is {expression!r}; expected a text such as 'linear + hinge'")
        if options:
            if not expression.strip().isidentifier():
                raise ValueError(
                    f"options are for one family; `expression` is {expression!r}. Write them into it, or add "
                    "dictionaries"
                )
            written = ", ".join(f"{name}={_value_text(name, value)}" for name, value in options.items())
            expression = f"{expression.strip()}({written})"
        with python_spelling():
            _core.Dictionary(expression)  # says what is wrong with it
        self.expression = expression

    @property
    def families(self):
        """The summands: the name of each family, and its options."""
        return _core.Dictionary(self.expression).families

    def candidates(self, n_features):
        """Count the candidates for a number of columns, without making them.

        Parameters
        ----------
        n_features : int
            Columns of numbers, those of levels of text included.

        Returns
        -------
        count : int
            The most there can be, where it depends on the rows or on chance.
        """
        return int(_core.Dictionary(self.expression).candidates(n_features))

    def __add__(self, other):
        """Add the summands of another dictionary, or of an expression."""
        if isinstance(other, str):
            other = Dictionary(other)
        if not isinstance(other, Dictionary):
            return NotImplemented
        return Dictionary(f"{self.expression} + {other.expression}")

    def __radd__(self, other):
        return Dictionary(other) + self if isinstance(other, str) else NotImplemented

    def __eq__(self, other):
        return isinstance(other, Dictionary) and self.families == other.families

    def __hash__(self):
        return hash(repr(self.families))

    def __str__(self):
        return self.expression

    def __repr__(self):
        return f"Dictionary({self.expression!r})"


def _value_text(name, value):
    if isinstance(value, str):
        return value
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        return str(int(value))
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        return repr(float(value))
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value_text(name, element) for element in value)}]"
    raise TypeError(f"the option {name} of a family is {value!r}; expected a text, a number or a list of these")
