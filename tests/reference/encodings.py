"""Position tables as well-known implementations build them, in float64.

  fairseq         w_i = 10000^(-i/(n-1)), n = floor(d/2); n sines, n cosines, a zero column
                  if d is odd; row padding_idx is zero, and the first token of a sequence
                  has position padding_idx + 1. Without a guard: d = 2 and 3 divide by zero.
                  fairseq, sinusoidal_positional_embedding.py and utils.make_positions
  transformer_xl  w_i = 10000^(-2i/d); d/2 sines, d/2 cosines; any list of positions
                  (the model asks for klen-1, ..., 0). Dai et al. 2019, mem_transformer.py
  t2t_1d          w_i = exp(-i ln(b) / max(n-1, 1)) for timescales 1 to b.
                  tensor2tensor, get_timing_signal_1d
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


def timescales(count, high=10000.0, guard=False):
    steps = max(count - 1, 1) if guard else count - 1
    return np.exp(-np.arange(count) * (math.log(high) / steps))


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
    for length, width, longest, first in [(4, 8, 500.0, 3), (3, 3, 10000.0, 0), (1, 2, 100.0, 7)]:
        w = timescales(width // 2, high=longest, guard=True)
        assert close(w[0], 1) and (len(w) == 1 or close(w[-1], 1 / longest))
        table = padded(waves(range(first, first + length), w), width)
        out.append(
            {
                "length": length,
                "width": width,
                "longest_timescale": longest,
                "first": first,
                "frequencies": w,
                "table": table,
            }
        )
    return out


if __name__ == "__main__":
    write_beside(
        __file__,
        {
            "fairseq": fairseq(),
            "transformer_xl": transformer_xl(),
            "t2t_1d": t2t_1d(),
        },
    )
