"""What a model in a file tells about the table it was learned from."""

import numpy as np


def label_texts(classes):
    """Write classes as the labels of a model: as the command line writes those of the same column.

    >>> label_texts(np.array([0.0, 1.0, 2.5]))
    ['0', '1', '2.5']
    """
    if classes.dtype.kind == "f":
        return [str(int(value)) if value == int(value) else repr(float(value)) for value in classes]
    return [str(value) for value in classes]


def labels_of(texts):
    """Turn the labels of a model into classes: whole numbers or numbers if all are such, else texts.

    >>> labels_of(["0", "1"]), labels_of(["no", "yes"])
    (array([0, 1]), array(['no', 'yes'], dtype='<U3'))
    """
    for kind in (int, float):
        try:
            return np.array([kind(text) for text in texts])
        except ValueError:
            continue
    return np.array(texts)


_MOST_COLUMNS = 10_000_000  # a file may claim any number


def names_of(model):
    """Find the columns of the table that a model was learned from.

    Returns
    -------
    names : list of str or None
        Of each column; None for one that was constant, whose name the model does not have.
    levels : dict of str to list of str
        The levels of columns of text.
    rare : dict of str to list of str
        The texts of the level `other`, where there are such.
    """
    if model.n_columns > _MOST_COLUMNS:
        raise ValueError(f"the model is of {model.n_columns} columns; at most {_MOST_COLUMNS} are possible here")
    name_of_input = {column: name for name, column in model.inputs}
    text_at = {first: (name, levels, rare) for name, first, levels, rare in model.text_columns}
    names, levels, rare, place = [], {}, {}, 0
    while place < model.n_columns:
        if place in text_at:
            name, levels[name], rare_here = text_at[place]
            if rare_here:
                rare[name] = rare_here
            names.append(name)
            place += len(levels[name])
        else:
            names.append(name_of_input.get(place))
            place += 1
    return names, levels, rare
