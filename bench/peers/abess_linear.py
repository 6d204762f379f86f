"""abess: best subset selection by splicing. It looks for the best features of all, not for greedy ones, with columns of
unit norm."""

from abess import LinearRegression

from machine import available_cores
from peers.polynomial_route import learn


def run(job):
    def choose(features, y, terms):
        model = LinearRegression(support_size=terms, thread=available_cores())
        return model.fit(features, y).coef_

    return learn(job, choose)
