"""The methods that the paper compares (Shahrampour and Tarokh, NeurIPS 2018), as estimators.

`method` is "mfga", or what it is compared with: random features as drawn ("rks"), weighted by kernel alignment
("lkrf") or by their score ("eerf"); the exact Gaussian ("gk") or Gaussian and linear ("glk") kernel.

Examples
--------
>>> from sklearn.datasets import make_friedman1
>>> from mfga.paper import PaperRegressor
>>> X, y = make_friedman1(n_samples=300, random_state=0)
>>> PaperRegressor(40, method="rks", ridge=0.1).fit(X, y).score(X, y) > 0.3
True
"""

from ._estimators import MFGAClassifier, MFGARegressor

__all__ = ["PaperClassifier", "PaperRegressor"]

PAPER_OPTIONS = ("method", "preset", "norm_bound", "scale_target", "sigma", "candidates", "subsample")
SHARED_OPTIONS = ("terms", "features", "ridge", "loss", "select", "nu", "per_step", "intercept", "scale")
SHARED_OPTIONS += ("engine", "precision", "device", "time_limit", "memory_limit", "folds", "ridges")

_DOC = """{title} with a method of the paper.

    Parameters
    ----------
    terms : int or "auto", default="auto"
        Number of terms.
    method : {{"mfga", "rks", "lkrf", "eerf", "gk", "glk"}}, default="mfga"
        Which method.
    preset : {{"none", "paper"}}, default="none"
        "paper": the paper's dictionary, target scaled to [-1, 1], intercept for classification only.
    norm_bound : float, default=0
        The paper's bound of the norm of the coefficients instead of a ridge; 0: none.
    scale_target : {{"auto", "none", "range"}}, default="auto"
        "range": a regression target is mapped to [-1, 1].
    sigma : str or float, default="auto"
        Kernel width of all methods but "mfga".
    candidates : int, default=0
        Random features that "lkrf" and "eerf" choose from; 0: ten per term.
    subsample : float, default=1
        Part of the rows that "gk" and "glk" use.
    features, ridge, loss, select, nu, per_step, intercept, scale, engine, precision, device, time_limit, \
memory_limit, folds, ridges, random_state, n_jobs, verbose, callback
        As `mfga.{own}` has them. An automatic ridge is 1 unless the method is "mfga" without preset.
    """


class _PaperParameters:
    _option_names = PAPER_OPTIONS + SHARED_OPTIONS

    def __init__(
        self,
        terms="auto",
        *,
        method="mfga",
        preset="none",
        norm_bound=0,
        scale_target="auto",
        sigma="auto",
        candidates=0,
        subsample=1,
        features=None,
        ridge="auto",
        loss="auto",
        select="auto",
        nu="uniform",
        per_step=1,
        intercept="auto",
        scale="auto",
        engine="auto",
        precision="mixed",
        device="cpu",
        time_limit=0,
        memory_limit=0,
        folds=5,
        ridges=None,
        random_state=0,
        n_jobs=None,
        verbose=0,
        callback=None,
    ):
        self.terms = terms
        self.method = method
        self.preset = preset
        self.norm_bound = norm_bound
        self.scale_target = scale_target
        self.sigma = sigma
        self.candidates = candidates
        self.subsample = subsample
        self.features = features
        self.ridge = ridge
        self.loss = loss
        self.select = select
        self.nu = nu
        self.per_step = per_step
        self.intercept = intercept
        self.scale = scale
        self.engine = engine
        self.precision = precision
        self.device = device
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.folds = folds
        self.ridges = ridges
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback


class PaperRegressor(_PaperParameters, MFGARegressor):
    __doc__ = _DOC.format(title="Regression", own="MFGARegressor")


class PaperClassifier(_PaperParameters, MFGAClassifier):
    __doc__ = _DOC.format(title="Classification", own="MFGAClassifier")
