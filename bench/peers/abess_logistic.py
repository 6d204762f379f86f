"""abess: the best subset for logistic regression, by splicing."""

from abess import LogisticRegression

from machine import available_cores
from peers.logistic_features import learn


def run(job):
    def choose(features, y, terms, ridge):
        model = LogisticRegression(support_size=terms, alpha=ridge, thread=available_cores())
        # As they are: the ridge means the same only without its normalisation of columns.
        model.fit(features, (y > 0).astype(int), is_normal=False)
        return model.coef_.ravel(), float(model.intercept_)

    return learn(job, choose)
