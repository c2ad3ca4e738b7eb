"""The file of results, which the page reads: where and how runs were trained, and one line a run."""

import json
import platform
from dataclasses import asdict
from pathlib import Path

import torch

import training

class Results:
    """Sources and runs, kept in a file; a run that is in it is known."""

    def __init__(self, path):
        self.path = Path(path)
        self.content = {"format": "superpose-language", "version": 1, "sources": [], "runs": []}
        if self.path.exists():
            self.content = json.loads(self.path.read_text())

    def source(self, found):
        """The index of a source, added if it is new."""
        if found not in self.content["sources"]:
            self.content["sources"].append(found)
        return self.content["sources"].index(found)

    def has(self, run):
        keys = ("source", "arm", "task", "steps", "rate", "quiet", "seed")
        return any(all(old[key] == run[key] for key in keys) for old in self.content["runs"])

    def add(self, run):
        self.content["runs"].append(run)
        write(self.path, self.content)


def write(path, content):
    """Results as JSON with one line a source and a run."""
    lines = ['{"format": "%s", "version": %d, "sources": [' % (content["format"], content["version"])]
    lines.append(",\n".join(json.dumps(source) for source in content["sources"]) + "],")
    lines.append('"runs": [\n' + ",\n".join(json.dumps(run) for run in content["runs"]) + "]}")
    path.write_text("\n".join(lines) + "\n")


def source(protocol, data, device, dtype):
    """What the file says of where runs come from."""
    on = torch.cuda.get_device_name() if device == "cuda" else f"{platform.machine()} processor"
    return {
        "by": "tools/language",
        "device": on,
        "versions": {"python": platform.python_version(), "torch": torch.__version__.split("+")[0]},
        "products": str(dtype or torch.float32).split(".")[1],
        "size": asdict(protocol.size),
        "batch": protocol.batch,
        "windows": data.windows(protocol),
        "bytesPerToken": round(data.per_token(protocol), 4),
        "corpus": {"train": data.digests[0], "valid": data.digests[1]},
        "curve": training.CURVE,
    }
