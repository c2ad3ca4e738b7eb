"""Text as tokens: learns a byte-level BPE from train.txt, and encodes both files with it.

Source: R. Sennrich et al., Neural machine translation of rare words with subword units, 2016. It is over
bytes here, within pieces of text that are cut as GPT-2 cuts them, so that no token reaches across the end of
a word.
"""

import hashlib
import heapq
import re
from array import array
from collections import Counter, defaultdict
from pathlib import Path

import numpy

DOCUMENT = "<|doc|>"
END, MASK, FIRST_BYTE = 0, 1, 2
PIECE = re.compile(r"<\|doc\|>|'(?:s|t|re|ve|m|ll|d)| ?[^\W\d_]+| ?\d+| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+")
CHUNK = 1 << 22


def pieces(path, limit=None):
    """Yields lists of a file's pieces, a few megabytes at a time, cut at ends of lines; limit in bytes."""
    with open(path, "rb") as file:
        left = limit or path.stat().st_size
        while left > 0:
            chunk = file.read(min(CHUNK, left)) + file.readline()
            if not chunk:
                return
            left -= len(chunk)
            yield PIECE.findall(chunk.decode("utf-8"))


def merges(counts, vocabulary):
    """Pairs of tokens to merge, most frequent first; among equally frequent pairs, lower ids first."""
    words = [([byte + FIRST_BYTE for byte in word.encode()], count) for word, count in counts]
    pairs, where = Counter(), defaultdict(set)
    for index, (word, count) in enumerate(words):
        for pair in zip(word, word[1:]):
            pairs[pair] += count
            where[pair].add(index)
    queue = [(-count, pair) for pair, count in pairs.items()]
    heapq.heapify(queue)
    pairs_merged = []
    while len(pairs_merged) < vocabulary - FIRST_BYTE - 256 and queue:
        count, pair = heapq.heappop(queue)
        if pairs[pair] != -count:
            if pairs[pair] > 0:
                heapq.heappush(queue, (-pairs[pair], pair))
            continue
        merged = FIRST_BYTE + 256 + len(pairs_merged)
        pairs_merged.append(pair)
        grown = set()
        for index in where.pop(pair):
            word, times = words[index]
            for old in zip(word, word[1:]):
                pairs[old] -= times
            word[:] = joined(word, pair, merged)
            for new in zip(word, word[1:]):
                pairs[new] += times
                if merged in new:
                    where[new].add(index)
                    grown.add(new)
        for new in grown:
            heapq.heappush(queue, (-pairs[new], new))
    return pairs_merged


def joined(word, pair, merged):
    """A word's tokens, with every occurrence of the pair replaced by `merged`, from left to right."""
    out, at = [], 0
    while at < len(word):
        if at + 1 < len(word) and word[at] == pair[0] and word[at + 1] == pair[1]:
            out.append(merged)
            at += 2
        else:
            out.append(word[at])
            at += 1
    return out


class Encoder:
    """Encodes pieces as tokens, by merges in the order in which they were learnt."""

    def __init__(self, merges):
        self.rank = {pair: index for index, pair in enumerate(merges)}
        self.known = {DOCUMENT: array("H", [END])}
        self.bytes = [len(DOCUMENT), 0] + [1] * 256
        for left, right in merges:
            self.bytes.append(self.bytes[left] + self.bytes[right])

    def piece(self, piece):
        if piece not in self.known:
            word = [byte + FIRST_BYTE for byte in piece.encode()]
            while len(word) > 1:
                pair = min(zip(word, word[1:]), key=lambda pair: self.rank.get(pair, 1 << 30))
                if pair not in self.rank:
                    break
                word = joined(word, pair, self.rank[pair] + FIRST_BYTE + 256)
            self.known[piece] = array("H", word)
        return self.known[piece]

    def file(self, path, limit=None):
        tokens = array("H")
        for chunk in pieces(path, limit):
            for piece in chunk:
                tokens.extend(self.piece(piece))
        return numpy.frombuffer(tokens, dtype=numpy.uint16)


def read(folder, vocabulary, learn=None, limit=None):
    """Tokens of FOLDER/train.txt (its first `limit` bytes) and FOLDER/valid.txt, by merges learnt from the
    first `learn` bytes; cached in FOLDER/tokens-VOCABULARY.npz.

    Returns train and valid (uint16), the bytes of each token and the files' digests.
    """
    folder = Path(folder)
    cache = folder / f"tokens-{vocabulary}.npz"
    paths = [folder / "train.txt", folder / "valid.txt"]
    if not cache.exists():
        counts = Counter()
        for chunk in pieces(paths[0], learn):
            counts.update(chunk)
        del counts[DOCUMENT]
        # Pieces that occur only once are many, and decide no merge.
        encoder = Encoder(merges([item for item in counts.items() if item[1] > 1], vocabulary))
        numpy.savez(
            cache,
            train=encoder.file(paths[0], limit),
            valid=encoder.file(paths[1]),
            bytes=numpy.array(encoder.bytes, dtype=numpy.uint16),
            digests=[hashlib.sha256(path.read_bytes()).hexdigest() for path in paths],
        )
    with numpy.load(cache) as file:
        return file["train"], file["valid"], file["bytes"], [str(name) for name in file["digests"]]
