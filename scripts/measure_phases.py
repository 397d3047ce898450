#!/usr/bin/env python3
"""Measures the phases of a frame without a GPU and prints docs/BENCHMARKS.md's table.

    cargo build --release && scripts/measure_phases.py

Each cell is the median over the repeats of the median over the frames. Options go to the program
in front: --prefix "chrt -f 10" keeps other programs of a shared machine away (as root).
"""

import argparse
import json
import os
import pathlib
import shlex
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
ROWS = ("cull", "gate", "record", "execute", "serial", "gather", "frame")


def run(options, count, threads, extra):
    command = shlex.split(options.prefix) + [
        str(options.program), "--no-render", "--playback", options.playback,
        "--character", "humanoid", "--count", str(count), "--threads", str(threads),
        "--frames", str(options.frames), "--update-rate", "off", "--skeleton-lod", "off",
        *extra,
    ]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


def medians(text):
    """The p50 column of the table that the program prints, in milliseconds."""
    rows = {}
    for line in text.splitlines():
        words = line.split()
        if words and words[0] in ROWS:
            rows[words[0]] = float(words[1])
    return rows


def report(options, count, threads):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "report.json"
        run(options, count, threads, ["--report", str(path)])
        return json.loads(path.read_text())


def mebibytes(count):
    return f"{count / 2**20:.1f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=pathlib.Path, default=TARGET / "release" / "throng")
    parser.add_argument("--counts", type=int, nargs="+", default=[1000, 5000, 20000])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--frames", type=int, default=300)
    parser.add_argument("--playback", choices=("simple", "graph"), default="simple")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--prefix", default="", help="a command to run the program with")
    options = parser.parse_args()

    columns = [(c, t) for c in options.counts for t in options.threads]
    runs = {column: [] for column in columns}
    # In turns, so that what changes on the machine meanwhile meets all of them.
    for _ in range(options.repeats):
        for column in columns:
            runs[column].append(medians(run(options, *column, [])))
    cells = {
        column: {row: statistics.median(r[row] for r in runs[column]) for row in ROWS}
        for column in columns
    }
    reports = {count: report(options, count, max(options.threads)) for count in options.counts}

    one = reports[options.counts[0]]
    print(f"{one['machine']['cpu']}, SIMD {one['machine']['simd']}; milliseconds\n")
    names = [f"{c:,} on {t}" for c, t in columns]
    print("| characters on threads | " + " | ".join(names) + " |")
    print("|---|" + "--:|" * len(columns))
    for row in ROWS:
        print(f"| {row} | " + " | ".join(f"{cells[c][row]:.3f}" for c in columns) + " |")
    evaluated = {c: reports[c]["crowd"]["evaluated"]["mean"] for c in options.counts}
    shown = [f"{evaluated[c]:,.0f}" for c, _ in columns]
    print("| characters evaluated | " + " | ".join(shown) + " |")
    each = [f"{cells[c]['execute'] * 1e6 / evaluated[c[0]]:,.0f}" for c in columns]
    print("| execute, ns per evaluated character | " + " | ".join(each) + " |")

    print("\n| characters | columns, MiB | palettes, MiB | pose buffers, KiB | program's peak, MiB |")
    print("|---|--:|--:|--:|--:|")
    for count in options.counts:
        memory = reports[count]["memory"]
        pool = f"{memory['pose_pool_bytes'] / 1024:.0f}"
        columns_mib, palettes = (mebibytes(memory[k]) for k in ("character_bytes", "palette_bytes"))
        peak = mebibytes(memory["resident_peak_bytes"])
        print(f"| {count:,} | {columns_mib} | {palettes} | {pool} | {peak} |")


if __name__ == "__main__":
    main()
