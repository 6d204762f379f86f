"""The chosen terms as features for another estimator, and pictures of a model."""

import pathlib
import sys

import matplotlib
from sklearn.datasets import load_diabetes
from sklearn.linear_model import HuberRegressor
from sklearn.pipeline import make_pipeline

import mfga
import mfga.plot

matplotlib.use("Agg")
X, y = load_diabetes(return_X_y=True, as_frame=True)
selector = mfga.FeatureSelector(mfga.MFGARegressor(terms=8, tune=False)).set_output(transform="pandas")
model = make_pipeline(selector, HuberRegressor(max_iter=1000)).fit(X, y)
print(model[0].transform(X).head(3))
print(f"R2 {model.score(X, y):.3f}")

path = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "effects.png"
mfga.plot.effects(model[0].estimator_, X).figure.savefig(path)
print(f"see {path}")
