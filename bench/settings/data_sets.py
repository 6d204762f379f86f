"""Tables for the settings on real data: the public data set if it is there, else a generated one of the same shape."""

ADULT_INPUTS = 123


def adult(bench, first, last):
    """Rows of adult (a9a), dense, label last. Returns the file and what it is."""
    file = bench.folder / f"adult-{first}-{last}.npy"
    source = bench.data and bench.data / "adult" / "a9a"
    real = bool(source and source.is_file())
    job = {"file": str(file), "first": first, "last": last, "inputs": ADULT_INPUTS}
    if real:
        bench.child("inputs", "libsvm_table", libsvm=str(source), **job)
    else:
        bench.child("inputs", "binary_table", seed=3, **job)
    return file, f"{'adult (a9a)' if real else 'generated'}, {last - first:,} rows of {ADULT_INPUTS}"


def year(bench, rows, inputs):
    """The sample of YearPredictionMSD, or a generated table; target last and with mean zero."""
    file = bench.folder / "centred.npy"
    source = bench.data and bench.data / "year" / "train.csv"
    real = bool(source and source.is_file())
    table, target = (source, 0) if real else (bench.table(rows, inputs), -1)
    made = bench.child("inputs", "centred_target", table=str(table), target=target, rows=rows, file=str(file))
    return file, f"{'year' if real else 'generated'}, {made['rows']:,} rows of {made['inputs']}"
