"""What the agent adds to the start of a Python process that never imports torch: pairs of starts, with and without,
CPU time of the process (what other processes of the machine do changes its wall time more than we do).

    /usr/bin/python3 bench/python_start.py [PAIRS]

Prints the median difference of the pairs and its 95 % interval (from the order statistics: no shape is assumed).
"""
import math
import os
import pathlib
import shutil
import statistics
import sys
import tempfile

SITE = pathlib.Path(__file__).resolve().parents[1] / "python" / "gradwatt" / "agent" / "site"


def start_ms(environment, code):
    child = os.posix_spawn(sys.executable, [sys.executable, "-c", code], environment)
    _, status, usage = os.wait4(child, 0)
    if status != 0:
        sys.exit("python failed with status %d" % status)
    return (usage.ru_utime + usage.ru_stime) * 1e3


def interval(values):
    """Distribution-free 95 % interval of the median."""
    ordered, n = sorted(values), len(values)
    reach = 1.96 * math.sqrt(n) / 2
    return ordered[max(0, math.floor(n / 2 - reach))], ordered[min(n - 1, math.ceil(n / 2 + reach))]


def measure(name, code, pairs, marks):
    plain = {key: value for key, value in os.environ.items() if key not in ("GRADWATT_MARKS", "PYTHONPATH")}
    agent = dict(plain, GRADWATT_MARKS=marks, PYTHONPATH=str(SITE))
    start_ms(plain, code), start_ms(agent, code)  # byte code and page cache
    differences, base = [], []
    for number in range(pairs):
        order = (plain, agent) if number % 2 else (agent, plain)
        times = {id(environment): start_ms(environment, code) for environment in order}
        base.append(times[id(plain)])
        differences.append(times[id(agent)] - times[id(plain)])
    low, high = interval(differences)
    print(
        "%-28s plain %6.2f ms, agent adds %.2f ms (95 %% interval %.2f to %.2f, %d pairs)"
        % (name, statistics.median(base), statistics.median(differences), low, high, pairs)
    )


def main():
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    marks = tempfile.mkdtemp(prefix="gw-bench-")
    try:
        measure("python3 -c pass", "pass", pairs, marks)
        measure("with 60 standard modules", "import json, http.client, email, logging, unittest, sqlite3", pairs, marks)
    finally:
        shutil.rmtree(marks)


main()
