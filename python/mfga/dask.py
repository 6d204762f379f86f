"""Estimators for Dask collections; they need dask and distributed (`pip install mfga[dask]`).

The workers of the current client learn one model together, each from the partitions that it holds. The package must be
installed where the workers run.
"""

import asyncio
import contextlib
import secrets

import numpy as np

try:
    import dask
    import dask.array as da
    import distributed
except ImportError as error:
    raise ImportError("mfga.dask needs dask and distributed; install mfga[dask]") from error

from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.validation import check_is_fitted

from . import _estimators
from ._communicator import Meeting, RankError
from ._options import seed_of
from ._ranks import Layout, look_at

__all__ = ["MFGAClassifier", "MFGARegressor"]

# Seconds between looks whether all workers are still there, and until all have ended after the first error.
_BETWEEN_LOOKS = 2
_TO_END = 20


def _is_frame(collection):
    return hasattr(collection, "map_partitions") and hasattr(collection, "columns")


def _is_collection(X):
    return isinstance(X, da.Array) or (dask.is_dask_collection(X) and _is_frame(X))


def _in_rows(X):
    """The array with all columns in each of its blocks; frames pass through."""
    if isinstance(X, da.Array):
        if X.ndim != 2:
            raise ValueError(f"X has {X.ndim} dimensions; expected rows and columns")
        if X.numblocks[1] > 1:
            return X.rechunk({1: X.shape[1]})
    return X


def _blocks(name, collection, like):
    """The partitions of targets or weights, which are those of X."""
    if isinstance(collection, da.Array) and isinstance(like, da.Array) and collection.chunks[0] != like.chunks[0]:
        if collection.shape[0] != like.shape[0] and not np.isnan(collection.shape[0] + like.shape[0]):
            raise ValueError(f"X has {like.shape[0]} rows, and {name} {collection.shape[0]}; expected the same number")
        if not np.isnan(collection.shape[0] + like.shape[0]):
            collection = collection.rechunk({0: like.chunks[0]})
    if isinstance(collection, da.Array) and collection.ndim == 2:
        collection = collection.rechunk({1: -1})
    if not hasattr(collection, "to_delayed"):
        raise TypeError(
            f"{name} is of type {type(collection).__name__}; expected a Dask collection with the partitions of X"
        )
    blocks = collection.to_delayed()
    blocks = blocks.ravel().tolist() if isinstance(blocks, np.ndarray) else list(blocks)
    expected = like.numblocks[0] if isinstance(like, da.Array) else like.npartitions
    if len(blocks) != expected:
        raise ValueError(f"X has {expected} partitions, and {name} {len(blocks)}; expected the same number")
    return blocks


def _places(client, X, count):
    """The worker of each partition: the one that holds it; those that are not there yet go to workers in succession."""
    workers = sorted(client.nthreads())
    if not workers:
        raise ValueError("the cluster has no workers")
    futures = {future.key: future for future in distributed.futures_of(X)}
    keys = list(dask.core.flatten(X.__dask_keys__()))
    if futures and all(key in futures for key in keys):
        distributed.wait(list(futures.values()))
        for future in futures.values():
            if future.status != "finished":
                future.result()  # raises what has gone wrong
        holders = client.who_has([futures[key] for key in keys])
        if all(holders[key] for key in keys):  # else a worker has just gone, and they are computed again
            return [holders[key][0] for key in keys]
    # As nearly the same number for each as can be.
    return [workers[place * min(len(workers), count) // count] for place in range(count)]


def _results(client, futures, addresses):
    """What tasks give that are pinned to workers. Where one fails, or its worker has gone, all end."""
    lost, failed = [], False
    while not lost and not failed:
        running = [future for future in futures if not future.done()]
        failed = any(future.done() and future.status != "finished" for future in futures)
        if not running and not failed:
            return client.gather(futures)
        if not failed:
            with contextlib.suppress(TimeoutError, asyncio.TimeoutError):
                distributed.wait(running, timeout=_BETWEEN_LOOKS, return_when="FIRST_COMPLETED")
            lost = sorted(set(addresses) - set(client.nthreads()))
    # The others are about to end with an error, too.
    for _ in range(_TO_END):
        workers = client.nthreads()
        running = [
            future for future, place in zip(futures, addresses, strict=True) if place in workers and not future.done()
        ]
        if not running:
            break
        with contextlib.suppress(TimeoutError, asyncio.TimeoutError):
            distributed.wait(running, timeout=1)
    errors = [future.exception() for future in futures if future.status == "error"]
    client.cancel(futures)
    errors.append(RankError(f"the worker {lost[0]} has gone" if lost else "the tasks of the fit were cancelled"))
    # Those of the others only tell of the one that failed first.
    raise min(errors, key=lambda error: isinstance(error, RankError))


# What follows runs on workers.

_ended = set()  # fits that the user has interrupted


def _end(fit):
    _ended.add(fit)


def _part(x, y, weights):
    return x, y, weights


def _look_at_parts(estimator, parts):
    return [look_at(estimator, *part) for part in parts]


def _meet(key):
    scheme, _, rest = distributed.get_worker().address.partition("://")
    # Workers that are threads of one process have no address in a network.
    host = "127.0.0.1" if scheme == "inproc" else rest.rpartition(":")[0].strip("[]")
    return Meeting(host, key)


def _address(meeting):
    return meeting.address


def _learn(meeting, rank, addresses, layout, estimator, fit, parts):
    def go_on(_):
        if fit in _ended:
            raise RankError("the fit was interrupted")

    try:
        with meeting.join(rank, addresses) as others:
            if estimator.n_jobs is None:
                estimator.n_jobs = distributed.get_worker().state.nthreads
            estimator.callback = go_on
            fitted = layout.learn(estimator, parts, others)
            estimator.callback = None
    except KeyboardInterrupt:  # another was asked first; this would end the worker
        raise RankError("the fit was interrupted") from None
    return fitted if rank == 0 else None


def _values(block, local, method):
    values = getattr(local, method)(block)
    if not hasattr(block, "index"):
        return values
    import pandas as pd

    return (pd.Series if values.ndim == 1 else pd.DataFrame)(values, index=block.index)


class _OnDask:
    """What regression and classification share."""

    _local = None

    def _learn_together(self, X, y, sample_weight):
        if not _is_collection(X):
            raise TypeError(
                f"X is of type {type(X).__name__}; expected a Dask array or DataFrame. mfga.{type(self).__name__} "
                "learns from what is in memory"
            )
        if self.callback is not None or self.verbose:
            raise ValueError("`callback` and `verbose` are for fits on one machine; leave them out on a cluster")
        client = distributed.default_client()
        if any(place.startswith("tls://") for place in client.nthreads()):
            raise ValueError(
                "the workers of this cluster talk by TLS, and those that learn together would send rows to one another "
                "unencrypted; use a cluster without TLS, or mfga." + type(self).__name__
            )
        # A seed that is the same for all.
        local = self._local(**self.get_params(deep=False)).set_params(random_state=seed_of(self.random_state))
        if self.warm_start and "_model" in vars(self):
            local._model = self._model
        X = _in_rows(X)
        blocks = [_blocks("X", X, X), _blocks("y", y, X)]
        blocks.append([None] * len(blocks[0]) if sample_weight is None else _blocks("sample_weight", sample_weight, X))
        places = _places(client, X, len(blocks[0]))
        parts = {}
        for place, block in zip(places, zip(*blocks, strict=True), strict=True):
            parts.setdefault(place, []).append(dask.delayed(_part)(*block))
        parts = {place: client.compute(own, workers=[place]) for place, own in parts.items()}

        def on_workers(function, *arguments):
            """One task for each worker, pinned; `arguments` are given by worker."""
            return [
                client.submit(function, *own, workers=[place], pure=False)
                for place, *own in zip(parts, *arguments, strict=True)
            ]

        count = len(parts)
        fit = secrets.token_hex(8)
        try:
            looks = _results(client, on_workers(_look_at_parts, [local] * count, parts.values()), parts)
            layout = Layout.of(local, [look for own in looks for look in own])
            # Two fits that each wait for workers of the other would wait for ever.
            with distributed.MultiLock([f"mfga {place}" for place in parts]):
                meetings = on_workers(_meet, [secrets.token_bytes(32)] * count)
                addresses = _results(client, on_workers(_address, meetings), parts)
                together = [range(count), *([same] * count for same in (addresses, layout, local, fit))]
                fitted = _results(client, on_workers(_learn, meetings, *together, parts.values()), parts)[0]
        except BaseException as error:
            if not isinstance(error, Exception):  # Ctrl-C, of which running tasks do not hear from Dask
                client.run(_end, fit, workers=sorted(set(parts) & set(client.nthreads())), on_error="ignore")
            # What waits for a worker that has gone would keep another fit of the same rows waiting.
            client.cancel([part for own in parts.values() for part in own])
            raise
        parameters = self.get_params(deep=False)
        vars(self).clear()
        vars(self).update(vars(fitted) | parameters)
        return self

    def _lazily(self, method, X, columns, like):
        """Values of each row, by partition: of the type of `like`, in so many columns; None: in one dimension."""
        local = self._local()
        vars(local).update(vars(self))
        local.n_jobs = 1  # as many tasks as threads run at a time
        if isinstance(X, da.Array):
            X = _in_rows(X)
            if columns is None:
                meta = np.empty(0, dtype=like.dtype)
                return X.map_blocks(_values, local, method, drop_axis=1, dtype=like.dtype, meta=meta)
            meta = np.empty((0, 0), dtype=like.dtype)
            chunks = (X.chunks[0], (columns,))
            return X.map_blocks(_values, local, method, chunks=chunks, dtype=like.dtype, meta=meta)
        import pandas as pd

        meta = pd.Series(like[:0]) if columns is None else pd.DataFrame({k: like[:0] for k in range(columns)})
        return X.map_partitions(_values, local, method, meta=meta)


class MFGARegressor(_OnDask, _estimators.MFGARegressor):
    """Regression on Dask arrays and DataFrames: `mfga.MFGARegressor`, learned by all workers together.

    The partitions stay on the workers that hold them; what is not computed yet is computed there. The model is the one
    that `mfga.MFGARegressor` finds in the same rows, to the last bit, as long as each worker holds partitions that
    follow one another; else it is that of the rows in the order of the workers.

    Parameters
    ----------
    **parameters : dict
        Those of `mfga.MFGARegressor`. `n_jobs=None` is as many threads as each worker has; `callback` and `verbose` are
        not for clusters.

    Examples
    --------
    >>> import dask.array as da
    >>> import distributed
    >>> from sklearn.datasets import make_friedman1
    >>> from mfga.dask import MFGARegressor
    >>> X, y = (da.from_array(part, chunks=250) for part in make_friedman1(n_samples=500, random_state=0))
    >>> with distributed.Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None):
    ...     model = MFGARegressor(terms=5, features="linear + hinge", tune=False).fit(X.rechunk((250, 10)), y)
    ...     round(model.score(X, y), 1)
    0.9
    """

    _local = _estimators.MFGARegressor

    def fit(self, X, y, sample_weight=None):
        """Learn from rows.

        Parameters
        ----------
        X : dask Array or DataFrame of shape (n_samples, n_features)
            As of `mfga.MFGARegressor.fit`.
        y : dask Array, Series or DataFrame of shape (n_samples,) or (n_samples, n_targets)
            The targets, in the partitions of X.
        sample_weight : dask Array or Series of shape (n_samples,), default=None
            How much each row counts.

        Returns
        -------
        self : object
            Fitted.
        """
        return self._learn_together(X, y, sample_weight)

    def predict(self, X):
        """Predict the targets of rows: lazily, by partition.

        Parameters
        ----------
        X : dask Array or DataFrame of shape (n_samples, n_features)
            The rows; those in memory are predicted at once.

        Returns
        -------
        y : dask Array, Series or DataFrame of shape (n_samples,) or (n_samples, n_targets)
            The predictions.
        """
        if not _is_collection(X):
            return super().predict(X)
        check_is_fitted(self)
        columns = len(self._model.output_names) if self._has_columns_of_targets else None
        return self._lazily("predict", X, columns, np.empty(0))

    def score(self, X, y, sample_weight=None):
        """The coefficient of determination R2 of the predictions.

        Parameters
        ----------
        X : dask Array or DataFrame of shape (n_samples, n_features)
            The rows.
        y : dask Array, Series or DataFrame of shape (n_samples,) or (n_samples, n_targets)
            Their targets.
        sample_weight : dask Array or Series of shape (n_samples,), default=None
            How much each row counts.

        Returns
        -------
        score : float
            At most 1.
        """
        predicted, y, weights = dask.compute(self.predict(X), y, sample_weight)
        return r2_score(y, predicted, sample_weight=weights)


class MFGAClassifier(_OnDask, _estimators.MFGAClassifier):
    """Classification on Dask arrays and DataFrames: `mfga.MFGAClassifier`, learned by all workers together.

    What is said of `mfga.dask.MFGARegressor` holds here, too.

    Parameters
    ----------
    **parameters : dict
        Those of `mfga.MFGAClassifier`; see `mfga.dask.MFGARegressor`.

    Examples
    --------
    >>> import dask.array as da
    >>> import distributed
    >>> from sklearn.datasets import load_iris
    >>> from mfga.dask import MFGAClassifier
    >>> X, y = (da.from_array(part, chunks=50) for part in load_iris(return_X_y=True))
    >>> with distributed.Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None):
    ...     model = MFGAClassifier(terms=4, features="linear + hinge", tune=False).fit(X, y)
    ...     model.predict_proba(X).compute().shape
    (150, 3)
    """

    _local = _estimators.MFGAClassifier

    def fit(self, X, y, sample_weight=None):
        """Learn from rows.

        Parameters
        ----------
        X : dask Array or DataFrame of shape (n_samples, n_features)
            As of `mfga.MFGAClassifier.fit`.
        y : dask Array or Series of shape (n_samples,)
            The classes, in the partitions of X.
        sample_weight : dask Array or Series of shape (n_samples,), default=None
            How much each row counts.

        Returns
        -------
        self : object
            Fitted.
        """
        return self._learn_together(X, y, sample_weight)

    def predict(self, X):
        """Predict the classes of rows: lazily, by partition.

        Parameters
        ----------
        X : dask Array or DataFrame of shape (n_samples, n_features)
            The rows; those in memory are predicted at once.

        Returns
        -------
        y : dask Array or Series of shape (n_samples,)
            The classes.
        """
        if not _is_collection(X):
            return super().predict(X)
        check_is_fitted(self)
        return self._lazily("predict", X, None, self.classes_)

    def predict_proba(self, X):
        """Predict the probabilities of the classes: lazily, by partition.

        Parameters
        ----------
        X : dask Array or DataFrame of shape (n_samples, n_features)
            The rows; those in memory are predicted at once.

        Returns
        -------
        probabilities : dask Array or DataFrame of shape (n_samples, n_classes)
            In the order of `classes_`.
        """
        if not _is_collection(X):
            return super().predict_proba(X)
        check_is_fitted(self)
        return self._lazily("predict_proba", X, len(self.classes_), np.empty(0))

    def decision_function(self, X):
        """Score rows: lazily, by partition.

        Parameters
        ----------
        X : dask Array or DataFrame of shape (n_samples, n_features)
            The rows; those in memory are scored at once.

        Returns
        -------
        scores : dask Array, Series or DataFrame of shape (n_samples,) or (n_samples, n_classes)
            As of `mfga.MFGAClassifier.decision_function`.
        """
        if not _is_collection(X):
            return super().decision_function(X)
        check_is_fitted(self)
        scores = len(self._model.output_names)
        return self._lazily("decision_function", X, scores if scores > 1 else None, np.empty(0))

    def score(self, X, y, sample_weight=None):
        """The part of the rows whose class is predicted.

        Parameters
        ----------
        X : dask Array or DataFrame of shape (n_samples, n_features)
            The rows.
        y : dask Array or Series of shape (n_samples,)
            Their classes.
        sample_weight : dask Array or Series of shape (n_samples,), default=None
            How much each row counts.

        Returns
        -------
        score : float
            From 0 to 1.
        """
        predicted, y, weights = dask.compute(self.predict(X), y, sample_weight)
        return accuracy_score(y, predicted, sample_weight=weights)
