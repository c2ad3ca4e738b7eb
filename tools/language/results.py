"""Reads and writes the file of results, with the mean of every way's runs and its lead over adding.

python3 results.py FILE computes means and leads again from the runs in FILE. In the file, runs that have the
same settings are one result, which gives these settings once.

Means are over the seeds of one way with the same implementation, task and settings: of the loss at the end,
in bits per byte where that is known and otherwise in nats per token, and of every point of the curve. A lead
is the mean with added positions minus that of another way: above 0, that way predicts better. Its interval is
Welch's, at 95 %, over all seeds of both ways, which does not assume that the two vary alike. If the same runs
are paired by seed, the intervals differ; docs/evidence.md has those.
"""

import json
import math
import sys
from pathlib import Path
from statistics import mean, variance

# `start` is how a projection's matrix starts; other ways have none.
SETTINGS = ("source", "task", "steps", "rate", "quiet", "rowRate", "start")
DEFAULTS = {"rowRate": 1}
COMMON = (*SETTINGS, "way", "weights")


def read(path):
    """The file with all runs in one list, each with its settings."""
    file = json.loads(path.read_text())
    results = file.pop("results")
    file["runs"] = [
        {name: result[name] for name in COMMON if name in result} | run
        for result in results
        for run in result["runs"]
    ]
    return file


def write(path, file):
    """JSON with one line for each source and each result."""
    head = f'{{"format": "{file["format"]}", "version": {file["version"]}'
    parts = {"sources": file["sources"], "results": results(file["runs"])}
    lists = [f'"{name}": [\n' + ",\n".join(map(json.dumps, part)) + "]" for name, part in parts.items()]
    path.write_text(f"{head}, " + ",\n".join(lists) + "}\n")


def end(run):
    return run.get("bitsPerByte", run["loss"])


def results(runs):
    """The runs of every way and settings, their means and, given two runs of it and of adding, its lead."""
    groups, collected = {}, []
    for run in runs:
        settings = tuple(run.get(name, DEFAULTS.get(name)) for name in SETTINGS)
        groups.setdefault((settings, run["way"]), []).append(run)
    for (settings, way), group in groups.items():
        ends = [end(run) for run in group]
        curve = [round(mean(losses), 3) for losses in zip(*(run["losses"] for run in group))]
        result = {name: value for name, value in zip(SETTINGS, settings) if value is not None}
        result |= {"way": way, "weights": group[0]["weights"]}
        result |= {"mean": round(mean(ends), 5), "curve": curve}
        added = [end(run) for run in groups.get(((*settings[:-1], None), "add"), [])]
        if way != "add" and min(len(ends), len(added)) >= 2:
            lead, margin = welch(added, ends)
            result |= {"addedSeeds": len(added), "lead": round(lead, 5), "margin": round(margin, 5)}
        result["runs"] = [
            {name: value for name, value in run.items() if name not in COMMON} for run in group
        ]
        collected.append(result)
    return collected


def welch(first, second):
    """The difference of two means and half of its 95 % interval (Welch 1947; Satterthwaite's degrees)."""
    parts = [(variance(values) / len(values), len(values) - 1) for values in (first, second)]
    total = sum(part for part, _ in parts)
    difference = mean(first) - mean(second)
    if total == 0:
        return difference, 0.0
    degrees = total**2 / sum(part**2 / freedom for part, freedom in parts)
    return difference, student_quantile(0.975, degrees) * math.sqrt(total)


def student_quantile(probability, degrees):
    """The t that Student's distribution stays below with this probability, of 0.5 or more."""
    low, high = 0.0, 1e6
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if student_below(middle, degrees) < probability else (low, middle)
    return low


def student_below(t, degrees):
    """P(T < t) for t >= 0. At t = sqrt(degrees) tan(a) the density in a is a constant times
    cos(a)^(degrees - 1)."""
    constant = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)) / math.sqrt(math.pi)
    end, steps = math.atan(t / math.sqrt(degrees)), 1000
    # Simpson's rule.
    values = [math.cos(end * k / steps) ** (degrees - 1) * (4 if k % 2 else 2) for k in range(1, steps)]
    return 0.5 + constant * end / steps / 3 * (1 + sum(values) + math.cos(end) ** (degrees - 1))


if __name__ == "__main__":
    write(Path(sys.argv[1]), read(Path(sys.argv[1])))
