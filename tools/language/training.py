"""Trains one run: a model of one way, from one seed."""

import math
from dataclasses import dataclass

import numpy
import torch

import model
import text

CURVE = [0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8]
HIDDEN = 0.3


@dataclass(frozen=True)
class Protocol:
    size: model.Size
    batch: int
    steps: int
    windows: int
    curve_windows: int = 256
    rate: float = 0.002


LARGE = Protocol(model.LARGE, batch=32, steps=3000, windows=3136)
SMALL = Protocol(model.SMALL, batch=16, steps=2000, windows=1600)


@dataclass
class Data:
    """Tokens, uint16; bytes of each token of the vocabulary; digests of the two files of text."""

    train: numpy.ndarray
    valid: numpy.ndarray
    bytes: numpy.ndarray
    digests: list

    def windows(self, protocol):
        """How many windows of the held-out text are evaluated: whole batches."""
        count = (len(self.valid) - 1) // protocol.size.length
        return min(protocol.windows, count // protocol.batch * protocol.batch)

    def per_token(self, protocol):
        """Mean bytes per token, over the tokens whose loss is evaluated."""
        count = self.windows(protocol) * protocol.size.length
        return int(self.bytes[self.valid[1 : count + 1]].sum()) / count


def share(step, steps):
    """A step's rate over the protocol's: linearly up for 2 % of the steps, then half a cosine to a tenth."""
    warm = max(1, round(0.02 * steps))
    past = max(0.0, (step - warm) / max(1, steps - warm))
    return min(1.0, (step + 1) / warm) * (0.1 + 0.9 * (1 + math.cos(math.pi * past)) / 2)


def windows_of(protocol, seed, tokens):
    """Where each step's windows begin, (steps, batch): every window once before any comes again."""
    length, needed = protocol.size.length, protocol.steps * protocol.batch
    random, begins = model.generator(seed, "windows"), []
    count = (tokens - 1) // length - 1
    for _ in range(-(-needed // count)):
        shift = torch.randint(length, (1,), generator=random)
        begins.append(shift + length * torch.randperm(count, generator=random))
    return torch.cat(begins)[:needed].view(protocol.steps, protocol.batch)


class Training:
    """A run. `start` is how a projection starts; `dtype` is that of products on a GPU, while weights,
    normalization and stream stay float32."""

    def __init__(
        self, way, protocol, seed, data, device, task="causal", quiet=1.0, start="normal", dtype=None
    ):
        self.way, self.protocol, self.seed, self.data = way, protocol, seed, data
        self.device, self.task, self.start, self.dtype = device, task, start, dtype
        weights = model.starts(way, protocol.size, seed, quiet, start)
        self.weights = {name: w.to(device) for name, w in weights.items()}

    def losses(self, tokens, begins, random):
        """Losses (B, T) of next or hidden tokens in the windows at `begins`, and how many of them count."""
        places = torch.arange(self.protocol.size.length + 1)
        windows = tokens[(begins[:, None] + places).numpy()].astype(numpy.int64)
        windows = torch.from_numpy(windows).to(self.device)
        ids, targets, weigh = windows[:, :-1], windows[:, 1:], None
        if self.task == "masked":
            weigh = (torch.rand(ids.shape, generator=random) < HIDDEN).to(self.device)
            ids, targets = ids.masked_fill(weigh, text.MASK), ids
        with torch.autocast(self.device, self.dtype, enabled=self.dtype is not None):
            size, causal = self.protocol.size, self.task == "causal"
            loss = model.losses(self.way, size, self.weights, ids, targets, causal)
        return (loss, loss.numel()) if weigh is None else (loss * weigh, weigh.sum())

    def held_out(self, windows):
        """Mean loss in nats per token over the first windows of the held-out text."""
        total, count, batch = 0.0, 0, self.protocol.batch
        with torch.no_grad():
            for begin in range(0, windows, batch):
                begins = self.protocol.size.length * torch.arange(begin, begin + batch)
                loss, counted = self.losses(self.data.valid, begins, model.generator(begin, "hidden"))
                total, count = total + loss.double().sum().item(), count + int(counted)
        return total / count

    def run(self):
        """Trains; returns the losses of the curve and the loss at the end."""
        protocol, curve = self.protocol, []
        trained = {k: self.weights[k].requires_grad_() for k in model.shapes(self.way, protocol.size)}
        decaying = [w for name, w in trained.items() if model.decays(name, self.start)]
        others = [w for name, w in trained.items() if not model.decays(name, self.start)]
        groups = [{"params": decaying, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
        optimizer = torch.optim.AdamW(groups, protocol.rate, (0.9, 0.95))
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: share(step, protocol.steps))
        points = {round(part * protocol.steps) for part in CURVE}
        random = model.generator(self.seed, "hidden")
        for step, begins in enumerate(windows_of(protocol, self.seed, len(self.data.train)), 1):
            loss, counted = self.losses(self.data.train, begins, random)
            optimizer.zero_grad()
            (loss.sum() / counted).backward()
            torch.nn.utils.clip_grad_norm_(trained.values(), 1.0)
            optimizer.step()
            schedule.step()
            if step in points:
                curve.append(self.held_out(min(protocol.curve_windows, self.data.windows(protocol))))
                print(f"  step {step}: {curve[-1]:.3f}", flush=True)
        return curve, self.held_out(self.data.windows(protocol))
