"""Whole fits of `mfga train` with a GPU and without, on a generated table (friedman1 and 15 columns of nothing).

    python3 bench/gpu/fits.py [--tool build/mfga] [--rows 500000] [--threads 2]
"""

import argparse
import json
import pathlib
import subprocess
import tempfile
import time

import numpy

INPUTS = 20
FITS = {
    "defaults, 200 terms": ["--terms", "200"],
    "--tune no, 200 terms": ["--terms", "200", "--tune", "no"],
    "--engine gram --ridge cv, 40 terms": [
        *("--terms", "40", "--tune", "no", "--engine", "gram", "--ridge", "cv"),
        *("--features", "linear + gaussian(order=3)"),
    ],
}


def table(rows, random):
    x = random.uniform(size=(rows, INPUTS))
    signal = 10 * numpy.sin(numpy.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3] + 5 * x[:, 4]
    return numpy.column_stack([signal + random.normal(size=rows), x])


def fit(tool, folder, threads, options, device):
    command = [tool, "train", folder / "train.npy", "--target", "0", "--test", folder / "test.npy", "--json"]
    start = time.perf_counter()
    done = subprocess.run(
        [*command, "--threads", str(threads), "--device", device, *options], check=True, capture_output=True
    )
    return time.perf_counter() - start, json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default="build/mfga")
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    random = numpy.random.default_rng(1)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        numpy.save(folder / "train.npy", table(options.rows, random))
        numpy.save(folder / "test.npy", table(50_000, random))
        for what, arguments in FITS.items():
            for device in ("cuda", "cpu"):
                seconds, report = fit(options.tool, folder, options.threads, arguments, device)
                print(
                    f"{what:36} {report.get('device', 'processor'):12} {seconds:7.2f} s, of which learning from all "
                    f"rows {report['seconds']['fit']:6.2f}; test MSE {report['test']['mse']:.10g}"
                )


if __name__ == "__main__":
    main()
