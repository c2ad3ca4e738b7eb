"""Angles between random vectors and between subspaces, in float64.

  cosine law     t = cos of two independent directions in R^d:
                 density Gamma(d/2) / (sqrt(pi) Gamma((d-1)/2)) (1-t^2)^((d-3)/2),
                 E|t| = Gamma(d/2) / (sqrt(pi) Gamma((d+1)/2)), var t = 1/d,
                 P(|t| > e) = I_{1-e^2}((d-1)/2, 1/2), regularized incomplete beta
                 (Cai, Fan & Jiang 2013, section 2; t^2 ~ Beta(1/2, (d-1)/2))
  largest of m   median of max |t|: "independent" solves (1 - P)^m = 1/2, "poisson" solves
                 m P = ln 2
  angles         principal angles of span U and span W, ascending, min(k1, k2) of them:
                 cosines are the singular values of Q_U'Q_W, sines those of (I - Q_U Q_U')Q_W
                 (Bjorck & Golub 1973; Knyazev & Argentati 2002)
  edges          cos+- = |sqrt(a(1-b)) +- sqrt(b(1-a))|, a = k1/d, b = k2/d (Wachter 1980)
  overlap        A = d tr(C_E C_P) / (tr C_E tr C_P), C = X'X/n, of the rows or of the rows
                 minus their mean; curve[k-1][j] = v_j'Pi_k v_j = |Pi_k v_j|^2, v_j the right
                 singular vectors of E, Pi_k the projection onto the first k of P
  recovery       x = t + p, t in span U, p in span W: R = [U 0][U W]^+ gives R x = t iff
                 the spans meet in 0 only; |R|_2 = 1 / sin(smallest angle)
"""

import math

import numpy as np

from decomposition import random_numbers
from oracle_json import write_beside


def same(a, b, tolerance=1e-12):
    return np.abs(np.asarray(a) - np.asarray(b)).max() < tolerance


# --- the cosine law


def log_beta_front(d):
    """ln of the density's constant factor."""
    return math.lgamma(d / 2) - 0.5 * math.log(math.pi) - math.lgamma((d - 1) / 2)


def density(t, d):
    return math.exp(log_beta_front(d) + (d - 3) / 2 * math.log1p(-t * t))


def mean_absolute(d):
    return math.exp(math.lgamma(d / 2) - 0.5 * math.log(math.pi) - math.lgamma((d + 1) / 2))


def continued_fraction(x, a, b):
    """Lentz's evaluation of the fraction in I_x(a, b) (Abramowitz & Stegun 26.5.8)."""
    tiny, c, d = 1e-300, 1.0, 1.0 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > tiny else tiny)
    h = d
    for m in range(1, 10000):
        for number in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 + number * d
            d = 1 / (d if abs(d) > tiny else tiny)
            c = 1 + number / c
            c = c if abs(c) > tiny else tiny
            h *= d * c
        if abs(d * c - 1) < 1e-16:
            return h
    raise ArithmeticError("no convergence")


def incomplete_beta(x, a, b):
    """I_x(a, b), using the side on which the fraction converges."""
    if x in (0.0, 1.0):
        return x
    front = math.exp(
        a * math.log(x) + b * math.log1p(-x) + math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    )
    if x < (a + 1) / (a + b + 2):
        return front * continued_fraction(x, a, b) / a
    return 1 - front * continued_fraction(1 - x, b, a) / b


NODES, WEIGHTS = np.polynomial.legendre.leggauss(200)


def tail_by_quadrature(e, d):
    """2 times the integral of c sin^(d-2) over angles 0 to arccos e; on 40 panels."""
    if e == 1:
        return 0.0
    edge = np.linspace(0, math.acos(e), 41)
    half = np.diff(edge)[:, None] / 2
    angle = edge[:-1, None] + half * (NODES + 1)
    logs = (d - 2) * np.log(np.sin(angle)) + log_beta_front(d)
    return 2 * float((np.exp(logs) * WEIGHTS * half).sum())


def tail(e, d):
    """P(|t| > e)."""
    if e >= 1:
        return 0.0
    if e <= 0 or d == 1:
        return 1.0
    return incomplete_beta((1 - e) * (1 + e), (d - 1) / 2, 0.5)


def solve(target, d):
    """e with tail(e, d) = target, by bisection to the last bit."""
    low, high = 0.0, 1.0
    while True:
        middle = (low + high) / 2
        if middle in (low, high):
            return middle
        low, high = (middle, high) if tail(middle, d) > target else (low, middle)


def cosine_law():
    points, thresholds, out = [0.0, 0.1, 0.25, 0.5, 0.9], [0.0, 0.05, 0.1, 0.2, 0.5, 0.9, 1.0], []
    for d in (1, 2, 3, 4, 8, 64, 512, 768):
        tails = [tail(e, d) for e in thresholds]
        if d > 1:
            for e, value in zip(thresholds, tails):
                # Logarithms of Gamma at d/2 lose digits: 1e-13 of a logarithm near 1000.
                assert abs(tail_by_quadrature(e, d) - value) <= 2e-11 * value + 1e-300, (d, e)
            mean = 2 * sum(
                math.cos(a) * w * math.pi / 4 * math.exp(log_beta_front(d) + (d - 2) * math.log(math.sin(a)))
                for a, w in zip((NODES + 1) * math.pi / 4, WEIGHTS)
            )
            assert abs(mean - mean_absolute(d)) < 1e-11
        if d == 3:
            assert same(tails, [1 - e for e in thresholds])
        if d == 2:
            assert same(tails, [2 / math.pi * math.acos(e) for e in thresholds])
        out.append(
            {
                "d": d,
                "t": points,
                # In one dimension t is 1 or -1: there is no density.
                "density": None if d == 1 else [density(t, d) for t in points],
                "mean_absolute": mean_absolute(d),
                "variance": 1 / d,
                "thresholds": thresholds,
                "tail": tails,
            }
        )
    return out


def largest_of_m():
    out = []
    for d, m in [
        (768, 512 * 30522), (768, 1024 * 50257), (512, 2000 * 1999 // 2), (64, 4950), (3, 10), (2, 5), (3, 1), (8, 1),
    ]:  # fmt: skip
        independent = solve(-math.expm1(-math.log(2) / m), d)
        poisson = solve(math.log(2) / m, d)
        if d == 3:
            assert abs(independent - 0.5 ** (1 / m)) < 1e-12
        out.append({"d": d, "m": m, "independent": independent, "poisson": poisson})
        print(f"  d {d}, m {m}: median of the largest {independent:.6f}, {poisson:.6f}")
    return out


# --- subspaces


def orthonormal(basis):
    return np.linalg.qr(basis)[0]


def principal_angles(u, w):
    """Ascending: from the sine for angles below 45 degrees, from the cosine above."""
    a, b = orthonormal(u), orthonormal(w)
    if a.shape[1] < b.shape[1]:
        a, b = b, a
    cosine = np.clip(np.linalg.svd(a.T @ b, compute_uv=False), 0, 1)
    sine = np.clip(np.linalg.svd(b - a @ (a.T @ b), compute_uv=False)[::-1], 0, 1)
    return np.where(cosine**2 > 0.5, np.arcsin(sine), np.arccos(cosine))


def planes(d, tangents, k1, k2):
    """Spans of e_1..e_k1 and of e_i + tan_i e_(k1+i): the angles are arctan tan_i, exactly."""
    u, w = np.zeros((d, k1)), np.zeros((d, k2))
    u[range(k1), range(k1)] = 1
    for i, t in enumerate(tangents):
        w[i, i] = 1
        w[k1 + i, i] = t
    return u, w


def wachter():
    out = []
    for d, k1, k2 in [(768, 30, 30), (768, 30, 300), (768, 30, 500), (512, 64, 64), (512, 128, 128), (8, 4, 4), (10, 7, 6), (4, 1, 1), (1, 1, 1)]:
        a, b = k1 / d, k2 / d
        high = math.sqrt(a * (1 - b)) + math.sqrt(b * (1 - a))
        low = abs(math.sqrt(a * (1 - b)) - math.sqrt(b * (1 - a)))
        out.append(
            {
                "d": d,
                "k1": k1,
                "k2": k2,
                "cos_low": low,
                "cos_high": high,
                "zero_angles": max(0, k1 + k2 - d),
                "expected_sum_of_squared_cosines": k1 * k2 / d,
            }
        )
        print(f"  Wachter d {d}, {k1}, {k2}: {low:.4f} to {high:.4f}")
    assert same([out[5]["cos_low"], out[5]["cos_high"]], [0, 1])
    return out


def wachter_draws():
    """Printed only: means of the largest cosine over seeds, against the edge."""
    rng = np.random.default_rng(0)
    for d, k1, k2 in [(768, 30, 30), (768, 30, 300), (512, 64, 64), (512, 128, 128)]:
        top, square = [], []
        for _ in range(8):
            a, b = orthonormal(rng.normal(size=(d, k1))), orthonormal(rng.normal(size=(d, k2)))
            s = np.linalg.svd(a.T @ b, compute_uv=False)
            top.append(s[0])
            square.append((s**2).sum())
        print(f"  drawn d {d}, {k1}, {k2}: largest cosine {np.mean(top):.3f} (sd {np.std(top):.3f}), sum of squares {np.mean(square):.3f} of {k1 * k2 / d:.3f}")


# --- overlap and recovery


def overlap(e, p):
    c_e, c_p = e.T @ e / len(e), p.T @ p / len(p)
    return e.shape[1] * np.trace(c_e @ c_p) / (np.trace(c_e) * np.trace(c_p))


def curve(e, p):
    """[rank P][rank E]: the part of v_j within the first k right singular vectors of P."""
    directions = []
    for t in (e, p):
        _, s, v = np.linalg.svd(t, full_matrices=False)
        kept = s > 1e-10 * s[0]
        # A singular vector is only defined when its value is distinct.
        assert len(s) == 1 or (-np.diff(s[kept]) > 1e-3 * s[0]).all()
        directions.append(v[kept])
    inner = directions[1] @ directions[0].T  # [rank P, rank E]
    return np.cumsum(inner**2, axis=0)


def centred(t):
    return t - t.mean(axis=0)


def overlaps(rng):
    out = []
    for name, e, p in (
        ("more tokens than dimensions", random_numbers(rng, 7, 4, mean=0.3), random_numbers(rng, 5, 4, mean=-0.2)),
        ("fewer rows than dimensions", random_numbers(rng, 3, 6), random_numbers(rng, 2, 6)),
        ("disjoint channels", np.hstack([random_numbers(rng, 4, 2), np.zeros((4, 3))]), np.hstack([np.zeros((5, 2)), random_numbers(rng, 5, 3)])),
        ("the same single direction", np.outer([1.0, -2, 0.5], [3.0, 4]), np.outer([2.0, 0.25, -1], [3.0, 4])),
        ("one row each", random_numbers(rng, 1, 3), random_numbers(rng, 1, 3)),
        ("one dimension", random_numbers(rng, 3, 1), random_numbers(rng, 2, 1)),
    ):
        single = len(e) == 1 or len(p) == 1
        c = {
            "name": name,
            "e": e,
            "p": p,
            "raw": overlap(e, p),
            # A single row has no spread about its mean.
            "centred": None if single else overlap(centred(e), centred(p)),
        }
        out.append(c)
        whole = curve(e, p)
        full = whole[-1]
        if len(whole) == e.shape[1]:
            assert same(full, 1)
        if name == "disjoint channels":
            assert c["raw"] == 0 and full.max() < 1e-20
        if name == "the same single direction":
            assert same([c["raw"], c["centred"]], 2) and same(full, 1)
    # Averaged over rotations, A is 1: here over all quarter turns and reflections of a plane.
    e, p = random_numbers(rng, 5, 2), random_numbers(rng, 4, 2)
    turns = [np.array(t, dtype=float) for t in ([[1, 0], [0, 1]], [[0, -1], [1, 0]])]
    assert same(np.mean([overlap(e, p @ t) for t in turns]), 1)
    return out


def recovery(rng):
    out = []
    for name, u, w in (
        ("oblique", random_numbers(rng, 6, 2), random_numbers(rng, 6, 3)),
        ("together they span everything", random_numbers(rng, 5, 2), random_numbers(rng, 5, 3)),
        ("30 degrees", np.array([[1.0], [0]]), np.array([[math.sqrt(3) / 2], [0.5]])),
        ("orthogonal, as in a concatenation", np.eye(5)[:, :2], np.eye(5)[:, 2:]),
        ("0.001 apart", *planes(4, [1e-3, 1.0], 2, 2)),
        ("a common line", np.eye(3)[:, :2], np.array([[1.0, 0], [0, 0], [0, 1]])),
        ("too many for the space", random_numbers(rng, 3, 2), random_numbers(rng, 3, 2)),
    ):
        angle = principal_angles(u, w)[0]
        k1, k2 = u.shape[1], w.shape[1]
        a, b = random_numbers(rng, 3, k1), random_numbers(rng, 3, k2)
        t, p = a @ u.T, b @ w.T
        possible = np.linalg.matrix_rank(np.hstack([u, w]), tol=1e-9) == k1 + k2
        assert possible == (angle > 1e-9)
        r = gain = None
        if possible:
            r = np.hstack([u, np.zeros_like(w)]) @ np.linalg.pinv(np.hstack([u, w]))
            gain = np.linalg.norm(r, 2)
            assert np.abs((t + p) @ r.T - t).max() < 1e-11 and same(r @ r, r, 1e-9)
            assert abs(gain * math.sin(angle) - 1) < 1e-11
        out.append({"name": name, "u": u, "w": w, "possible": bool(possible), "smallest_angle": angle if possible else 0.0,
                    "gain": gain, "recovery": r, "x": t + p, "t": t if possible else None})  # fmt: skip
    return out


if __name__ == "__main__":
    rng = np.random.default_rng(11)
    document = {
        "cosine_law": cosine_law(),
        "largest_of_m": largest_of_m(),
        "wachter": wachter(),
        "overlaps": overlaps(rng),
        "recovery": recovery(rng),
    }
    wachter_draws()
    write_beside(__file__, document)
