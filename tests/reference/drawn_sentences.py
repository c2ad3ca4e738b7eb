"""Sentences drawn from MiniLM's vocabulary, and what depth.py's functions compute for them at every layer.

    python3 tests/reference/drawn_sentences.py SEED COUNT FOLDER

writes FOLDER/drawn.json and, beside it, drawn.bin: float64 in the machine's byte order, one array after
another. In the JSON an array is {"at", "shape"}, with `at` counted in numbers. Nothing is committed:
tests/api/model/layersOracle.test.ts draws anew.

A sentence has as many whole pieces as its length allows. Most are words, with marks and numbers between
them; a piece that continues a word is joined to the one before it. The shortest, of one token, is [CLS] by
its id.

Per sentence: states [L + 1, n, d], logits and attention [L, H, n, n], embedding [d], the chosen heads [L, k],
and their canonical terms [L, k, parts^2, n, n] in depth.py's three ways. `mean` exists up to 31 tokens; its
corpus is the drawn sentences themselves. From three tokens on, the embeddings [4, L + 1, d] without positions here or
there, by copied attention (values.py).
"""

import json
import sys
from pathlib import Path

import numpy as np

from depth import INNER, LAYERS, canonical_parts, mean_decomposition, minilm
from drawn_numbers import Numbers
from encoder import CONSTANT, decomposed, embedding_rows, forward, terms_of
from minilm import HEADS, PACKAGE, WIDTH, read_safetensors, tokenize
from values import by_copies

# Lengths take turns, so that even a few sentences include short and long ones.
LENGTHS = [(1, 2), (3, 8), (9, 16), (17, 31), (32, 64)]
# A long sentence has too many terms for all heads.
SHORT, SOME_HEADS = 16, 3


def drawn_text(rng, length, tokenizer, pieces):
    """A text of `length` tokens, including [CLS] and [SEP]."""
    text = ""
    while (count := len(tokenize(text, tokenizer)[1])) < length:
        piece = pieces[rng.integers(len(pieces))]
        longer = text + piece[2:] if piece.startswith("##") else f"{text} {piece}".lstrip()
        if count < len(tokenize(longer, tokenizer)[1]) <= length:
            text = longer
    return text


def mean_parts(state, mu, position):
    parts = np.zeros((CONSTANT + 1, *state.shape))
    parts[0, 1:] = position[: len(state) - 1]
    parts[CONSTANT] = mu
    parts[1] = state - parts.sum(axis=0)
    return canonical_parts(parts, [0], np.ones(len(state)))[[0, 1, CONSTANT]]


def main():
    seed, count, folder = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    rng = np.random.default_rng(seed)
    tensors = read_safetensors(PACKAGE / "model/model.fp16.safetensors")
    tokenizer = json.loads((PACKAGE / "model/tokenizer.json").read_text(encoding="utf-8"))
    vocabulary = tokenizer["model"]["vocab"]
    pieces = [piece for piece in vocabulary if not piece.startswith("[")]
    model = minilm(tensors)

    numbers = Numbers()
    array = numbers.store
    drawn = []
    for place in range(count):
        least, most = LENGTHS[place % len(LENGTHS)]
        length = int(rng.integers(least, most + 1))
        text = None if length == 1 else drawn_text(rng, length, tokenizer, pieces)
        drawn.append((text, [vocabulary["[CLS]"]] if text is None else tokenize(text, tokenizer)[1]))

    corpus = [(text, ids) for text, ids in drawn if text is not None]
    found, mu, position = mean_decomposition(model, [ids for _, ids in corpus])

    sentences = []
    for text, ids in drawn:
        n = len(ids)
        rows = embedding_rows(model, ids)
        run = forward(model, rows)
        some = HEADS if n <= SHORT else SOME_HEADS
        heads = np.array([np.sort(rng.permutation(HEADS)[:some]) for _ in range(LAYERS)])
        ways = {way: decomposed(model, rows, run, [0], way) for way in ("direct", "streams")}
        if n <= INNER + 1:
            ways["mean"] = [mean_parts(run["states"][i], mu[i], position[i]) for i in range(LAYERS)]
        terms = {}
        for way, layers in ways.items():
            of_layers = [terms_of(model, number, parts) for number, parts in enumerate(layers)]
            for term, logits in zip(of_layers, run["logits"]):
                assert np.abs(term.sum(axis=1) - logits).max() < 1e-9
            terms[way] = array([term[chosen] for term, chosen in zip(of_layers, heads)])
        sentences.append(
            {
                "taken": array(list(by_copies(model, rows).values())) if n > 2 else None,
                "text": text,
                "ids": ids,
                "states": array(run["states"]),
                "logits": array(run["logits"]),
                "attention": array(run["attention"]),
                "embedding": array(run["embedding"]),
                "heads": heads.tolist(),
                "terms": terms,
            }
        )

    document = {
        "width": WIDTH,
        "layers": LAYERS,
        "windows": found["windows"],
        "mean": array(mu),
        "position": array(position),
        "sentences": sentences,
    }
    numbers.write(folder, "sentences", document)
    lengths = " ".join(str(len(ids)) for _, ids in drawn)
    print(f"seed {seed}: {count} sentences of {lengths} tokens, {found['windows']} windows")


if __name__ == "__main__":
    main()
