"""The numbers of models and sentences that are drawn anew: one binary file, and a document that says where each array is in it."""

import json

import numpy as np


class Numbers:
    def __init__(self):
        self.parts, self.size = [], 0

    def store(self, values):
        """Where the array will be, counted in numbers, and its shape."""
        values = np.ascontiguousarray(values, float)
        assert np.isfinite(values).all()
        self.parts.append(values.ravel())
        self.size += values.size
        return {"at": self.size - values.size, "shape": list(values.shape)}

    def write(self, folder, name, document):
        (folder / f"{name}.bin").write_bytes(np.concatenate(self.parts).astype("<f8").tobytes())
        (folder / f"{name}.json").write_text(json.dumps(document))


def hardest_to_see(cases):
    worst = min((value, case["name"], what) for case in cases for what, value in case["wrong"].items())
    return f"{len(cases)} models; the wrong reading that is hardest to see differs by {worst[0]:.2g}: {worst[2]} in {worst[1]}"
