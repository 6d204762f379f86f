"""The number of terms by scikit-learn's grid search, and what `terms="auto"` makes of it."""

from sklearn.datasets import make_friedman1
from sklearn.model_selection import GridSearchCV

from mfga import MFGARegressor

X, y = make_friedman1(n_samples=400, noise=1.0, random_state=0)
model = MFGARegressor(features="linear + hinge", tune=False)
search = GridSearchCV(model, {"terms": [5, 10, 20, 40]}, cv=3).fit(X, y)
print("grid search:", search.best_params_, f"R2 {search.best_score_:.3f}")

model.set_params(terms="auto").fit(X, y)
print("terms='auto':", model.n_terms_)
for size in model.report_["sizes"]:
    if size["terms"] not in (1, 2, 5, 10, 20, 50, 100) and not size["chosen"]:
        continue
    mark = " <- chosen" if size["chosen"] else ""
    print(f"  {size['terms']:3d} terms: loss of held-out rows {size['held_out']:.4f}{mark}")
