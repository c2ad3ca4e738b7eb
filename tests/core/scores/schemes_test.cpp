#include "scores/schemes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "random_shapes.h"
#include "scores/softmax.h"

namespace superpose {
namespace {

struct Head {
  std::vector<Matrix<double>> terms;
  Matrix<double> logits;
  double residual;
};

Head head_of(const Scheme<double>& scheme, int head) {
  const Eigen::Index n = scheme.n;
  Matrix<double> terms(scheme.terms.size(), n * n), logits(n, n);
  const double residual = scheme_head_terms(scheme, head, terms.data(), logits.data());
  Head result{{}, logits, residual};
  for (Eigen::Index t = 0; t < terms.rows(); ++t) {
    result.terms.emplace_back(ConstMatrixMap<double>(terms.row(t).data(), n, n));
  }
  return result;
}

// A random input and plain accessors for the definitions below.
struct Input {
  explicit Input(unsigned seed, int smallest = 1) : shapes(seed) {
    n = shapes.between(smallest, 9), d = shapes.between(1, 7), heads = shapes.between(1, 3);
    width = shapes.between(1, 5);
    x = shapes.matrix(n, d);
    wq = shapes.linear(heads * width, d, shapes.coin());
    wk = shapes.linear(heads * width, d, shapes.coin());
  }

  Content<double> content() const { return project_content(x, wq, wk, heads); }
  double scale() const { return 1 / std::sqrt(width); }

  // Component c of head h of W r + b, for row `row` of rows.
  double mapped(const Linear<double>& map, const Matrix<double>& rows, int row, int h, int c) const {
    const int out = h * width + c;
    double value = map.bias.size() ? map.bias[out] : 0;
    for (Eigen::Index k = 0; k < rows.cols(); ++k) value += map.weight(out, k) * rows(row, k);
    return value;
  }
  double q(int i, int h, int c) const { return mapped(wq, x, i, h, c); }
  double k(int j, int h, int c) const { return mapped(wk, x, j, h, c); }
  double sum(const std::function<double(int)>& of) const {
    double total = 0;
    for (int c = 0; c < width; ++c) total += of(c);
    return total;
  }
  double content_content(int i, int j, int h) const {
    return sum([&](int c) { return q(i, h, c) * k(j, h, c); });
  }

  Shapes shapes;
  int n, d, heads, width;
  Matrix<double> x;
  Linear<double> wq, wk;
};

using Entry = std::function<double(int i, int j, int h)>;

// Checks that every logit is the definition's, and that each head's terms are as many as named and add up.
void expect_logits(const Input& in, const Scheme<double>& scheme, const Entry& expected) {
  ASSERT_EQ(scheme.n, in.n);
  for (int h = 0; h < in.heads; ++h) {
    const Head head = head_of(scheme, h);
    Matrix<double> sum = Matrix<double>::Zero(in.n, in.n);
    for (const auto& term : head.terms) sum += term;
    EXPECT_LT(max_abs(sum - head.logits), 1e-12);
    EXPECT_LT(head.residual, 1e-12);
    for (int i = 0; i < in.n; ++i) {
      for (int j = 0; j < in.n; ++j) EXPECT_NEAR(head.logits(i, j), expected(i, j, h), 1e-12);
    }
  }
}

void expect_term(const Input& in, const Scheme<double>& scheme, int term, const Entry& expected) {
  for (int h = 0; h < in.heads; ++h) {
    const Head head = head_of(scheme, h);
    for (int i = 0; i < in.n; ++i) {
      for (int j = 0; j < in.n; ++j) EXPECT_NEAR(head.terms[term](i, j), expected(i, j, h), 1e-12);
    }
  }
}

TEST(Schemes, NoPositionIsTheContentAlone) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const Input in(seed, 0);
    expect_logits(in, none(in.content(), in.scale()),
                  [&](int i, int j, int h) { return in.content_content(i, j, h) * in.scale(); });
  }
}

// A residual of exactly 0 everywhere would mean that the sum is compared with itself.
TEST(Schemes, ResidualsAreMeasured) {
  Shapes shapes(30);
  const int n = 24, d = 20, heads = 2, width = 12;
  const Matrix<double> x = shapes.matrix(n, d);
  const Linear<double> w = shapes.linear(heads * width, d, true);
  const auto content = project_content(x, shapes.linear(heads * width, d, true), w, heads);
  const Matrix<double> rows = shapes.matrix(n, heads * width);
  const T5Options buckets{true, 8, 16};
  const std::vector<Scheme<double>> schemes = {
      none(content, 0.3),
      shaw(content, shapes.matrix(7, width), 0.3),
      t5(content, shapes.matrix(8, heads), buckets, 1.0),
      alibi(content, 0.3, true),
      deberta(content, shapes.matrix(12, d), w, w, DebertaIndex::paper, 0.3),
      tupe(content, shapes.matrix(n + 1, d), w, w, true, Matrix<double>(shapes.matrix(9, heads)), buckets,
           0.3),
      diet_abs(content, rows, rows, {}, 0.3),
      diet_rel(content, shapes.matrix(7, heads), {}, 0.3),
      rope(content, Layout::interleaved, 10000, 0.3)};
  for (std::size_t s = 0; s < schemes.size(); ++s) {
    const Head head = head_of(schemes[s], 1);
    EXPECT_GT(head.residual, 0) << s;
    EXPECT_LT(head.residual, 1e-13) << s;
  }
}

// A scheme with whole queries and keys gives the same logits without them.
TEST(Schemes, SecondRoutesMeet) {
  Shapes shapes(31);
  const int n = 9, d = 7, heads = 2, width = 5;
  const Matrix<double> x = shapes.matrix(n, d);
  const Linear<double> w = shapes.linear(heads * width, d, true);
  const auto content = project_content(x, shapes.linear(heads * width, d, true), w, heads);
  Scheme<double> scheme = transformer_xl(content, shapes.matrix(2 * n - 1, d), w,
                                         shapes.vector(heads * width), shapes.vector(heads * width), 0.4);
  const Matrix<double> whole = head_of(scheme, 1).logits;
  scheme.whole.clear();
  EXPECT_LT(max_abs(head_of(scheme, 1).logits - whole), 1e-13);
}

TEST(Schemes, NoPositionDoesNotSeeOrder) {
  Input in(3, 4);
  const Matrix<double> before = head_of(none(in.content(), 1.0), 0).logits;
  in.x.row(0).swap(in.x.row(2));
  Matrix<double> after = head_of(none(in.content(), 1.0), 0).logits;
  after.row(0).swap(after.row(2));
  after.col(0).swap(after.col(2));
  EXPECT_LT(max_abs(before - after), 1e-14);
}

TEST(Schemes, AddedHasFourTermsAndConcatenatedTheSameOrTwo) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    Input in(seed);
    const int d_p = in.shapes.between(1, 6), own = in.shapes.between(1, 4);
    const Matrix<double> p = in.shapes.matrix(in.n, in.d), q = in.shapes.matrix(in.n, d_p);
    const Linear<double> full_q = in.shapes.linear(in.heads * in.width, d_p, false);
    const Linear<double> full_k = in.shapes.linear(in.heads * in.width, d_p, false);
    const Linear<double> wq_only{in.wq.weight, {}}, wk_only{in.wk.weight, {}};
    const auto four = [&](const Scheme<double>& scheme, const Matrix<double>& table,
                          const Linear<double>& of_query, const Linear<double>& of_key) {
      ASSERT_EQ(scheme.terms.size(), 4u);
      const auto pq = [&](int i, int h, int c) { return in.mapped(of_query, table, i, h, c); };
      const auto pk = [&](int j, int h, int c) { return in.mapped(of_key, table, j, h, c); };
      const Entry terms[] = {[&](int i, int j, int h) { return in.scale() * in.content_content(i, j, h); },
                             [&](int i, int j, int h) {
                               return in.scale() * in.sum([&](int c) { return in.q(i, h, c) * pk(j, h, c); });
                             },
                             [&](int i, int j, int h) {
                               return in.scale() * in.sum([&](int c) { return pq(i, h, c) * in.k(j, h, c); });
                             },
                             [&](int i, int j, int h) {
                               return in.scale() * in.sum([&](int c) { return pq(i, h, c) * pk(j, h, c); });
                             }};
      for (int t = 0; t < 4; ++t) expect_term(in, scheme, t, terms[t]);
      expect_logits(in, scheme, [&](int i, int j, int h) {
        return terms[0](i, j, h) + terms[1](i, j, h) + terms[2](i, j, h) + terms[3](i, j, h);
      });
    };
    four(add(in.x, p, in.wq, in.wk, in.heads, in.scale()), p, wq_only, wk_only);
    four(concat_full(in.x, q, in.wq, in.wk, full_q.weight, full_k.weight, in.heads, in.scale()), q, full_q,
         full_k);

    const auto dot = [](const Matrix<double>& a, int i, const Matrix<double>& b, int j, int from, int count) {
      double total = 0;
      for (int c = from; c < from + count; ++c) total += a(i, c) * b(j, c);
      return total;
    };
    expect_logits(in, concat_raw(in.x, q, in.heads, 2.0), [&](int i, int j, int) {
      return 2 * (dot(in.x, i, in.x, j, 0, in.d) + dot(q, i, q, j, 0, d_p));
    });
    const Content<double> position{in.shapes.matrix(in.n, in.heads * own),
                                   in.shapes.matrix(in.n, in.heads * own), in.heads};
    const Scheme<double> untied = concat_block_diagonal(in.content(), position, in.scale());
    ASSERT_EQ(untied.terms.size(), 2u);
    const Entry of_position = [&](int i, int j, int h) {
      return in.scale() * dot(position.query, i, position.key, j, h * own, own);
    };
    expect_term(in, untied, 1, of_position);
    expect_logits(in, untied, [&](int i, int j, int h) {
      return in.scale() * in.content_content(i, j, h) + of_position(i, j, h);
    });
  }
}

TEST(Schemes, ShawAddsARelativeKey) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    Input in(seed);
    const int clip = in.shapes.between(0, 4);
    const Matrix<double> a = in.shapes.matrix(2 * clip + 1, in.width);
    expect_logits(in, shaw(in.content(), a, in.scale()), [&](int i, int j, int h) {
      const int row = std::min(std::max(j - i, -clip), clip) + clip;
      return in.scale() * in.sum([&](int c) { return in.q(i, h, c) * (in.k(j, h, c) + a(row, c)); });
    });
  }
}

TEST(Schemes, TransformerXlHasFourTerms) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    Input in(seed);
    const int d_r = in.shapes.between(1, 5);
    const Matrix<double> r = in.shapes.matrix(2 * in.n - 1, d_r);
    const Linear<double> wr = in.shapes.linear(in.heads * in.width, d_r, false);
    const Vector<double> u = in.shapes.vector(in.heads * in.width);
    const Vector<double> v = in.shapes.vector(in.heads * in.width);
    const auto scheme = transformer_xl(in.content(), r, wr, u, v, in.scale());
    const auto rel = [&](int i, int j, int h, int c) { return in.mapped(wr, r, i - j + in.n - 1, h, c); };
    const auto U = [&](int h, int c) { return u[h * in.width + c]; };
    const auto V = [&](int h, int c) { return v[h * in.width + c]; };
    expect_logits(in, scheme, [&](int i, int j, int h) {
      return in.scale() * in.sum([&](int c) {
        return (in.q(i, h, c) + U(h, c)) * in.k(j, h, c) + (in.q(i, h, c) + V(h, c)) * rel(i, j, h, c);
      });
    });
    const double s = in.scale();
    expect_term(in, scheme, 1, [&](int i, int j, int h) {
      return s * in.sum([&](int c) { return in.q(i, h, c) * rel(i, j, h, c); });
    });
    expect_term(in, scheme, 2, [&](int, int j, int h) {
      return s * in.sum([&](int c) { return U(h, c) * in.k(j, h, c); });
    });
    expect_term(in, scheme, 3, [&](int i, int j, int h) {
      return s * in.sum([&](int c) { return V(h, c) * rel(i, j, h, c); });
    });
  }
}

TEST(Schemes, T5AddsABucketAndDoesNotDivide) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    Input in(seed);
    const T5Options options{in.shapes.coin(), 8, 6};
    const Matrix<double> bias = in.shapes.matrix(8, in.heads);
    const auto scheme = t5(in.content(), bias, options, 1.0);
    EXPECT_EQ(scheme.causal, !options.bidirectional);
    expect_logits(in, scheme, [&](int i, int j, int h) {
      return in.content_content(i, j, h) + bias(t5_bucket(j - i, options), h);
    });
  }
}

TEST(Schemes, AlibiFallsOffWithDistance) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const Input in(seed, 0);
    const auto slope = [&](int h) { return alibi_slopes(in.heads)[h]; };
    expect_logits(in, alibi(in.content(), in.scale(), true), [&](int i, int j, int h) {
      return in.scale() * in.content_content(i, j, h) - slope(h) * (i - j);
    });
    expect_logits(in, alibi(in.content(), in.scale(), false), [&](int i, int j, int h) {
      return in.scale() * in.content_content(i, j, h) - slope(h) * std::abs(i - j);
    });
  }
}

TEST(Schemes, DebertaInBothConventions) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    Input in(seed);
    const int k = in.shapes.between(1, 4);
    const Matrix<double> table = in.shapes.matrix(2 * k, in.d);
    const Linear<double> pq = in.shapes.linear(in.heads * in.width, in.d, true);
    const Linear<double> pk = in.shapes.linear(in.heads * in.width, in.d, in.shapes.coin());
    const double scale = 1 / std::sqrt(3.0 * in.width);
    const auto delta = [&](int a, int b) { return std::min(std::max(a - b + k, 0), 2 * k - 1); };
    const auto logit = [&](int p2c_row, int i, int j, int h) {
      return scale * in.sum([&](int c) {
        return in.q(i, h, c) * (in.k(j, h, c) + in.mapped(pk, table, delta(i, j), h, c)) +
               in.k(j, h, c) * in.mapped(pq, table, p2c_row, h, c);
      });
    };
    expect_logits(in, deberta(in.content(), table, pq, pk, DebertaIndex::paper, scale),
                  [&](int i, int j, int h) { return logit(delta(j, i), i, j, h); });
    expect_logits(in, deberta(in.content(), table, pq, pk, DebertaIndex::released, scale),
                  [&](int i, int j, int h) { return logit(delta(i, j), i, j, h); });
  }
}

TEST(Schemes, TupeWithItsResetAndBiases) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    Input in(seed);
    const Matrix<double> p = in.shapes.matrix(in.n + 1, in.d);
    const Linear<double> uq = in.shapes.linear(in.heads * in.width, in.d, true);
    const Linear<double> uk = in.shapes.linear(in.heads * in.width, in.d, true);
    const T5Options options{true, 8, 6};
    const bool relative = in.shapes.coin(), reset = in.shapes.coin();
    const Matrix<double> bias = relative ? in.shapes.matrix(9, in.heads) : Matrix<double>();
    const double scale = 1 / std::sqrt(2.0 * in.width);
    const auto pp = [&](int a, int b, int h) {
      return scale * in.sum([&](int c) { return in.mapped(uq, p, a, h, c) * in.mapped(uk, p, b, h, c); });
    };
    const auto v = [&](int i, int j, int h) {
      if (reset && i == 0) return pp(0, 0, h) + (relative ? bias(4, h) : 0);
      if (reset && j == 0) return pp(1, 1, h) + (relative ? bias(8, h) : 0);
      return pp(i + 1, j + 1, h) + (relative ? bias(t5_bucket(j - i, options), h) : 0);
    };
    expect_logits(in, tupe(in.content(), p, uq, uk, reset, bias, options, scale),
                  [&](int i, int j, int h) { return scale * in.content_content(i, j, h) + v(i, j, h); });
  }
}

SegmentBias<double> some_segments(Input& in) {
  const int count = in.shapes.between(1, 3);
  SegmentBias<double> segments{in.shapes.matrix(count * count, in.heads), {}};
  for (int i = 0; i < in.n; ++i) segments.ids.push_back(in.shapes.between(0, count - 1));
  return segments;
}

double segment(const SegmentBias<double>& segments, int i, int j, int h) {
  const int count = static_cast<int>(std::lround(std::sqrt(segments.table.rows())));
  return segments.table(segments.ids[i] * count + segments.ids[j], h);
}

TEST(Schemes, DietAbsoluteDoesNotScalePositions) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    Input in(seed);
    const int d_p = in.shapes.between(1, 4);
    const Matrix<double> pq = in.shapes.matrix(in.n, in.heads * d_p);
    const Matrix<double> pk = in.shapes.matrix(in.n, in.heads * d_p);
    const auto segments = some_segments(in);
    expect_logits(in, diet_abs(in.content(), pq, pk, segments, in.scale()), [&](int i, int j, int h) {
      double score = in.scale() * in.content_content(i, j, h) + segment(segments, i, j, h);
      for (int c = h * d_p; c < (h + 1) * d_p; ++c) score += pq(i, c) * pk(j, c);
      return score;
    });
  }
}

// Adding gives scores of rank at most d_h; positions with scores of their own give d_h + d_p. Rank is
// counted by elimination with full pivoting: what remains beyond it is rounding, near 1e-15.
TEST(Schemes, DietAbsoluteReachesRankOfBothWidths) {
  Shapes shapes(7);
  const int n = 16, d = 24, width = 8;
  const Matrix<double> x = shapes.matrix(n, d), p = shapes.matrix(n, d);
  const Linear<double> wq = shapes.linear(width, d, false), wk = shapes.linear(width, d, false);
  const auto rank = [](Matrix<double> m) {
    int found = 0;
    for (; found < m.rows(); ++found) {
      Eigen::Index r, c;
      const Eigen::Index left = m.rows() - found;
      if (m.bottomRightCorner(left, left).cwiseAbs().maxCoeff(&r, &c) < 1e-9) break;
      m.row(found).swap(m.row(found + r));
      m.col(found).swap(m.col(found + c));
      for (int i = found + 1; i < m.rows(); ++i) {
        m.row(i) -= m(i, found) / m(found, found) * m.row(found).eval();
      }
    }
    return found;
  };
  const auto added = none(project_content<double>(x + p, wq, wk, 1), 1.0);
  EXPECT_EQ(rank(head_of(added, 0).logits), 8);
  const auto untied =
      diet_abs(project_content(x, wq, wk, 1), shapes.matrix(n, 8), shapes.matrix(n, 8), {}, 1.0);
  EXPECT_EQ(rank(head_of(untied, 0).logits), 16);
}

TEST(Schemes, DietRelativeLooksUpIMinusJ) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    Input in(seed);
    const int k = in.shapes.between(0, 5);
    const Matrix<double> bias = in.shapes.matrix(2 * k + 1, in.heads);
    const auto segments = some_segments(in);
    expect_logits(in, diet_rel(in.content(), bias, segments, in.scale()), [&](int i, int j, int h) {
      return in.scale() * in.content_content(i, j, h) + segment(segments, i, j, h) +
             bias(std::min(std::max(i - j, -k), k) + k, h);
    });
  }
}

TEST(Schemes, RopeIsTheClosedForm) {
  for (Layout layout : {Layout::interleaved, Layout::concatenated}) {
    Shapes shapes(5);
    const int n = 7, heads = 2, width = 6, half = 3;
    const Matrix<double> q = shapes.matrix(n, heads * width), k = shapes.matrix(n, heads * width);
    const auto scheme = rope<double>({q, k, heads}, layout, 10000, 0.5);
    for (int h = 0; h < heads; ++h) {
      const Matrix<double> logits = head_of(scheme, h).logits;
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
          double expected = 0;
          for (int c = 0; c < half; ++c) {
            const bool pairs = layout == Layout::interleaved;
            const int a = h * width + (pairs ? 2 * c : c), b = h * width + (pairs ? 2 * c + 1 : c + half);
            const double angle = (i - j) * std::pow(10000.0, -2.0 * c / width);
            expected += (q(i, a) * k(j, a) + q(i, b) * k(j, b)) * std::cos(angle) +
                        (q(i, a) * k(j, b) - q(i, b) * k(j, a)) * std::sin(angle);
          }
          EXPECT_NEAR(logits(i, j), 0.5 * expected, 1e-12);
        }
      }
    }
  }
}

// Concatenating a rotary part is adding a rotary score: the logits are computed from joined vectors, the
// terms are not.
TEST(Schemes, DecoupledRopeIsBothConcatenationAndSum) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    Input in(seed);
    const int d_r = 2 * in.shapes.between(1, 3);
    const Matrix<double> rq = in.shapes.matrix(in.n, in.heads * d_r);
    const Matrix<double> shared = in.shapes.matrix(in.n, d_r);
    const double scale = 1 / std::sqrt(in.width + d_r);
    const auto scheme = decoupled_rope(in.content(), rq, shared, Layout::interleaved, 10000, scale);
    const auto per_head = decoupled_rope<double>(in.content(), rq, shared.replicate(1, in.heads),
                                                 Layout::interleaved, 10000, scale);
    expect_logits(in, scheme, [&](int i, int j, int h) {
      double rotary = 0;
      for (int c = 0; c < d_r / 2; ++c) {
        const double angle = (i - j) * std::pow(10000.0, -2.0 * c / d_r);
        const double q0 = rq(i, h * d_r + 2 * c), q1 = rq(i, h * d_r + 2 * c + 1);
        const double k0 = shared(j, 2 * c), k1 = shared(j, 2 * c + 1);
        rotary += (q0 * k0 + q1 * k1) * std::cos(angle) + (q0 * k1 - q1 * k0) * std::sin(angle);
      }
      return scale * (in.content_content(i, j, h) + rotary);
    });
    EXPECT_EQ(head_of(scheme, 0).logits, head_of(per_head, 0).logits);
  }
}

TEST(Schemes, NoTokens) {
  const Content<double> none{Matrix<double>(0, 4), Matrix<double>(0, 4), 2};
  EXPECT_EQ(head_of(shaw<double>(none, Matrix<double>::Ones(3, 2), 1), 1).logits.size(), 0);
  EXPECT_EQ(head_of(rope<double>(none, Layout::interleaved, 10000, 1), 1).logits.size(), 0);
  const Linear<double> map{Matrix<double>::Ones(4, 3), {}};
  const auto untied = tupe<double>(none, Matrix<double>::Ones(1, 3), map, map, true, Matrix<double>(), {}, 1);
  EXPECT_EQ(head_of(untied, 1).logits.size(), 0);
}

}  // namespace
}  // namespace superpose
