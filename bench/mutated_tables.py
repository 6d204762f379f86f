#!/usr/bin/env python3
"""The same damaged files for mfga, pandas, polars and scikit-learn: who crashes, hangs, refuses, or reads what.

  bench/.venv/bin/python bench/mutated_tables.py --tool build/mfga [--files 2000] [--show 3]

Each reader is a process of its own that is started again when it dies. What two readers make of a file is compared
by rows, columns, missing values, and the least, largest and mean value of each column of numbers. The tables that it
prints are those of docs/robustness.md: how often what comes out, and why both read a file differently.
"""

import argparse
import collections
import json
import math
import pathlib
import random
import re
import select
import subprocess
import sys
import tempfile

SECONDS = 20
PIECES = [b",", b";", b"\t", b'"', b"\n", b"\r\n", b"#", b":", b" ", b"nan", b"-inf", b"1e999", b"-", b"+",
          b"99999999999", b"0x1", b"1,234.5", b"\xff", b"\0", b'""', b"NA", b"?", b",,,", b"2024-01-31", b"1e-999",
          b"1_000", b"1.5.2"]  # fmt: skip


def base_table(draw, kind):
    rows = []
    for i in range(30):
        a, b = draw.gauss(0, 3), draw.randrange(1000)
        if kind == "libsvm":
            rows.append(f"{1 if i % 2 else -1} 1:{a:.4g} {2 + i % 3}:{b}")
        else:
            separator = "\t" if kind == "tsv" else ","
            rows.append(separator.join([f"{a:.4g}", str(b), draw.choice(["red", "blue"]), f"{a * b:.3f}"]))
    head = {"csv": "a,b,colour,y\n", "tsv": "a\tb\tcolour\ty\n", "libsvm": ""}[kind]
    return (head + "\n".join(rows) + "\n").encode()


def mutated(content, draw):
    """In one or two places: bytes, whole lines, and what is hard to read."""
    for _ in range(draw.choice([1, 1, 2])):
        at, length = draw.randrange(len(content)), draw.randint(1, 30)
        how = draw.randrange(8)
        if how > 4:
            # Between two fields, and for a whole one, where it makes a table of another meaning.
            lines = content.split(b"\n")
            line = draw.randrange(len(lines))
            separator = b"\t" if b"\t" in lines[line] else b"," if b"," in lines[line] else b" "
            fields = lines[line].split(separator)
            field = draw.randrange(len(fields))
            piece = draw.choice(PIECES)
            fields[field] = {5: piece, 6: piece + fields[field], 7: fields[field] + draw.choice([b"", b" ", b"0"])}[how]
            lines[line] = separator.join(fields)
            content = b"\n".join(lines)
            continue
        if how == 0:
            content = content[:at] + bytes([draw.randrange(256)]) + content[at + 1 :]
        elif how == 1:
            content = content[:at] + content[at + length :]
        elif how == 2:
            content = content[:at] + content[at : at + length] + content[at:]
        else:
            content = content[:at] + draw.choice(PIECES) + content[at:]
    return content


def summary(values):
    """Of a column of numbers, None for what is missing."""
    there = [value for value in values if value is not None and not math.isnan(value)]
    result = {"kind": "number", "missing": len(values) - len(there)}
    if there:
        result.update(lowest=min(there), highest=max(there), mean=math.fsum(there) / len(there))
    return result


def with_pandas(path, kind):
    import pandas

    frame = pandas.read_csv(path, sep="\t" if kind == "tsv" else ",")
    columns = []
    for name in frame.columns:
        column = frame[name]
        if column.dtype.kind in "iuf":
            columns.append({"name": str(name), **summary([float(value) for value in column])})
        else:
            columns.append({"name": str(name), "kind": "text", "missing": int(column.isna().sum())})
    return {"rows": len(frame), "columns": columns}


def with_polars(path, kind):
    import polars

    frame = polars.read_csv(path, separator="\t" if kind == "tsv" else ",", infer_schema_length=None)
    columns = []
    for column in frame.iter_columns():
        if column.dtype.is_numeric():
            columns.append({"name": column.name, **summary(column.cast(polars.Float64).to_list())})
        else:
            columns.append({"name": column.name, "kind": "text", "missing": column.null_count()})
    return {"rows": frame.height, "columns": columns}


def with_sklearn(path, _kind):
    from sklearn.datasets import load_svmlight_file

    x, y = load_svmlight_file(path)
    x = x.toarray() if x.shape[1] < 100000 else x[:, :100000].toarray()
    columns = [{"name": "label", **summary(y.tolist())}]
    columns += [{"name": f"x{j + 1}", **summary(x[:, j].tolist())} for j in range(x.shape[1])]
    return {"rows": x.shape[0], "columns": columns}


READERS = {"pandas": with_pandas, "polars": with_polars, "scikit-learn": with_sklearn}


def serve(name):
    """A reader's process: a path and a kind on each line, what comes of it on a line of the answer."""
    for line in sys.stdin:
        path, kind = line.split()
        try:
            answer = READERS[name](path, kind)
        except Exception as error:  # noqa: BLE001 - to refuse a file in whatever way is right
            answer = {"refused": f"{type(error).__name__}: {error}"[:300]}
        print(json.dumps(answer), flush=True)


class Peer:
    def __init__(self, name):
        self.name, self.process = name, None

    def read(self, path, kind):
        if self.process is None:
            self.process = subprocess.Popen([sys.executable, __file__, "--serve", self.name], stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)  # fmt: skip
        self.process.stdin.write(f"{path} {kind}\n")
        self.process.stdin.flush()
        # The first one has to import its library.
        ready, _, _ = select.select([self.process.stdout], [], [], 6 * SECONDS)
        line = self.process.stdout.readline() if ready else ""
        if line:
            return json.loads(line)
        self.process.kill()
        died = self.process.wait() != -9 or bool(ready)
        self.process = None
        return {"crashed": True} if died else {"hung": True}


def ours(tool, path, kind):
    target = ["--target", "label"] if kind == "libsvm" else []
    command = [tool, "describe", path, "--json", "--format", kind, *target]
    try:
        run = subprocess.run(command, capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return {"hung": True}
    if run.returncode != 0:
        return {"refused": run.stderr.decode(errors="replace")} if run.returncode in (1, 2, 3) else {"crashed": True}
    told = json.loads(run.stdout)
    columns = []
    for column in [*told["columns"], {**told["target"], "is_target": True}]:
        if "classes" in column:
            continue  # of which nothing is told but how many there are
        is_number = column.get("lowest") is not None and not column.get("levels")
        result = {"name": column["name"], "kind": "number" if is_number else "text"}
        if "missing" in column:
            result["missing"] = column["missing"]
        if is_number:
            result.update({key: column[key] for key in ("lowest", "highest", "mean")})
        columns.append(result)
    return {"rows": told["rows"], "columns": columns, "without_classes": int("classes" in told["target"]),
            "remarks": told["remarks"] + told["warnings"]}


def difference(mine, other):
    """In words, or None."""
    if mine["rows"] != other["rows"]:
        return "rows"
    others = {column["name"].strip(): column for column in other["columns"]}
    for column in mine["columns"]:
        twin = others.get(column["name"].strip())
        if twin is None:
            return "columns"
        if column["kind"] != twin["kind"]:
            return f"{column['kind']} for us, {twin['kind']} for it"
        if column.get("missing", twin.get("missing")) != twin.get("missing"):
            return "missing values"
        for key in ("lowest", "highest", "mean"):
            a, b = column.get(key), twin.get(key)
            if a is not None and b is not None and not math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12):
                return "numbers"
    more = len(other["columns"]) - len(mine["columns"])
    return "columns" if more not in (0, mine["without_classes"]) else None


def outcome(mine, other):
    for what in ("crashed", "hung"):
        if what in other:
            return what
    if "refused" in other:
        return "both refuse" if "refused" in mine else "it refuses, we read"
    if "refused" in mine:
        return "we refuse, it reads"
    found = difference(mine, other)
    return "the same" if found is None else f"both read, differently: {found}"


NUMBER = rb"[-+]?[0-9.]+(e[-+]?[0-9]+)?"
# What we read in another way than others, by what a field or a line is like.
CAUSES = {
    "a blank line is no row for us": lambda fields, lines: any(not line.strip() for line in lines[:-1]) or
                                                           lines[-1] == b" ",
    "a line that begins with # is a comment for us": lambda fields, lines: any(line[:1] == b"#" for line in lines),
    "? or a field of blanks is missing for us": lambda fields, lines: any(
        field and field.strip() in (b"?", b"") for field in fields),
    "nan, NA or \"\" is missing for us": lambda fields, lines: any(
        field.strip() in (b"nan", b"NA", b'""') for field in fields),
    "1,234.5 is a number for us": lambda fields, lines: any(
        re.fullmatch(rb"\d{1,3},\d{3}(\.\d+)?", field) for field in fields),
    "blanks around a number are no part of it for us": lambda fields, lines: any(
        field != field.strip() and re.fullmatch(NUMBER, field.strip()) for field in fields),
}  # fmt: skip


def cause(content, kind):
    lines = content.split(b"\n")
    fields = [field for line in lines for field in line.rstrip(b"\r").split(b"\t" if kind == "tsv" else b",")]
    return next((name for name, holds in CAUSES.items() if holds(fields, lines)), "not explained")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tool", default="build/mfga")
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--show", type=int, default=0, help="examples of each outcome")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    parsed = parser.parse_args()
    if parsed.serve:
        serve(parsed.serve)
        return
    draw = random.Random(19)
    peers = {name: Peer(name) for name in READERS}
    counts = {name: collections.Counter() for name in peers}
    causes = {name: collections.Counter() for name in peers}
    own = collections.Counter()
    shown = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for i in range(parsed.files):
            kind = ("csv", "csv", "tsv", "libsvm")[i % 4]
            path = pathlib.Path(folder) / f"{i}.{kind}"
            path.write_bytes(mutated(base_table(draw, kind), draw))
            mine = ours(parsed.tool, str(path), kind)
            own[next((what for what in ("crashed", "hung", "refused") if what in mine), "read")] += 1
            for name, peer in peers.items():
                if (name == "scikit-learn") != (kind == "libsvm"):
                    continue
                other = peer.read(path, kind)
                what = outcome(mine, other)
                counts[name][what] += 1
                if what.startswith("both read, differently"):
                    causes[name][cause(path.read_bytes(), kind)] += 1
                shown[name, what] += 1
                if shown[name, what] <= parsed.show and what != "the same":
                    print(f"--- {name}, {i}.{kind}: {what}\n{path.read_bytes()!r}\nours:  {mine}\nother: {other}")
            path.unlink()
    print("mfga:", ", ".join(f"{what} {count}" for what, count in sorted(own.items())))
    for counters, heading in ((counts, ""), (causes, "why both read a file differently")):
        print(f"\n| {heading} | " + " | ".join(peers) + " |\n|---|" + "---|" * len(peers))
        for what in sorted({what for counter in counters.values() for what in counter}):
            print(f"| {what} | " + " | ".join(str(counters[name][what]) for name in peers) + " |")


if __name__ == "__main__":
    main()
