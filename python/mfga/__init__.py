"""Small, readable non-linear models by greedy selection of kernel features."""

from . import _core
from ._dictionary import Dictionary
from ._estimators import MFGAClassifier, MFGARegressor, load
from ._explain import Explanation
from ._selector import FeatureSelector
from ._statistics import Statistics

__all__ = ["Dictionary", "Explanation", "FeatureSelector", "MFGAClassifier", "MFGARegressor", "Statistics", "load"]
__version__ = _core.version()
