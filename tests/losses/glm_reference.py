"""The figures of glm_test.cpp: predictions of scikit-learn's generalised linear models with a ridge.

    bench/.venv/bin/python tests/losses/glm_reference.py > tests/losses/glm_reference.inc
"""

import numpy
from sklearn.linear_model import GammaRegressor, LogisticRegression, PoissonRegressor, Ridge
from sklearn.multiclass import OneVsRestClassifier

ROWS = 60
RIDGE = 0.3
SHOWN = 8
EXACT = {"tol": 1e-13, "max_iter": 100000}

i = numpy.arange(ROWS)
inputs = numpy.column_stack([numpy.sin(1.7 * i + 0.3), numpy.cos(0.9 * i * i), numpy.sin(0.31 * i) ** 3])
signal = 0.8 * inputs[:, 0] - 0.5 * inputs[:, 1] + 0.7 * inputs[:, 2] + 0.6 * numpy.sin(12.9 * i)
scaled = (inputs - inputs.mean(axis=0)) / inputs.std(axis=0)


def show(name, values):
    print(f'    {{"{name}", {{{", ".join(repr(float(value)) for value in values[:SHOWN])}}}}},')


show("squared", Ridge(alpha=RIDGE, **EXACT).fit(scaled, signal).predict(scaled))
two = LogisticRegression(C=1 / (2 * RIDGE), **EXACT).fit(scaled, signal > 0.1)
show("logistic", two.predict_proba(scaled)[:, 1])
# Their losses are means, with half of the penalty.
alpha = 2 * RIDGE / ROWS
counts = numpy.floor(numpy.exp(signal) * 2)
show("poisson", PoissonRegressor(alpha=alpha, solver="newton-cholesky", **EXACT).fit(scaled, counts).predict(scaled))
amounts = numpy.exp(signal)
show("gamma", GammaRegressor(alpha=alpha, solver="newton-cholesky", **EXACT).fit(scaled, amounts).predict(scaled))
classes = numpy.digitize(signal, [-0.4, 0.5])
three = LogisticRegression(C=1 / (2 * RIDGE), **EXACT).fit(scaled, classes)
show("softmax", three.predict_proba(scaled)[:, 2])
rest = OneVsRestClassifier(LogisticRegression(C=1 / (2 * RIDGE), **EXACT)).fit(scaled, classes)
show("one_vs_rest", rest.predict_proba(scaled)[:, 2])
