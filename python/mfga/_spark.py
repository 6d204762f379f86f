"""What Spark's executors do for `mfga.spark`: sums over rows, and ranks of a fit."""

import base64
import math
import pickle
import secrets
import warnings
import zlib

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark import BarrierTaskContext, TaskContext
from pyspark.sql import functions as F

from . import _core
from ._communicator import Meeting, RankError
from ._ranks import Layout, look_at


class Rows:
    """Turns batches of the columns x, y and w into what the estimators for one machine take."""

    def __init__(self, names, label):
        self.names = names
        self.label = label

    def inputs(self, column):
        """Inputs: a table from a struct of columns, else an array, or a frame if its columns have names."""
        if isinstance(column, pa.ChunkedArray):
            column = column.combine_chunks()
        if pa.types.is_struct(column.type):
            return pa.Table.from_batches([pa.RecordBatch.from_struct_array(column)])
        lengths = np.unique(column.value_lengths().to_numpy(zero_copy_only=False))
        if column.null_count or len(lengths) > 1:
            found = "none" if column.null_count else f"{lengths[1]:.0f}"
            raise ValueError(f"found a row with {lengths[0]:.0f} features and one with {found}; expected one number")
        matrix = column.flatten().to_numpy(zero_copy_only=False).reshape(len(column), -1)
        return matrix if self.names is None else pd.DataFrame(matrix, columns=self.names, copy=False)

    def parts(self, batch):
        """Inputs, targets and weights."""
        y = batch.column("y")
        if y.null_count:
            raise ValueError(f"found {y.null_count} rows without a label; fill these in, or leave the rows out")
        weights = batch.column("w").to_numpy(zero_copy_only=False) if "w" in batch.schema.names else None
        return self.inputs(batch.column("x")), pd.Series(y.to_numpy(zero_copy_only=False), name=self.label), weights


def threads():
    """Threads of a task: as many cores as Spark gives it."""
    context = TaskContext.get()
    return max(1, context.cpus()) if context is not None else 1


def _sum_rows(empty, reader):
    """What a task does: the sums over its rows, as bytes."""

    def task(batches):
        statistics = None
        for batch in batches:
            if statistics is None:
                statistics = pickle.loads(zlib.decompress(empty))
                statistics._reader.n_jobs = threads()
            if batch.num_rows:
                statistics.update(*reader.parts(batch))
        if statistics is not None:
            yield pa.RecordBatch.from_pydict({"sums": [statistics._sums.to_bytes()]})

    return task


def _merge(one, other):
    sums = _core.Statistics.from_bytes(one)
    sums.merge(_core.Statistics.from_bytes(other))
    return sums.to_bytes()


def sums_of(rows, reader, begun):
    """Add up the sums over all rows in one job: of each partition, then of partitions by a tree."""
    empty = zlib.compress(pickle.dumps(begun), 1)
    sums = rows.mapInArrow(_sum_rows(empty, reader), "sums binary").rdd.map(lambda row: bytes(row.sums))
    # They may be large: some eight are merged at a time, and some eight at most come to the driver.
    depth = max(2, math.ceil(math.log(max(2, sums.getNumPartitions()), 8)))
    begun._sums = _core.Statistics.from_bytes(sums.treeReduce(_merge, depth))
    return begun


def _rank(local, reader, key):
    """What a task of a barrier stage does: a rank of the fit. An error, or the model and warnings go back."""

    def task(batches):
        context = BarrierTaskContext.get()
        infos = context.getTaskInfos()
        rank = context.partitionId()
        meeting, parts, failure = None, [], None
        told = None, []
        try:
            parts = [reader.parts(batch) for batch in batches if batch.num_rows]
            meeting = Meeting(infos[rank].address.rpartition(":")[0] or infos[rank].address, key)
            told = meeting.address, [look_at(local, *part) for part in parts]
        except Exception as error:
            failure = error
        # Whoever fails says so, for the others wait for it.
        answers = context.allGather(base64.b64encode(pickle.dumps((failure, *told))).decode())
        failures, addresses, looks = zip(*(pickle.loads(base64.b64decode(answer)) for answer in answers), strict=True)
        failure = next(filter(None, failures), None)
        fitted, warned = None, []
        if failure is None:
            try:
                with warnings.catch_warnings(record=True) as warned:
                    layout = Layout.of(local, [look for own in looks for look in own])
                local.n_jobs = threads()
                with meeting.join(rank, addresses) as others:
                    # Each part is forgotten as soon as it is read.
                    fitted = layout.learn(local, (parts.pop(0) for _ in range(len(parts))), others)
            except Exception as error:
                failure = error
        elif meeting is not None:
            meeting.close()
        outcome = failure, fitted if rank == 0 else None, [str(warning.message) for warning in warned]
        yield pa.RecordBatch.from_pydict({"outcome": [pickle.dumps(outcome)]})

    return task


def learned_by_ranks(rows, reader, local, workers):
    """Fit an estimator in a barrier stage: as many tasks as workers learn together."""
    partitions = rows.rdd.getNumPartitions()
    context = rows.sparkSession.sparkContext._jsc.sc()
    slots = context.maxNumConcurrentTasks(context.resourceProfileManager().defaultResourceProfile())
    for setting in ("spark.network.crypto.enabled", "spark.ssl.rpc.enabled"):
        if context.conf().getBoolean(setting, False):
            raise ValueError(
                f"this cluster encrypts what is sent (`{setting}`), and the tasks that learn together would send rows "
                "to one another unencrypted; use one machine, or the squared loss without tuning, which needs only sums"
            )
    if workers is None:
        workers = max(1, min(partitions, slots))
    elif workers > slots:  # Spark would wait for ten minutes
        raise ValueError(f"`numWorkers` is {workers}; expected at most {slots}, as many tasks as can run at a time")
    if workers != partitions:
        # Whole stretches of rows in their order, which is that of a single machine.
        rows = rows.withColumn("place", F.monotonically_increasing_id())
        rows = rows.repartitionByRange(workers, "place").sortWithinPartitions("place")
    task = _rank(local, reader, secrets.token_bytes(32))
    outcomes = [pickle.loads(row.outcome) for row in rows.mapInArrow(task, "outcome binary", barrier=True).collect()]
    failures = [failure for failure, *_ in outcomes if failure is not None]
    if failures:  # the others only tell of the one that failed first
        raise min(failures, key=lambda failure: isinstance(failure, RankError))
    for text in outcomes[0][2]:
        warnings.warn(text, UserWarning, stacklevel=6)
    return next(fitted for _, fitted, _ in outcomes if fitted is not None).set_params(n_jobs=None)
