"""Writes an oracle's numbers as JSON beside the script that computed them.

Numbers are printed either exactly, so that they read back bit for bit (`digits=None`),
or rounded to a number of significant digits. A row of numbers takes one line,
so a change in one value is a change in one line.
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


def _text(value, indent):
    inner = " " * (indent + 1)
    if isinstance(value, dict) and value:
        items = (f"{inner}{json.dumps(key)}: {_text(item, indent + 1)}" for key, item in value.items())
        return "{\n" + ",\n".join(items) + "\n" + " " * indent + "}"
    if isinstance(value, list) and any(isinstance(item, (dict, list)) for item in value):
        return "[\n" + ",\n".join(inner + _text(item, indent + 1) for item in value) + "\n" + " " * indent + "]"
    return json.dumps(value, separators=(",", ":"))


def write_beside(script, document, digits=None):
    """Writes `document` to the script's own name with the ending .json."""
    path = Path(script).with_suffix(".json")
    path.write_text(_text(_plain(document, digits), 0) + "\n", encoding="ascii")
    print(f"{path.name}: {path.stat().st_size} bytes")
