"""Writes an oracle's numbers as JSON beside the script that computed them.

Numbers are printed either exactly, so that they read back bit for bit (`digits=None`),
or rounded to a number of significant digits. A case takes one line, so a change in a case is a change in one line.
"""

import json
from pathlib import Path

import numpy as np


def _plain(value, digits):
    """Arrays become lists, numpy scalars become numbers, -0.0 becomes 0.0."""
    if isinstance(value, dict):
        return {key: _plain(item, digits) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist(), digits)
    if isinstance(value, (list, tuple)):
        return [_plain(item, digits) for item in value]
    if isinstance(value, np.generic):
        return _plain(value.item(), digits)
    if isinstance(value, float):
        if not np.isfinite(value):
            raise ValueError(f"{value} has no place in JSON: write null and say why")
        return (value if digits is None else float(f"{value:.{digits}g}")) + 0.0
    return value


def _compact(value):
    return json.dumps(value, separators=(",", ":"))


def _text(document):
    lines = []
    for key, value in document.items():
        if isinstance(value, list) and any(isinstance(item, dict) for item in value):
            text = "[\n" + ",\n".join(map(_compact, value)) + "\n]"
        elif isinstance(value, dict) and any(isinstance(item, dict) for item in value.values()):
            text = "{\n" + ",\n".join(f"{_compact(name)}:{_compact(item)}" for name, item in value.items()) + "\n}"
        else:
            text = _compact(value)
        lines.append(f"{_compact(key)}:{text}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def write_beside(script, document, digits=None):
    """Writes `document` to the script's own name with the ending .json."""
    path = Path(script).with_suffix(".json")
    path.write_text(_text(_plain(document, digits)), encoding="ascii")
    print(f"{path.name}: {path.stat().st_size} bytes")
