"""Trains runs of one arm, a seed each, as one model."""

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
    decay: float = 0.1
    betas: tuple = (0.9, 0.95)
    clip: float = 1.0


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
        there = (len(self.valid) - 1) // protocol.size.length
        return min(protocol.windows, there // protocol.batch * protocol.batch)

    def per_token(self, protocol):
        """Bytes a token, mean over those whose loss is evaluated."""
        count = self.windows(protocol) * protocol.size.length
        return int(self.bytes[self.valid[1 : count + 1]].sum()) / count


def rates(protocol):
    """The rate of every step: 2 % of them linearly up, then half a cosine down to a tenth."""
    warm = max(1, round(0.02 * protocol.steps))
    found = []
    for step in range(protocol.steps):
        past = max(0.0, (step - warm) / max(1, protocol.steps - warm))
        down = 0.1 + 0.9 * (1 + math.cos(math.pi * past)) / 2
        found.append(protocol.rate * min(1.0, (step + 1) / warm) * down)
    return torch.tensor(found)


def windows_of(protocol, seed, tokens):
    """Where each step's windows begin, (steps, batch): every window once before any comes again."""
    length, needed = protocol.size.length, protocol.steps * protocol.batch
    random, found = model.generator(seed, "windows"), []
    count = (tokens - 1) // length - 1
    for _ in range(-(-needed // count)):
        shift = torch.randint(length, (1,), generator=random)
        found.append(shift + length * torch.randperm(count, generator=random))
    return torch.cat(found)[:needed].view(protocol.steps, protocol.batch)


def adamw(weights, gradients, first, second, decay, rate, count, clip, betas):
    """One step of AdamW on all weights of all seeds, (S, P) each, gradients clipped seed by seed."""
    norm = gradients.norm(dim=1, keepdim=True)
    gradients = gradients * torch.clamp(clip / (norm + 1e-6), max=1.0)
    first = betas[0] * first + (1 - betas[0]) * gradients
    second = betas[1] * second + (1 - betas[1]) * gradients * gradients
    mean = first / (1 - betas[0] ** count)
    size = (second / (1 - betas[1] ** count)).sqrt() + 1e-8
    return weights * (1 - rate * decay) - rate * mean / size, first, second


class Training:
    """Runs of one arm, a seed each, trained as one model. On a GPU a step is recorded once and replayed."""

    def __init__(self, arm, protocol, seeds, data, device, task="causal", quiet=1.0, shared=None, dtype=None):
        self.protocol, self.task, self.device, self.seeds = protocol, task, device, seeds
        self.text = torch.from_numpy(data.train.astype(numpy.int32)).to(device)
        self.held = torch.from_numpy(data.valid.astype(numpy.int64)).to(device)
        self.windows = data.windows(protocol)
        self.model = model.Decoder(arm, protocol.size, device, dtype, task == "causal", shared and shared[:4])
        self.adamw = shared[4] if shared else adamw
        start = model.starts(arm, protocol.size, seeds, quiet)
        self.flat = torch.cat([w.flatten(1) for w in start.values()], 1).to(device)
        self.weights, decay, at = {}, [], 0
        for name, w in start.items():
            count = w[0].numel()
            self.weights[name] = self.flat[:, at : at + count].view(w.shape).requires_grad_()
            decay.append(torch.full((count,), protocol.decay if name.endswith("matrix") else 0.0))
            at += count
        self.decay = torch.cat(decay).to(device)
        self.first, self.second = torch.zeros_like(self.flat), torch.zeros_like(self.flat)
        self.plan = torch.stack([windows_of(protocol, s, len(data.train)) for s in seeds], 1).to(device)
        self.rates = rates(protocol).to(device)
        self.step = torch.zeros(1, dtype=torch.int64, device=device)
        self.places = torch.arange(protocol.size.length + 1, device=device)

    def losses(self, windows, hidden):
        """Losses (S, B, T) of windows (S, B, T + 1): of the next token, or of hidden ones, 0 elsewhere."""
        ids = windows[..., :-1]
        if hidden is None:
            return self.model.loss(self.weights, ids, windows[..., 1:])
        return self.model.loss(self.weights, ids.masked_fill(hidden, text.MASK), ids) * hidden

    def advance(self):
        """One step of training."""
        begins = self.plan.index_select(0, self.step)[0]
        windows = self.text[begins[..., None] + self.places].long()
        hidden = None
        if self.task == "masked":
            hidden = torch.rand(windows[..., :-1].shape, device=self.device) < HIDDEN
        loss = self.losses(windows, hidden)
        mean = loss.mean((1, 2)) if hidden is None else loss.sum((1, 2)) / hidden.sum((1, 2))
        gradients = torch.autograd.grad(mean.sum(), list(self.weights.values()))
        with torch.no_grad():
            gradients = torch.cat([g.flatten(1) for g in gradients], 1)
            rate = self.rates.index_select(0, self.step)
            self.step += 1
            clip, betas = self.protocol.clip, self.protocol.betas
            moments = (self.first, self.second, self.decay)
            moved = self.adamw(self.flat, gradients, *moments, rate, self.step, clip, betas)
            for old, new in zip((self.flat, self.first, self.second), moved):
                old.copy_(new)

    def recorded(self):
        """`advance` as a CUDA graph, with everything as it was before."""
        states = (self.flat, self.first, self.second, self.step)
        kept = [state.clone() for state in states]
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                self.advance()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.advance()
        with torch.no_grad():
            for state, old in zip(states, kept):
                state.copy_(old)
        return graph.replay

    def held_out(self, windows):
        """Mean loss of each seed, in nats a token, over the first windows of the held-out text."""
        length, batch, seeds = self.protocol.size.length, self.protocol.batch, self.flat.shape[0]
        total, count = torch.zeros(seeds, dtype=torch.float64, device=self.device), 0
        # What was compiled for training is used again: compiling it without gradients would take longer.
        with torch.set_grad_enabled(self.device == "cuda"):
            for begin in range(0, windows, batch):
                begins = length * torch.arange(begin, begin + batch, device=self.device)
                ids = self.held[begins[:, None] + self.places].repeat(seeds, 1, 1)
                hidden = None
                if self.task == "masked":
                    draw = torch.rand(ids[0, :, :-1].shape, generator=model.generator(begin, "hidden"))
                    hidden = (draw < HIDDEN).to(self.device).expand(seeds, -1, -1)
                loss = self.losses(ids, hidden)
                total += loss.detach().double().sum((1, 2))
                count = count + (loss[0].numel() if hidden is None else hidden[0].sum())
        return (total / count).tolist()

    def run(self, replay=False):
        """Trains; returns a curve's losses and the losses at the end, each a list by seed."""
        steps, curve = self.protocol.steps, []
        advance = self.recorded() if replay else self.advance
        points = {round(share * steps) for share in CURVE}
        for step in range(1, steps + 1):
            advance()
            if step in points:
                curve.append(self.held_out(min(self.protocol.curve_windows, self.windows)))
                print(f"  step {step}: {[round(loss, 3) for loss in curve[-1]]}", flush=True)
        return curve, self.held_out(self.windows)


def compiled():
    """What all arms share, fused for a GPU."""
    return [torch.compile(function, dynamic=False) for function in (*model.SHARED, adamw)]
