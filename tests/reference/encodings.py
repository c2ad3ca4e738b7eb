"""Position tables as well-known implementations build them, in float64.

  fairseq         w_i = 10000^(-i/(n-1)), n = floor(d/2); n sines, n cosines, a zero column
                  if d is odd; row padding_idx is zero, and the first token of a sequence
                  has position padding_idx + 1. Without a guard: d = 2 and 3 divide by zero.
                  fairseq, sinusoidal_positional_embedding.py and utils.make_positions
  transformer_xl  w_i = 10000^(-2i/d); d/2 sines, d/2 cosines; any list of positions
                  (the model asks for klen-1, ..., 0). Dai et al. 2019, mem_transformer.py
  t2t_1d          w_i = a exp(-i ln(b/a) / max(n-1, 1)) for timescales a to b: the lower
                  timescale multiplies, as published, though a period would divide.
                  tensor2tensor, get_timing_signal_1d
  t2t_nd          n = floor(d / (2 * axes)) frequencies per axis, n-1 denominator, no guard;
                  axis 0 first, 2n channels each (sines, cosines), the rest zeros.
                  tensor2tensor, add_timing_signal_nd
  mae             square grid G x G, row h * G + w; first half of the channels encodes the
                  COLUMN w (the source calls it emb_h), second half the row h; each half is
                  d/4 sines and d/4 cosines of w_i = 10000^(-i/(d/4)). He et al. 2022,
                  pos_embed.py
"""

import math

import numpy as np

from oracle_json import write_beside


def close(a, b, tolerance=1e-12):
    return np.abs(np.asarray(a) - np.asarray(b)).max() < tolerance


def waves(positions, w):
    """[positions, 2 * len(w)]: sines, then cosines."""
    angle = np.multiply.outer(np.asarray(positions, dtype=np.float64), w)
    return np.hstack([np.sin(angle), np.cos(angle)])


def timescales(count, low=1.0, high=10000.0, guard=False):
    steps = max(count - 1, 1) if guard else count - 1
    return low * np.exp(-np.arange(count) * (math.log(high / low) / steps))


def padded(table, width):
    return np.hstack([table, np.zeros((len(table), width - table.shape[1]))])


def fairseq_table(rows, width, padding):
    table = padded(waves(range(rows), timescales(width // 2)), width)
    if padding is not None:
        table[padding] = 0
    return table


def fairseq_positions(tokens, padding):
    """Non-padding symbols count up from padding + 1; padding keeps the padding row."""
    positions, last = [], padding
    for token in tokens:
        last += token != padding
        positions.append(last if token != padding else padding)
    return positions


def fairseq():
    out = []
    for rows, width, padding, tokens in [
        (7, 8, 1, [5, 9, 1, 7, 1]),
        (6, 5, 0, [3, 4, 4]),
        (4, 4, 2, [8]),
        (4, 6, None, None),
    ]:
        table = fairseq_table(rows, width, padding)
        positions = None if tokens is None else fairseq_positions(tokens, padding)
        whole = np.delete(table, [] if padding is None else [padding], axis=0)
        assert close((whole**2).sum(1), width // 2)
        if tokens is not None:
            # Trailing, leading and inner padding all get the zero row.
            assert not table[padding].any()
            assert positions[0] == padding + 1
        out.append(
            {
                "rows": rows,
                "width": width,
                "padding_row": padding,
                "table": table,
                "tokens": tokens,
                "positions": positions,
                "encoded": None if tokens is None else table[positions],
            }
        )
    return out


def transformer_xl_table(positions, width):
    return waves(positions, 10000.0 ** (-np.arange(0, width, 2) / width))


def transformer_xl():
    out = []
    for positions, width in [([4, 3, 2, 1, 0], 8), ([-2, -1, 0, 1, 2], 6), ([3], 2), ([0], 4)]:
        table = transformer_xl_table(positions, width)
        if positions == [-2, -1, 0, 1, 2]:
            half = width // 2
            assert close(table[::-1, :half], -table[:, :half]) and close(table[::-1, half:], table[:, half:])
        out.append({"positions": positions, "width": width, "table": table})
    return out


def t2t_1d():
    out = []
    for length, width, low, high, first in [(4, 8, 2.0, 1000.0, 3), (3, 3, 1.0, 10000.0, 0), (1, 2, 0.5, 50.0, 7)]:
        w = timescales(width // 2, low, high, guard=True)
        assert close(w[0], low) and (len(w) == 1 or close(w[-1], low * low / high))
        table = padded(waves(range(first, first + length), w), width)
        out.append(
            {
                "length": length,
                "width": width,
                "min_timescale": low,
                "max_timescale": high,
                "first": first,
                "frequencies": w,
                "table": table,
            }
        )
    return out


def t2t_nd_table(shape, width, low=1.0, high=10000.0):
    """[product of shape, width], the last axis running fastest."""
    count = width // (2 * len(shape))
    index = np.indices(shape).reshape(len(shape), -1)
    w = timescales(count, low, high)
    return padded(np.hstack([waves(axis, w) for axis in index]), width)


def t2t_nd():
    out = []
    for shape, width, low, high in [
        ((2, 3), 8, 1.0, 10000.0),
        ((3, 2), 11, 1.0, 100.0),
        ((2, 1, 3), 12, 2.0, 1000.0),
        ((1, 1), 8, 1.0, 10000.0),
        ((4,), 6, 1.0, 10000.0),
    ]:
        table = t2t_nd_table(shape, width, low, high)
        assert close((table**2).sum(1), width // (2 * len(shape)) * len(shape))
        if len(shape) == 1:
            assert close(table, waves(range(shape[0]), timescales(width // 2)))
        out.append({"shape": list(shape), "width": width, "min_timescale": low, "max_timescale": high, "table": table})
    return out


def mae_table(grid, width, cls):
    w = 10000.0 ** (-np.arange(width // 4) / (width / 4))
    column, row = np.tile(np.arange(grid), grid), np.repeat(np.arange(grid), grid)
    table = np.hstack([waves(column, w), waves(row, w)])
    return np.vstack([np.zeros((1, width)), table]) if cls else table


def mae():
    out = []
    for grid, width, cls in [(2, 8, True), (3, 12, False), (1, 4, True), (2, 4, False)]:
        table = mae_table(grid, width, cls)
        patches = table[1:] if cls else table
        if cls:
            assert not table[0].any()
        # The Gram matrix depends only on (dh, dw).
        gram, seen = patches @ patches.T, {}
        for a in range(grid * grid):
            for b in range(grid * grid):
                offset = (b // grid - a // grid, b % grid - a % grid)
                assert close(seen.setdefault(offset, gram[a, b]), gram[a, b])
        if (grid, width) == (2, 8):
            # Row 1 of the patches is (h 0, w 1): the column changes the first half.
            assert close(patches[1], [0.841471, 0.01, 0.540302, 0.99995, 0, 0, 1, 1], 5e-7)
            assert close(patches[2], np.roll(patches[1], 4))
        out.append({"grid": grid, "width": width, "cls": cls, "table": table})
    return out


if __name__ == "__main__":
    write_beside(
        __file__,
        {
            "fairseq": fairseq(),
            "transformer_xl": transformer_xl(),
            "t2t_1d": t2t_1d(),
            "t2t_nd": t2t_nd(),
            "mae": mae(),
        },
    )
