"""Levels of text columns, by the rules that the command line has for files (docs/data-formats.md)."""

import collections
import sys

MISSING = "missing"  # the level of fields without a text
OTHER = "other"  # the level of texts that few rows have
MOST_LEVELS = 1000
LONGEST_LEVEL = 10_000  # bytes


def is_missing(value):
    """Tell whether a value of a frame stands for none.

    >>> is_missing(None), is_missing(float("nan")), is_missing("a")
    (True, True, False)
    """
    pandas = sys.modules.get("pandas")
    return value is None or (pandas is not None and value is pandas.NA) or value != value


def is_mark(text):
    """Tell whether a text stands for a missing one in files.

    >>> is_mark(" "), is_mark("?"), is_mark("NaN"), is_mark("none")
    (True, True, True, False)
    """
    text = text.strip()
    return text in ("", "?") or text.lower() in ("na", "nan")


def texts_of(column):
    """The texts of a column, with None where one is missing."""
    return [None if is_missing(value) else str(value) for value in column.to_list()]


def count_texts(texts):
    """Count how many rows have each text, with None for those that have none."""
    return collections.Counter(None if text is None or is_mark(text) else text for text in texts)


def levels_of(counts, is_asked_for):
    """Find the levels of a column of text.

    Parameters
    ----------
    counts : Counter
        How many rows have each text.
    is_asked_for : bool
        Whether it is said to be one of levels; else texts of which most rows have one of their own are none.

    Returns
    -------
    levels : list of str
        Sorted; none where the column is no use.
    rare : list of str
        The texts of the level `other`, if there are such.
    reason : str
        Why there are no levels.
    """
    rows = counts.total()
    has_missing = counts[None] > 0
    counts = {text: count for text, count in counts.items() if text is not None}
    if len(counts) > MOST_LEVELS:
        return [], [], f"holds more than {MOST_LEVELS} different texts, too many for levels"
    if not is_asked_for and len(counts) > 20 and 2 * len(counts) > rows:
        return [], [], "has a text of its own in most rows, as an identifier has (make it categorical to use it)"
    if any(len(text.encode(errors="surrogatepass")) > LONGEST_LEVEL for text in counts):
        return [], [], f"holds texts of more than {LONGEST_LEVEL} bytes, too long for levels"
    rare = [text for text, count in counts.items() if count < 10 and 100 * count < rows]
    rare = _sorted(rare) if len(rare) > 1 else []
    found = set(counts) - set(rare)
    if rare and not found and not has_missing:
        return [], [], "has no text that ten rows, or one in a hundred, have in common"
    found |= ({OTHER} if rare else set()) | ({MISSING} if has_missing else set())
    return _sorted(found), rare, ""


def level_finder(levels, rare):
    """Make a function that gives the level of a text: its position; -1 if it is missing, -2 if it is not known."""
    positions = {level: i for i, level in enumerate(levels)}
    positions.update((text, positions[OTHER]) for text in rare)
    unknown = positions[OTHER] if rare else -2

    def find(text):
        # First as it is: a level may be a text that stands for missing values elsewhere.
        if text is not None and text in positions:
            return positions[text]
        return positions.get(MISSING, -1) if text is None or is_mark(text) else unknown

    return find


def _sorted(texts):
    return sorted(texts, key=lambda text: text.encode())  # as the library sorts
