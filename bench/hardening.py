#!/usr/bin/env python3
"""What the hardening of the builds costs: the tool as it is, and one that is built without.

  python3 bench/hardening.py [--repeats 7]

Builds build/mfga and, with -DMFGA_HARDEN=OFF, build/plain/mfga, and lets them take turns at reading, learning, tuning and
predicting. What is compared are seconds of processors, of one thread, which other work on the machine disturbs least;
both must give the same bytes. The table that it prints is that of docs/robustness.md.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def build(folder, *options):
    launcher = os.environ.get("CMAKE_CXX_COMPILER_LAUNCHER", "")
    subprocess.run(["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                    f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}", "--log-level=WARNING", *options],
                   check=True, stdout=sys.stderr)  # fmt: skip
    subprocess.run(["cmake", "--build", folder, "--target", "mfga_tool"], check=True, stdout=sys.stderr)
    return folder / "mfga"


def processor_seconds(tool, arguments, folder):
    process = subprocess.Popen([tool, *arguments], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    message = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"hardening: {tool}: {message.decode()}")
    return usage.ru_utime + usage.ru_stime


def works(folder):
    """What is compared, and the file that it writes."""
    one = ["--threads", "1"]
    small = ["train", "small.csv", "--model", "m.json", *one, "--quiet"]
    return {
        "reading 100 MB of CSV": (["train", "large.csv", "--features", "linear", "--terms", "1", "--tune", "no",
                                   "--scale", "standard", "--model", "m.json", *one, "--quiet"], "m.json"),
        "learning 60 terms of 20 inputs": ([*small, "--features", "linear + gaussian(order=2)", "--terms", "60",
                                            "--tune", "no"], "m.json"),
        "tuning 10 terms": ([*small, "--features", "fourier(count=200)", "--terms", "10", "--tune", "auto"], "m.json"),
        "predicting 100 MB of CSV": (["predict", str(folder / "model.json"), "large.csv", "--output", "p.csv", *one],
                                     "p.csv"),
    }  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeats", type=int, default=7)
    parsed = parser.parse_args()
    hardened, plain = build(ROOT / "build"), build(ROOT / "build/plain", "-DMFGA_HARDEN=OFF", "-DMFGA_BUILD_TESTS=OFF")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for rows, file in ((20_000, "small.csv"), (500_000, "large.csv")):
            subprocess.run([hardened, "generate", "--rows", str(rows), "--inputs", "20", "--output", folder / file],
                           check=True, stdout=subprocess.DEVNULL)  # fmt: skip
        subprocess.run([hardened, "train", "small.csv", "--features", "linear + gaussian(order=2)", "--terms", "30",
                        "--tune", "no", "--model", "model.json", "--quiet"], check=True, cwd=folder,
                       stdout=subprocess.DEVNULL)  # fmt: skip
        print("| | seconds without | with | ratio | of the pairs |\n|---|---|---|---|---|")
        ratios = []
        for work, (arguments, output) in works(folder).items():
            seconds, results = {hardened: [], plain: []}, set()
            for _ in range(parsed.repeats):
                for tool in (plain, hardened):
                    seconds[tool].append(processor_seconds(tool, arguments, folder))
                    results.add((folder / output).read_bytes())
            if len(results) > 1:
                sys.exit(f"hardening: {work}: the results differ")
            pairs = [a / b for a, b in zip(seconds[hardened], seconds[plain], strict=True)]
            ratios.append(min(seconds[hardened]) / min(seconds[plain]))
            print(f"| {work} | {min(seconds[plain]):.2f} | {min(seconds[hardened]):.2f} | {ratios[-1]:.3f} | "
                  f"{min(pairs):.3f} to {max(pairs):.3f}, median {statistics.median(pairs):.3f} |", flush=True)  # fmt: skip
        print(f"\ngeometric mean of the ratios of the least seconds: {statistics.geometric_mean(ratios):.3f}")


if __name__ == "__main__":
    main()
