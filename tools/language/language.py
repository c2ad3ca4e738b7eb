"""Language models that differ in nothing but how position gets in: python3 language.py TEXT OUT [options].

TEXT is a folder with train.txt and valid.txt, OUT the JSON file of results, to which runs are added; a run that
is there is not trained again. README.md beside this file is the protocol.
"""

import argparse
import math
import time
from dataclasses import replace

import torch

import checks
import model
import results
import text
import training


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("text", nargs="?")
    parser.add_argument("out", nargs="?")
    parser.add_argument("--tiny", action="store_true", help="check the arms, train two layers of 32")
    parser.add_argument("--small", action="store_true", help="the smaller model, for a processor")
    parser.add_argument("--arms", default=",".join(model.ARMS), help="names, comma-separated; all by default")
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--steps", type=int)
    parser.add_argument("--rate", type=float, default=0.002)
    parser.add_argument("--quiet", type=float, default=1.0, help="position rows' size at the start, of 0.02")
    parser.add_argument("--task", choices=("causal", "masked"), default="causal")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin no arm that would end later")
    options = parser.parse_args()
    if options.tiny:
        return checks.main()
    if not options.out:
        parser.error("say where the text is and where the results go")
    train(options)


def train(options):
    protocol = training.SMALL if options.small else training.LARGE
    protocol = replace(protocol, steps=options.steps or protocol.steps, rate=options.rate)
    learn, limit = (8_000_000, 60_100_000) if options.small else (None, None)
    data = training.Data(*text.read(options.text, protocol.size.vocabulary, learn, limit))
    fast = options.device == "cuda"
    dtype = torch.bfloat16 if fast and not options.small else None
    shared = training.compiled() if fast and not options.small else None
    file, began, longest = results.Results(options.out), time.monotonic(), 0.0
    source = file.source(results.source(protocol, data, options.device, dtype))
    for arm in (model.ARMS[name] for name in options.arms.split(",")):
        wanted = {"source": source, "arm": arm.name, "task": options.task, "steps": protocol.steps}
        wanted |= {"rate": protocol.rate, "quiet": options.quiet}
        seeds = [int(seed) for seed in options.seeds.split(",")]
        seeds = [seed for seed in seeds if not file.has(wanted | {"seed": seed})]
        if not seeds:
            continue
        at = time.monotonic()
        if at - began + longest > 60 * options.minutes:
            print(f"{arm.name}: no time left")
            continue
        runs = training.Training(
            arm, protocol, seeds, data, options.device, options.task, options.quiet, shared, dtype
        )
        curve, final = runs.run(replay=fast)
        for index, seed in enumerate(seeds):
            run = wanted | {"seed": seed, "weights": runs.flat.shape[1], "loss": round(final[index], 4)}
            if options.task == "causal":
                run["bitsPerByte"] = round(final[index] / math.log(2) / data.per_token(protocol), 4)
            file.add(run | {"losses": [round(point[index], 3) for point in curve]})
        longest = max(longest, time.monotonic() - at)
        losses = [round(loss, 4) for loss in final]
        print(f"{arm.name}: {losses} in {time.monotonic() - at:.1f} s", flush=True)


if __name__ == "__main__":
    main()
