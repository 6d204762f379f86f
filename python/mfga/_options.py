"""Parameters of the estimators as the library's options, and the library's messages in Python's spelling."""

import contextlib
import numbers
import os
import re

import joblib
from sklearn.utils import check_random_state

# Options that have the name of scikit-learn's parameter for the same.
RENAMED = {"seed": "random_state", "threads": "n_jobs"}
LARGEST_SEED = 2**32 - 1


def option_text(name, value):
    """Write a Python value as the text of an option.

    >>> option_text("refine", True), option_text("ridge", 0.1), option_text("ridges", [1, 10])
    ('yes', '0.1', '1.0,10.0')
    """
    if isinstance(value, str):
        return value
    if hasattr(value, "expression"):  # a Dictionary
        return value.expression
    # NumPy's truth values are no bool.
    if isinstance(value, bool) or type(value).__name__ in ("bool", "bool_"):
        return "yes" if value else "no"
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        return repr(float(value))
    if hasattr(value, "__iter__"):
        return ",".join(repr(float(element)) for element in value)
    raise ValueError(f"`{name}` is {value!r}; expected a text, a number or a truth value")


def option_texts(parameters, names):
    """Write those of the parameters as texts that are options and not None."""
    return {name: option_text(name, parameters[name]) for name in names if parameters[name] is not None}


def seed_of(random_state):
    """Turn scikit-learn's random state into a seed; a number is that seed, as on the command line."""
    if isinstance(random_state, numbers.Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(LARGEST_SEED, dtype="uint32"))


def threads_of(n_jobs):
    """Turn scikit-learn's number of jobs into threads; 0 means all cores.

    None is all cores, too, for the result does not depend on it; but the limit that joblib gives its workers holds.
    """
    if n_jobs is None:
        limit = os.environ.get("OMP_NUM_THREADS", "")
        return int(limit) if limit.isdigit() and int(limit) > 0 else 0
    if n_jobs == 0:
        raise ValueError("`n_jobs` is 0; expected the number of threads, -1 for all cores, or None")
    return 0 if n_jobs == -1 else int(n_jobs) if n_jobs > 0 else max(1, joblib.cpu_count() + 1 + int(n_jobs))


def python_value(text):
    """Spell the value of an option as Python does.

    >>> python_value("no"), python_value("0.1"), python_value("htp")
    ('False', '0.1', "'htp'")
    """
    if text in ("yes", "no"):
        return str(text == "yes")
    try:
        float(text)
    except ValueError:
        return repr(text)
    return text


def spelled(message):
    """Spell the options in a message of the library as parameters.

    >>> spelled("use fewer `threads`, or `tune=no`")
    'use fewer `n_jobs`, or `tune=False`'
    """

    def parameter(match):
        name, _, value = match.group(1).partition("=")
        name = RENAMED.get(name, name)
        return f"`{name}={python_value(value)}`" if value else f"`{name}`"

    return re.sub(r"`([a-z_]+(?:=[^`]*)?)`", parameter, message)


@contextlib.contextmanager
def python_spelling():
    """Spell the messages of errors as Python does."""
    try:
        yield
    except (ValueError, ArithmeticError, OSError) as error:
        if type(error) not in (ValueError, ArithmeticError, OSError) or len(error.args) != 1:
            raise
        raise type(error)(spelled(str(error))) from None
