"""Two classes and ten: probabilities, and errors on new rows."""

from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from mfga import MFGAClassifier

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
model = MFGAClassifier(terms=10, effort="quick").fit(X_train, y_train)
chances = model.predict_proba(X_test)
print(f"breast cancer: {model.score(X_test, y_test):.3f} right, log loss {log_loss(y_test, chances):.3f}")

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
model = MFGAClassifier(terms=60, features="linear + landmark(count=200)", per_step=10, tune=False)
print(f"digits: {model.fit(X_train, y_train).score(X_test, y_test):.3f} right with {model.n_terms_} terms")
