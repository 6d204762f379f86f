"""Learn a formula from a table, read it, and predict."""

from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

from mfga import MFGARegressor

X, y = load_diabetes(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
model = MFGARegressor().fit(X_train, y_train)
print(model.formula_)
print(f"R2 on new rows: {model.score(X_test, y_test):.3f} with {model.n_terms_} terms")
