"""The file of results: writes it, with how far each way is ahead of adding: python3 results.py FILE rewrites FILE.

A lead is the mean of the runs with added positions minus the mean of those of another way, of the same implementation,
task and settings: above 0, that way predicts better. Its interval is Welch's, at 95 %, over all seeds of both ways: it
does not assume that the two vary alike. Paired by seed, the same runs give other intervals; docs/evidence.md has those.
"""

import json
import math
import sys
from pathlib import Path
from statistics import mean, variance

SETTINGS = ("source", "task", "steps", "rate", "quiet", "rowRate")


def write(path, file):
    """JSON with one line a source, a lead and a run."""
    head = f'{{"format": "{file["format"]}", "version": {file["version"]}'
    parts = {"sources": file["sources"], "leads": leads(file["runs"]), "runs": file["runs"]}
    lists = [f'"{name}": [\n' + ",\n".join(map(json.dumps, part)) + "]" for name, part in parts.items()]
    path.write_text(f"{head}, " + ",\n".join(lists) + "}\n")


def leads(runs):
    """Every way that has two runs or more, where adding has, too."""
    ends = {}
    for run in runs:
        settings = tuple(run.get(name, 1) for name in SETTINGS)
        ends.setdefault((settings, run["way"]), []).append(run.get("bitsPerByte", run["loss"]))
    found = []
    for (settings, way), values in ends.items():
        added = ends.get((settings, "add"), [])
        if way == "add" or min(len(values), len(added)) < 2:
            continue
        lead, margin = welch(added, values)
        compared = {"way": way, "seeds": len(values), "addedSeeds": len(added)}
        measured = {"lead": round(lead, 5), "margin": round(margin, 5)}
        found.append(dict(zip(SETTINGS, settings)) | compared | measured)
    return found


def welch(first, second):
    """The difference of two means, and half of its 95 % interval (Welch 1947; degrees of freedom by Satterthwaite)."""
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
    """P(T < t) for t >= 0: with t = sqrt(degrees) tan(a), the density is cos(a)^(degrees - 1) times a constant."""
    constant = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)) / math.sqrt(math.pi)
    end, steps = math.atan(t / math.sqrt(degrees)), 1000
    # Simpson's rule.
    values = [math.cos(end * k / steps) ** (degrees - 1) * (4 if k % 2 else 2) for k in range(1, steps)]
    return 0.5 + constant * end / steps / 3 * (1 + sum(values) + math.cos(end) ** (degrees - 1))


if __name__ == "__main__":
    write(Path(sys.argv[1]), json.loads(Path(sys.argv[1]).read_text()))
