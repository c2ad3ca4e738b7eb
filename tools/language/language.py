"""Language models that differ in how position gets in: python3 language.py TEXT OUT [options].

TEXT is a folder with train.txt and valid.txt. OUT is the JSON file of results, to which runs are added; a
run that is in it already is not trained again. docs/language.md is the protocol.
"""

import argparse
import math
import platform
import time
from dataclasses import asdict, replace
from pathlib import Path

import torch

import model
import results
import text
import training


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("text")
    parser.add_argument("out", type=Path)
    parser.add_argument("--small", action="store_true", help="the smaller model, for a processor")
    parser.add_argument("--ways", default=",".join(model.WAYS), help="names, comma-separated; all by default")
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--steps", type=int)
    parser.add_argument("--rate", type=float, default=0.002)
    parser.add_argument("--quiet", type=float, default=1.0, help="position rows' size at the start, of 0.02")
    parser.add_argument(
        "--start",
        choices=model.PROJECTION_STARTS,
        default="normal",
        help="how the matrix of `project` starts; other ways have none",
    )
    parser.add_argument("--task", choices=("causal", "masked"), default="causal")
    train(parser.parse_args())


def train(options):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    protocol = training.SMALL if options.small else training.LARGE
    protocol = replace(protocol, steps=options.steps or protocol.steps, rate=options.rate)
    learn, limit = (8_000_000, 60_100_000) if options.small else (None, None)
    data = training.Data(*text.read(options.text, protocol.size.vocabulary, learn, limit))
    dtype = torch.bfloat16 if device == "cuda" and not options.small else None
    file = {"format": "superpose-language", "version": 1, "sources": [], "runs": []}
    if options.out.exists():
        file = results.read(options.out)
    this_source = source(protocol, data, device, dtype)
    if this_source not in file["sources"]:
        file["sources"].append(this_source)
    for way in (model.WAYS[name] for name in options.ways.split(",")):
        settings = {"source": file["sources"].index(this_source), "way": way.name, "task": options.task}
        settings |= {"steps": protocol.steps, "rate": protocol.rate, "quiet": options.quiet}
        if way.into == "projected":
            settings["start"] = options.start
        known = [run["seed"] for run in file["runs"] if all(run.get(key) == settings[key] for key in settings)]
        for seed in [int(seed) for seed in options.seeds.split(",")]:
            if seed in known:
                continue
            began = time.monotonic()
            run = training.Training(way, protocol, seed, data, device, options.task, options.quiet, options.start, dtype)
            curve, final = run.run()
            weights = sum(math.prod(shape) for shape in model.shapes(way, protocol.size).values())
            result = settings | {"seed": seed, "weights": weights, "loss": round(final, 4)}
            if options.task == "causal":
                result["bitsPerByte"] = round(final / math.log(2) / data.per_token(protocol), 4)
            file["runs"].append(result | {"losses": [round(loss, 3) for loss in curve]})
            results.write(options.out, file)
            print(f"{way.name}, seed {seed}: {final:.4f} in {time.monotonic() - began:.1f} s", flush=True)


def source(protocol, data, device, dtype):
    """Where runs come from, for the file of results."""
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


if __name__ == "__main__":
    main()
