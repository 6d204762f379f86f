"""The same greedy algorithm as ours by hand: NumPy chooses, scikit-learn's LogisticRegression fits again in every step."""

import numpy as np
from scipy.linalg import solve_triangular
from sklearn.linear_model import LogisticRegression

from peers.logistic_features import learn

DEPENDENT = 1e-9  # of a feature's square norm: what the chosen ones leave of it


def run(job):
    return learn(job, lambda features, y, terms, ridge: choose(features, y, terms, ridge, job["per_step"]))


def choose(features, y, terms, ridge, per_step):
    rows = len(y)
    # Its C multiplies the losses, and half the norm is added. For many more rows than features newton-cholesky is what
    # the documentation recommends. It starts from the coefficients of the step before.
    model = LogisticRegression(C=1 / (2 * ridge), solver="newton-cholesky", warm_start=True, tol=1e-5)
    active = IndependentFeatures(features, terms)
    scores = np.full(rows, np.log(np.mean(y > 0) / np.mean(y < 0)))
    while len(active.chosen) < terms:
        gradient = np.abs(features.T @ (y / (1 + np.exp(y * scores))))
        gradient[active.seen] = -1
        before = len(active.chosen)
        active.add_best(gradient, min(per_step, terms - before))
        if before:
            model.coef_ = np.pad(model.coef_, ((0, 0), (0, len(active.chosen) - before)))
        values = active.values[:, : len(active.chosen)]
        model.fit(values, y)
        scores = model.decision_function(values)
    coefficients = np.zeros(features.shape[1])
    coefficients[active.chosen] = model.coef_[0]
    return coefficients, model.intercept_[0]


class IndependentFeatures:
    """The chosen features. One that is a combination of the others and the constant is passed over, as by ours: the data
    has columns that are one another's complement."""

    def __init__(self, features, terms):
        self.features = features
        self.values = np.empty((len(features), terms), order="F")
        self.chosen, self.seen = [], []
        self.centred = np.empty_like(self.values)
        self.factor = np.zeros((terms, terms))

    def add_best(self, gradient, count):
        # Ties, which complements are, go to the first, as with ours.
        for j in np.argsort(-np.round(gradient / gradient.max(), 10), kind="stable"):
            size = len(self.chosen)
            column = self.features[:, j]
            centred = column - column.mean()
            row = solve_triangular(
                self.factor[:size, :size], self.centred[:, :size].T @ centred, lower=True, check_finite=False
            )
            square = centred @ centred
            rest = square - row @ row
            self.seen.append(int(j))
            if rest <= DEPENDENT * square:
                continue
            self.factor[size, :size] = row
            self.factor[size, size] = np.sqrt(rest)
            self.centred[:, size] = centred
            self.values[:, size] = column
            self.chosen.append(int(j))
            count -= 1
            if count == 0:
                return
