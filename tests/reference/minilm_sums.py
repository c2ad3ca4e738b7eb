"""Do the sums of all-MiniLM-L6-v2's token rows and position rows all differ, and by how much?

A vocabulary of 30,522 rows spans all 384 dimensions, so no matrix takes every sum of a token row and a
position row apart. The sums themselves may still differ. A 16-bit number is a whole multiple of 2^-24, so
each sum is a row of whole numbers, and a hash that is linear modulo 2^64 is exact:
h(token + position) = h(token) + h(position). If no two of the 30,522 * 512 hashes are equal, no two sums are.

The distance of two sums at one position is that of their tokens, and of one token at two positions that of
the positions: the least of each is computed, and nothing for two tokens at two positions.

Are token rows nearer to orthogonal to position rows than chance would make them? The mean of |cos| over all
pairs of the two tables stands beside sqrt(2 / (pi d)), which is what random directions come to for large d.

Writes minilm_sums.json for the tests.
"""

import numpy as np

from minilm import PACKAGE, read_safetensors
from oracle_json import write_beside

STEP = 2.0**-24
BLOCK = 2048
DIRECTIONS = 16


def whole(table):
    """The rows as multiples of STEP, exactly."""
    numbers = table.astype(np.float64) / STEP
    assert np.array_equal(numbers, np.round(numbers))
    return numbers.astype(np.int64)


def equal_sums(tokens, positions):
    """How many of the sums share their hash with another, modulo 2^64."""
    weights = np.random.default_rng(0).integers(0, 2**64, size=tokens.shape[1], dtype=np.uint64)
    by_token, by_position = ((table.astype(np.uint64) * weights).sum(1) for table in (tokens, positions))
    hashes = np.sort((by_token[:, None] + by_position[None]).ravel())
    return len(hashes) - 1 - int(np.count_nonzero(np.diff(hashes)))


def squared_distances(left, right):
    return np.maximum(0, (left**2).sum(1)[:, None] + (right**2).sum(1)[None] - 2 * left @ right.T)


def nearest_two(table):
    """The least distance of two rows, and which two, the first the lower.

    Two rows are at least as far apart as their projections onto orthogonal directions. Most pairs need no more
    than those onto the directions along which the rows vary most, by a sample of the rows.
    """
    _, directions = np.linalg.eigh(np.cov(table[::8].T))
    projected = table @ directions[:, -DIRECTIONS:]
    neighbours = np.linalg.norm(np.diff(table, axis=0), axis=1)
    at = int(neighbours.argmin())
    best = (float(neighbours[at]), at, at + 1)
    for first in range(0, len(table), BLOCK):
        rows, others = table[first : first + BLOCK], table[first:]
        squares = squared_distances(projected[first : first + BLOCK], projected[first:])
        # Squares of lengths lose digits when they are subtracted, so the limit has a margin.
        near = np.argwhere(np.triu(squares <= (best[0] + 1e-6) ** 2, 1))
        for pairs in np.array_split(near, len(near) // BLOCK + 1):
            distances = np.linalg.norm(rows[pairs[:, 0]] - others[pairs[:, 1]], axis=1)
            if len(pairs):
                at = int(distances.argmin())
                best = min(best, (float(distances[at]), *(int(first + row) for row in pairs[at])))
    return best


def mean_absolute_cosine(left, right):
    left, right = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (left, right))
    return float(np.abs(left @ right.T).mean())


if __name__ == "__main__":
    tensors = read_safetensors(PACKAGE / "model/model.fp16.safetensors")
    names = ("embeddings.word_embeddings.weight", "embeddings.position_embeddings.weight")
    tables = [tensors[name] for name in names]
    tokens, positions = (table.astype(np.float64) for table in tables)
    equal = equal_sums(*(whole(table) for table in tables))
    assert equal_sums(whole(tables[0])[[0, 1, 0]], whole(tables[1])[:2]) == 2
    nearest_tokens, nearest_positions = nearest_two(tokens), nearest_two(positions)
    write_beside(
        __file__,
        {
            "sums": len(tokens) * len(positions),
            "equal": equal,
            "token_rank": int(np.linalg.matrix_rank(tokens)),
            "median_token_length": float(np.median(np.linalg.norm(tokens, axis=1))),
            "nearest_tokens": nearest_tokens,
            "nearest_positions": nearest_positions,
            "mean_absolute_cosine": mean_absolute_cosine(tokens, positions),
            "mean_absolute_cosine_by_chance": float(np.sqrt(2 / (np.pi * tokens.shape[1]))),
        },
        digits=10,
    )
