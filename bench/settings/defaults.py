"""`mfga train` with its defaults beside gradient boosted trees, as they come and tuned: errors and times.

A run with number i has split i of a table, or its last one with seed i. All cores are for everybody. Tuned trees take
longest and do not depend on us: they are kept from run to run, in tuned_trees.json of the output folder. What each split
gave is in defaults.md there, as in docs/ours.md.
"""

import json
import resource
import statistics
import time

from harness import Row, at_most, say
from process import RunError

PARTS_OF_A_FIT = ("prepare", "validate", "tune", "score", "fit")
FEW_RUNS = 3
MOST_OF_UNTUNED = 3  # times the trees, with --tune no
# (table, terms): times the trees' seconds, and the error.
TARGETS = {
    ("year", 40): (8, 4.00),
    ("year", 400): (25, 3.98),
    ("news", 20): (12, 0.0661),
    ("adult", 100): (12, 12.75),
    ("adult a9a", 100): (4, 14.95),
    ("epileptic", 20): (12, 2.9),
    ("epileptic by recording", 20): (12, 2.8),
    ("letter", 400): (10, 4.1),
    ("digits", 200): (10, 2.0),
    ("friedman1 100k", 100): (10, None),
    ("friedman1 1M", 40): (5, None),
}
# Of a group of tables: the median of the times, and of the error relative to tuned trees.
TARGETS_OF_GROUPS = {"other": (15, 0.95), "rules": (12, 0.97), "classes": (10, 1.0)}


class KeptTrees:
    """Errors and seconds of tuned trees that were computed before."""

    def __init__(self, bench):
        self.bench = bench
        self.file = bench.out / "tuned_trees.json"
        self.known = json.loads(self.file.read_text()) if self.file.exists() else {}

    def get(self, table, split, pickle):
        """Nothing if they are neither known nor wanted."""
        key = f"{table}, split {split}"
        if key not in self.known and self.bench.tuned_trees:
            self.known[key] = self.bench.child("default_tables", "trees", table=table, pickle=pickle, tuned=True)
            self.file.parent.mkdir(parents=True, exist_ok=True)
            self.file.write_text(json.dumps(self.known, indent=1))
        return self.known.get(key)


def children_cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def train(bench, split, options):
    """One model: the seconds of the fit as they are reported, those of the command, and the error on the test rows."""
    model = bench.folder / "model.json"
    start, cpu_start = time.perf_counter(), children_cpu_seconds()
    report = json.loads(bench.mfga("train", *split["train"], *options, "--json", "--quiet", "--model", model))
    command, cpu = time.perf_counter() - start, children_cpu_seconds() - cpu_start
    metrics = json.loads(bench.mfga("evaluate", model, *split["test"], "--json"))["metrics"]
    return {
        "seconds": sum(report["seconds"].get(part, 0) for part in PARTS_OF_A_FIT),
        "command_seconds": command,
        "cpu_seconds": cpu,
        "peak_mib": report["peak_rss_mib"],
        "error": split["unit"] * metrics[split["metric"]],
        "features": report.get("features"),
        "tuned": (report.get("tuning") or {}).get("used"),
    }


def mean(runs, key):
    return statistics.fmean(run[key] for run in runs)


def ratio(ours, theirs):
    return ours / theirs if theirs > 0 else (1.0 if ours == 0 else float("inf"))


def cpu_ratio(runs):
    """Of the processor time of the whole command to that of trees on one thread: says more on a busy machine."""
    return ratio(mean(runs["ours"], "cpu_seconds"), mean(runs["trees"], "cpu_seconds"))


def rows_of(table, terms, runs, title):
    """The lines of a table: `runs` has by the name of a method what each split gave."""
    times, error = TARGETS.get((table, terms), (None, None))
    ours, trees, untuned = runs["ours"], runs["trees"], runs["untuned"]
    name = f"{table}, {terms} terms"
    mine = Row(f"{name}: mfga", [run["seconds"] for run in ours], max(run["peak_mib"] for run in ours))
    mine.measured = ratio(mean(ours, "seconds"), mean(trees, "seconds"))
    mine.target = at_most(times) if times else None
    mine.answer = (
        f"{title} {mean(ours, 'error'):.4g}; of trees' time; command {mean(ours, 'command_seconds'):.2f} s, "
        f"CPU {mean(ours, 'cpu_seconds'):.2f} s, {cpu_ratio(runs):.1f} times that of trees on one thread; "
        f"tuned in {sum(bool(run['tuned']) for run in ours)} of {len(ours)}"
    )
    plain = Row(f"{name}: mfga --tune no", [run["seconds"] for run in untuned])
    plain.measured = ratio(mean(untuned, "seconds"), mean(trees, "seconds"))
    plain.target = at_most(MOST_OF_UNTUNED)
    plain.answer = f"{title} {mean(untuned, 'error'):.4g}; of trees' time"
    peer = Row(f"{name}: trees", [run["seconds"] for run in trees], answer=f"{title} {mean(trees, 'error'):.4g}")
    rows = [mine, plain, peer]
    if error:
        rows.append(Row(f"{name}: error", measured=mean(ours, "error"), unit="", target=at_most(error, ""), answer=title))
    if runs["tuned trees"]:
        tuned = runs["tuned trees"]
        rows.append(Row(f"{name}: tuned trees", [run["seconds"] for run in tuned]))
        rows[-1].measured = ratio(mean(ours, "error"), mean(tuned, "error"))
        rows[-1].target = at_most(1) if table.startswith("friedman1 1") else None
        rows[-1].answer = f"{title} {mean(tuned, 'error'):.4g}; our error relative to theirs"
    return rows


def group_rows(group, results):
    """Medians over the tables of a group."""
    times, errors = TARGETS_OF_GROUPS[group]
    of_times = [ratio(mean(runs["ours"], "seconds"), mean(runs["trees"], "seconds")) for runs in results]
    rows = [Row(f"{group}, median of {len(results)}: time", measured=statistics.median(of_times), target=at_most(times))]
    rows[0].answer = f"of CPU seconds, trees on one thread: {statistics.median(map(cpu_ratio, results)):.1f}"
    compared = [runs for runs in results if runs["tuned trees"]]
    if compared:
        ratios = [ratio(mean(runs["ours"], "error"), mean(runs["tuned trees"], "error")) for runs in compared]
        rows.append(Row(f"{group}, median of {len(ratios)}: error relative to tuned trees"))
        rows[-1].measured, rows[-1].target = statistics.median(ratios), at_most(errors)
        rows[-1].answer = f"largest {max(ratios):.3f}"
    return rows


def digits(value):
    return f"{value:.4g}"


def markdown_line(table, terms, runs, title):
    ours, trees, tuned, untuned = (runs[name] for name in ("ours", "trees", "tuned trees", "untuned"))
    seconds = mean(trees, "seconds")
    cells = [
        table,
        terms,
        title,
        digits(mean(ours, "error")),
        ", ".join(digits(run["error"]) for run in ours),
        digits(mean(trees, "error")),
        digits(mean(tuned, "error")) if tuned else "",
        f"{ratio(mean(ours, 'error'), mean(tuned, 'error')):.3f}" if tuned else "",
        f"{mean(ours, 'seconds'):.1f}",
        f"{ratio(mean(ours, 'seconds'), seconds):.1f}",
        f"{cpu_ratio(runs):.1f}",
        digits(mean(untuned, "error")),
        f"{ratio(mean(untuned, 'seconds'), seconds):.1f}",
        f"{max(run['peak_mib'] for run in ours):.0f}",
    ]
    return "| " + " | ".join(map(str, cells)) + " |"


def as_markdown(lines):
    head = (
        "table | terms | measure | ours | each split or seed | trees | tuned trees | ours / tuned trees | seconds | "
        "times trees | CPU | `--tune no` | times trees | peak MiB"
    )
    return "\n".join([f"| {head} |", "| --- " * (head.count("|") + 1) + "|", *lines]) + "\n"


def chosen(bench, tables):
    wanted = bench.tables
    if wanted is None:
        return [table for table in tables if not bench.quick or table[1] in ("diabetes", "friedman1")]
    unknown = set(wanted) - {name for _, name, _ in tables} - {group for group, _, _ in tables}
    if unknown:
        raise RunError(f"there is no table {unknown.pop()!r}; there are: {', '.join(name for _, name, _ in tables)}")
    return [(group, name, terms) for group, name, terms in tables if name in wanted or group in wanted]


def run(bench):
    n_runs = bench.splits or (1 if bench.quick else FEW_RUNS)
    kept = KeptTrees(bench)
    rows, by_group, lines = [], {}, []
    for group, table, terms_list in chosen(bench, bench.child("default_tables", "tables")["tables"]):
        if group in ("paper", "rules", "classes") and bench.data is None:
            rows.append(Row(table, note="its file is not there (MFGA_DATA)"))
            continue
        results = {terms: {"ours": [], "untuned": [], "trees": [], "tuned trees": []} for terms in terms_list}
        title = ""
        for number in range(n_runs):
            pickle = str(bench.folder / "split.pickle")
            split = bench.child(
                "default_tables",
                "make_split",
                table=table,
                number=number,
                data=str(bench.data),
                folder=str(bench.folder),
                pickle=pickle,
            )
            title = split["title"]
            trees = bench.child("default_tables", "trees", table=table, pickle=pickle, tuned=False)
            tuned = kept.get(table, split["split"], pickle)
            for terms in terms_list:
                options = [*split["options"][str(terms)], "--seed", number]
                ours = train(bench, split, [*options, *bench.train_options])
                untuned = train(bench, split, [*options, "--tune", "no"])
                runs = results[terms]
                runs["ours"].append(ours)
                runs["untuned"].append(untuned)
                runs["trees"].append(trees)
                if tuned:
                    runs["tuned trees"].append(tuned)
                beside = f", tuned trees {tuned['error']:.5g}" if tuned else ""
                say(
                    f"   {table}, {terms} terms, run {number}: {ours['error']:.5g} in {ours['seconds']:.2f} s "
                    f"(CPU {ours['cpu_seconds']:.1f}, {ours['peak_mib']:.0f} MiB, tuned {ours['tuned']}), "
                    f"untuned {untuned['error']:.5g} in {untuned['seconds']:.2f} s; "
                    f"trees {trees['error']:.5g} in {trees['seconds']:.2f} s (CPU {trees['cpu_seconds']:.2f}){beside}"
                )
        for terms in terms_list:
            rows += rows_of(table, terms, results[terms], title)
            lines.append(markdown_line(table, terms, results[terms], title))
            if (table, terms) not in TARGETS:  # what has a goal of its own is not in the median
                by_group.setdefault(group, []).append(results[terms])
    for group in TARGETS_OF_GROUPS:
        if len(by_group.get(group, [])) > 1:
            rows += group_rows(group, by_group[group])
    bench.out.mkdir(parents=True, exist_ok=True)
    (bench.out / "defaults.md").write_text(as_markdown(lines))
    return rows
