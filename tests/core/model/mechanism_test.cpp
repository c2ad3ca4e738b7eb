#include "model/mechanism.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>

#include "any_encoder.h"
#include "model/position_means.h"

namespace superpose {
namespace {

using Complex = std::complex<double>;
using Eigen::Index;

ScoreMeans any_means(Shapes& shapes, const AnyEncoder& made, int n, int first, bool placed) {
  const int of_queries = made.options.heads * made.width(), of_keys = made.key_heads() * made.width();
  const auto means = [&](int width) {
    const int places = std::max(1, n - first);
    return StateMeans<double>{shapes.vector(width),
                              placed ? shapes.matrix(places, width) : Matrix<double>::Zero(places, width),
                              first};
  };
  return {means(of_queries), means(of_keys)};
}

// The terms of one head by their definitions, in plain loops over single numbers, [16] of [n, n].
std::vector<Matrix<double>> defined(const AnyEncoder& made, int l, int head, const Matrix<double>& input,
                                    const ScoreMeans& means) {
  const auto& layer = made.layers[l];
  const int n = static_cast<int>(input.rows()), first = static_cast<int>(means.query.first);
  const int heads = made.options.heads, key_heads = made.key_heads(), width = made.width();
  const int of_key = head / (heads / key_heads), pairs = static_cast<int>(layer.frequencies.size());
  plain::Lists read;
  for (int i = 0; i < n; ++i) read.emplace_back(input.row(i).begin(), input.row(i).end());
  const auto q = plain::heads_of(layer.query, layer.query_norm, layer.frequencies, heads, read, false);
  const auto k = plain::heads_of(layer.key, layer.key_norm, layer.frequencies, key_heads, read, false);
  const auto counts = [&](int i, int j) {
    return i >= first && j >= first && (!made.options.causal || j <= i);
  };
  // The mean rotation of each pair.
  std::vector<Complex> turns(pairs);
  double count = 0;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      if (!counts(i, j)) continue;
      for (int m = 0; m < pairs; ++m) turns[m] += std::exp(Complex(0, (j - i) * layer.frequencies[m]));
      ++count;
    }
  }
  for (Complex& one : turns) one /= count;
  // a R b with each pair's rotation given; what is not turned is multiplied alike.
  const auto times = [&](const plain::Row& a, const std::vector<Complex>& by, double rest,
                         const plain::Row& b) {
    double sum = 0;
    for (int m = 0; m < pairs; ++m) {
      const Complex one = std::conj(Complex(a[m], a[m + pairs])) * by[m] * Complex(b[m], b[m + pairs]);
      sum += one.real();
    }
    for (int c = 2 * pairs; c < width; ++c) sum += rest * a[c] * b[c];
    return sum / std::sqrt(double(width));
  };
  enum { token, position, constant, offset };
  std::vector<Matrix<double>> terms(16, Matrix<double>::Zero(n, n));
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      std::vector<Complex> whole(pairs), less(pairs);
      for (int m = 0; m < pairs; ++m) {
        whole[m] = std::exp(Complex(0, (j - i) * layer.frequencies[m]));
        less[m] = whole[m] - turns[m];
      }
      const plain::Row qi(q[i].begin() + head * width, q[i].begin() + (head + 1) * width);
      const plain::Row kj(k[j].begin() + of_key * width, k[j].begin() + (of_key + 1) * width);
      if (i < first || j < first) {
        terms[4 * constant + constant](i, j) = times(qi, whole, 1, kj);
        continue;
      }
      // mu, pi, mu + pi and what is left, of the query and of the key.
      const auto split = [&](const plain::Row& x, const StateMeans<double>& of, int at, int row) {
        std::vector<plain::Row> found(4, plain::Row(width));
        for (int c = 0; c < width; ++c) {
          found[0][c] = of.mu[at * width + c];
          found[1][c] = of.positions(row - first, at * width + c);
          found[2][c] = found[0][c] + found[1][c];
          found[3][c] = x[c] - found[2][c];
        }
        return found;
      };
      const auto a = split(qi, means.query, head, i), b = split(kj, means.key, of_key, j);
      const auto add = [&](int query, int key, double value) { terms[4 * query + key](i, j) += value; };
      add(token, token, times(a[3], turns, 1, b[3]));
      add(offset, offset, times(a[3], less, 0, b[3]));
      add(token, position, times(a[3], less, 0, b[0]) + times(a[3], whole, 1, b[1]));
      add(position, token, times(a[0], less, 0, b[3]) + times(a[1], whole, 1, b[3]));
      add(position, position, times(a[2], whole, 1, b[2]) - times(a[2], turns, 1, b[0]));
      add(constant, token, times(a[0], turns, 1, b[3]));
      add(token, constant, times(qi, turns, 1, b[0]));
    }
  }
  return terms;
}

TEST(Mechanism, TermsAreAsDefinedAndAddUp) {
  Shapes shapes(41);
  for (int trial = 0; trial < 60; ++trial) {
    SCOPED_TRACE(trial);
    const int n = trial % 8 == 0 ? 1 : shapes.between(2, 9), first = shapes.between(0, 2);
    const AnyEncoder made = any_encoder(shapes, 2);
    const auto encoder = made.encoder();
    const auto run = traced(encoder, shapes.matrix(n, made.d));
    for (int l = 0; l < 2; ++l) {
      const ScoreMeans means = any_means(shapes, made, n, first, shapes.coin());
      const Mechanism<double> mechanism(encoder, run, l, means);
      for (int h = 0; h < made.options.heads; ++h) {
        Matrix<double> terms(16, n * n), logits(n, n);
        const double residual = mechanism.head_terms(h, {0, 1, 2, 3}, 4, terms.data(), logits.data());
        const Matrix<double> wanted = run.logits[l].middleRows(h * n, n);
        EXPECT_EQ(logits, wanted);
        const double scale = std::max({1.0, max_abs(terms), max_abs(logits)});
        EXPECT_LT(residual / scale, 1e-12);
        const auto by_definition = defined(made, l, h, run.inputs[l], means);
        Matrix<double> sum = Matrix<double>::Zero(n, n);
        for (int t = 0; t < 16; ++t) {
          const Matrix<double> term = MatrixMap<double>(terms.row(t).data(), n, n);
          EXPECT_LT(max_abs(term - by_definition[t]) / scale, 1e-12) << t;
          sum += term;
        }
        EXPECT_LT(max_abs(sum - wanted) / scale, 1e-12);
      }
    }
  }
}

TEST(Mechanism, GroupsAddPartsUp) {
  Shapes shapes(43);
  const AnyEncoder made = any_encoder(shapes, 1);
  const auto encoder = made.encoder();
  const auto run = traced(encoder, shapes.matrix(5, made.d));
  const Mechanism<double> mechanism(encoder, run, 0, any_means(shapes, made, 5, 1, true));
  Matrix<double> terms(16, 25), merged(4, 25), logits(5, 5);
  mechanism.head_terms(0, {0, 1, 2, 3}, 4, terms.data(), logits.data());
  mechanism.head_terms(0, {1, 0, 1, 1}, 2, merged.data(), logits.data());
  const auto sum = [&](std::initializer_list<int> queries, std::initializer_list<int> keys) {
    Matrix<double> found = Matrix<double>::Zero(1, 25);
    for (int q : queries) {
      for (int k : keys) found += terms.row(4 * q + k);
    }
    return found;
  };
  EXPECT_LT(max_abs(merged.row(0) - sum({1}, {1})), 1e-14);
  EXPECT_LT(max_abs(merged.row(1) - sum({1}, {0, 2, 3})), 1e-14);
  EXPECT_LT(max_abs(merged.row(2) - sum({0, 2, 3}, {1})), 1e-14);
  EXPECT_LT(max_abs(merged.row(3) - sum({0, 2, 3}, {0, 2, 3})), 1e-13);
}

TEST(Mechanism, InFloatAddsUpToRounding) {
  Shapes shapes(44);
  for (int trial = 0; trial < 10; ++trial) {
    const int n = shapes.between(1, 8);
    const AnyEncoder made = any_encoder(shapes, 2);
    const auto encoder = made.single();
    const auto run = traced(encoder, shapes.matrix(n, made.d));
    const Mechanism<float> mechanism(encoder, run, 1, any_means(shapes, made, n, 1, true));
    Matrix<float> terms(16, n * n), logits(n, n);
    const float residual = mechanism.head_terms(0, {0, 1, 2, 3}, 4, terms.data(), logits.data());
    EXPECT_LT(residual / std::max({1.0f, terms.cwiseAbs().maxCoeff(), logits.cwiseAbs().maxCoeff()}), 1e-5);
  }
}

// mu and pos_t of a window's rows, by hand.
TEST(RowMeans, AreTheMeansOfRows) {
  RowMeans means(2, 1);
  const double windows[2][2] = {{1, 4}, {3, 8}};
  for (const auto& rows : windows) means.add(rows);
  EXPECT_EQ(means.mu()[0], 4);
  EXPECT_EQ(means.positions()(0, 0), -2);
  EXPECT_EQ(means.positions()(1, 0), 2);
}

// What a forward keeps for the means is what it turns.
TEST(Projections, AreQueriesAndKeysBeforeTheyAreTurned) {
  Shapes shapes(45);
  for (int trial = 0; trial < 20; ++trial) {
    const int n = shapes.between(1, 6);
    const AnyEncoder made = any_encoder(shapes, 2);
    const auto encoder = made.encoder();
    ForwardOptions<double> asked;
    asked.projections = true;
    const Matrix<double> rows = shapes.matrix(n, made.d);
    const auto run = encoder.forward(rows, asked);
    const auto traced_run = traced(encoder, rows);
    for (int l = 0; l < 2; ++l) {
      const auto& layer = made.layers[l];
      plain::Lists read;
      for (int i = 0; i < n; ++i)
        read.emplace_back(traced_run.inputs[l].row(i).begin(), traced_run.inputs[l].row(i).end());
      const auto wanted = [&](const Linear<double>& linear, const Normalization<double>& norm, int heads) {
        return plain::matrix(plain::heads_of(linear, norm, layer.frequencies, heads, read, false));
      };
      EXPECT_LT(
          max_abs(run.projections[l].queries - wanted(layer.query, layer.query_norm, made.options.heads)),
          1e-11);
      EXPECT_LT(max_abs(run.projections[l].keys - wanted(layer.key, layer.key_norm, made.key_heads())),
                1e-11);
    }
  }
}

}  // namespace
}  // namespace superpose
