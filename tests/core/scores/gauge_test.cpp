#include "scores/gauge.h"

#include <gtest/gtest.h>

#include <cmath>

#include "random_shapes.h"
#include "reference.h"
#include "scores/head.h"

namespace superpose {
namespace {

struct GaugeCase {
  std::vector<Matrix<double>> summands;
  std::vector<int> apart;
  Normalization<double> norm;
  Linear<double> query, key;
  int heads = 1, n = 0, d = 0;
  double scale = 1;

  GaugeCase(Shapes& shapes, int rows, int summand_count) {
    n = rows;
    d = shapes.between(3, 12);
    heads = shapes.between(1, 3);
    const int d_h = shapes.between(1, 6);
    scale = 1 / std::sqrt(d_h);
    for (int s = 0; s < summand_count; ++s) summands.push_back(shapes.matrix(n, d));
    for (int i = 0; i < n; ++i) {
      if (n - static_cast<int>(apart.size()) > 2 && shapes.between(0, 3) == 0) apart.push_back(i);
    }
    switch (shapes.between(0, 2)) {
      case 0:
        norm = {Norm::layer_norm, shapes.vector(d), shapes.vector(d), 1e-5};
        break;
      case 1:
        norm = {Norm::rms_norm, shapes.vector(d), {}, 1e-6};
        break;
      default:
        break;
    }
    query = shapes.linear(heads * d_h, d, shapes.coin());
    key = shapes.linear(heads * d_h, d, shapes.coin());
  }

  bool is_apart(int row) const { return std::count(apart.begin(), apart.end(), row) > 0; }
  int used() const { return n - static_cast<int>(apart.size()); }

  Gauge<double> gauge(GaugeKind kind) const { return {kind, {}, apart}; }
  ProjectedParts<double> project() const { return project_sum(summands, norm, query, key, heads, scale); }
  ProjectedParts<double> in(const Gauge<double>& gauge) const {
    auto parts = project();
    apply_gauge(gauge, norm, query, key, parts);
    return parts;
  }
};

double size_of(const Head& head) { return std::max(1.0, max_abs(head.terms)); }

// A mean subtracted from the summands themselves, and put into a summand of its own that counts as constant.
ProjectedParts<double> by_definition(const GaugeCase& c, const Matrix<double>& means) {
  const int count = static_cast<int>(c.summands.size());
  std::vector<Matrix<double>> split = c.summands;
  split.push_back(Matrix<double>::Zero(c.n, c.d));
  for (int i = 0; i < c.n; ++i) {
    for (int s = 0; s < count; ++s) {
      const Matrix<double> taken = c.is_apart(i) ? c.summands[s].row(i) : means.row(s);
      split[s].row(i) -= taken;
      split[count].row(i) += taken;
    }
  }
  std::vector<int> group_of;
  for (int s = 0; s <= count; ++s) group_of.push_back(s);
  group_of.push_back(count);
  return merge_parts(project_sum(split, c.norm, c.query, c.key, c.heads, c.scale), group_of, count + 1);
}

Matrix<double> means_by_definition(const GaugeCase& c) {
  Matrix<double> means = Matrix<double>::Zero(c.summands.size(), c.d);
  double weights = 0;
  for (int i = 0; i < c.n; ++i) {
    if (c.is_apart(i)) continue;
    Vector<double> sum = Vector<double>::Zero(c.d);
    for (const auto& summand : c.summands) sum += summand.row(i).transpose();
    double sigma = 1;
    if (c.norm.kind != Norm::none) {
      if (c.norm.kind == Norm::layer_norm) sum.array() -= sum.mean();
      sigma = std::sqrt(sum.squaredNorm() / c.d + c.norm.epsilon);
    }
    weights += 1 / sigma;
    for (std::size_t s = 0; s < c.summands.size(); ++s) means.row(s) += c.summands[s].row(i) / sigma;
  }
  return means / weights;
}

TEST(Gauge, AfterProjectionIsWhatTheMeansAreBeforeIt) {
  Shapes shapes(1);
  for (int trial = 0; trial < 100; ++trial) {
    const GaugeCase c(shapes, shapes.between(2, 9), shapes.between(1, 3));
    Gauge<double> given = c.gauge(GaugeKind::means);
    given.means = shapes.matrix(c.summands.size(), c.d);
    const struct {
      Gauge<double> gauge;
      Matrix<double> means;
    } both[] = {{c.gauge(GaugeKind::canonical), means_by_definition(c)}, {given, given.means}};
    for (const auto& [gauge, means] : both) {
      const auto found = c.in(gauge), wanted = by_definition(c, means);
      for (int head = 0; head < c.heads; ++head) {
        const Head of = head_of(found, head), as = head_of(wanted, head);
        EXPECT_LT(max_abs(of.terms - as.terms), 1e-12 * size_of(as));
        EXPECT_LT(of.residual, 1e-12 * size_of(of));
        EXPECT_EQ(of.logits, head_of(c.project(), head).logits);
      }
    }
  }
}

// t + a, p + b, s - a - b; and v moved between two summands of a row that stands apart.
TEST(Gauge, CanonicalTermsAndSharesDoNotMoveWithShifts) {
  Shapes shapes(2);
  double raw_moved = 0, raw_shares_moved = 0;
  for (int trial = 0; trial < 60; ++trial) {
    const int count = shapes.between(2, 4);
    GaugeCase c(shapes, shapes.between(4, 9), count), shifted = c;
    Vector<double> rest = Vector<double>::Zero(c.d);
    for (int s = 0; s < count; ++s) {
      const Vector<double> shift = s + 1 < count ? Vector<double>(2 * shapes.vector(c.d)) : -rest;
      rest += shift;
      shifted.summands[s].rowwise() += shift.transpose();
    }
    for (int row : c.apart) {
      const Vector<double> v = 2 * shapes.vector(c.d);
      shifted.summands[0].row(row) += v.transpose();
      shifted.summands[1].row(row) -= v.transpose();
    }
    const CountedPairs counted{row_flags(c.apart, c.n), shapes.coin()};
    for (int head = 0; head < c.heads; ++head) {
      const Head raw = head_of(c.project(), head), moved = head_of(shifted.project(), head);
      const double size = std::max(size_of(raw), size_of(moved));
      ASSERT_LT(max_abs(raw.logits - moved.logits), 1e-12 * size);
      raw_moved = std::max(raw_moved, max_abs(raw.terms - moved.terms));
      raw_shares_moved = std::max(raw_shares_moved, max_abs(raw.shares(counted) - moved.shares(counted)));

      const auto canonical = c.gauge(GaugeKind::canonical);
      const Head of = head_of(c.in(canonical), head), as = head_of(shifted.in(canonical), head);
      EXPECT_LT(max_abs(of.terms - as.terms), 1e-11 * size);
      const double spread = row_centred(of.logits).cwiseAbs().maxCoeff();
      EXPECT_LT(max_abs(of.shares(counted) - as.shares(counted)),
                1e-11 * std::pow(std::max(1.0, size / spread), 2));
    }
  }
  EXPECT_GT(raw_moved, 10);
  EXPECT_GT(raw_shares_moved, 1);
}

TEST(Gauge, CanonicalTermsOfTwoPartsHaveZeroRowAndColumnSums) {
  Shapes shapes(3);
  double raw = 0;
  for (int trial = 0; trial < 60; ++trial) {
    const GaugeCase c(shapes, shapes.between(2, 9), shapes.between(1, 3));
    const auto parts = c.in(c.gauge(GaugeKind::canonical));
    const int count = static_cast<int>(c.summands.size());
    for (int head = 0; head < c.heads; ++head) {
      const Head of = head_of(parts, head), as_it_came = head_of(c.project(), head);
      const double size = std::max(size_of(of), size_of(as_it_came));
      for (int s = 0; s < count; ++s) {
        for (int r = 0; r < count; ++r) {
          const Matrix<double> term = of.term(s * (count + 1) + r);
          EXPECT_LT(max_abs(term.rowwise().sum()), 1e-12 * size);
          EXPECT_LT(max_abs(term.colwise().sum()), 1e-12 * size);
          for (int row : c.apart) EXPECT_EQ(max_abs(term.row(row)) + max_abs(term.col(row)), 0);
          raw = std::max(raw, max_abs(as_it_came.term(s * (count + 1) + r).rowwise().sum()));
        }
      }
    }
  }
  EXPECT_GT(raw, 1);
}

TEST(Gauge, RawTermsAreAsTheyCome) {
  Shapes shapes(4);
  const GaugeCase c(shapes, 6, 2);
  EXPECT_EQ(head_of(c.in(c.gauge(GaugeKind::raw)), 0).terms, head_of(c.project(), 0).terms);
}

TEST(Gauge, WithFewerThanTwoUsedRowsSharesAreNan) {
  Shapes shapes(5);
  for (int used = 0; used < 2; ++used) {
    GaugeCase c(shapes, 3, 2);
    c.apart = used ? std::vector<int>{0, 2} : std::vector<int>{0, 1, 2};
    const Head of = head_of(c.in(c.gauge(GaugeKind::canonical)), 0);
    EXPECT_LT(of.residual, 1e-12 * size_of(of));
    const Vector<double> shares = of.shares({row_flags(c.apart, c.n), false});
    for (double share : shares) EXPECT_TRUE(std::isnan(share));
  }
  GaugeCase none(shapes, 2, 2);
  none.n = 0;
  none.apart.clear();
  for (auto& summand : none.summands) summand.resize(0, none.d);
  EXPECT_EQ(head_of(none.in(none.gauge(GaugeKind::canonical)), 0).residual, 0);
}

// tests/reference/gauge.py, where there may be no norm, one or two.
Normalization<double> norm_of(const rapidjson::Value& norm) {
  const bool layer_norm = norm["kind"].GetString() == std::string("layernorm");
  Normalization<double> result{
      layer_norm ? Norm::layer_norm : Norm::rms_norm, {}, {}, norm["eps"].GetDouble()};
  const auto vector = [&](const char* name) {
    Vector<double> values(norm.HasMember(name) && norm[name].IsArray() ? norm[name].Size() : 0);
    for (Eigen::Index c = 0; c < values.size(); ++c) values[c] = norm[name][c].GetDouble();
    return values;
  };
  result.gamma = vector("gamma");
  result.beta = vector("beta");
  return result;
}

Linear<double> linear_of(const rapidjson::Value& weight, const rapidjson::Value& bias) {
  Linear<double> linear{matrix_of(weight), {}};
  if (bias.IsNull()) return linear;
  linear.bias.resize(bias.Size());
  for (rapidjson::SizeType c = 0; c < bias.Size(); ++c) linear.bias[c] = bias[c].GetDouble();
  return linear;
}

TEST(Gauge, IsTheReferences) {
  const auto file = reference("gauge.json");
  ASSERT_TRUE(file.IsObject());
  ASSERT_GT(file["cases"].Size(), 8u);
  for (const auto& of : file["cases"].GetArray()) {
    SCOPED_TRACE(of["name"].GetString());
    std::vector<Matrix<double>> summands;
    for (const auto& table : of["summands"].GetArray()) summands.push_back(matrix_of(table));
    const int count = static_cast<int>(summands.size()), heads = of["heads"].GetInt();
    const Eigen::Index n = summands[0].rows();
    std::vector<int> apart_rows;
    for (const auto& row : of["apart"].GetArray()) apart_rows.push_back(row.GetInt());
    const auto apart = row_flags(apart_rows, n);
    const auto query = linear_of(of["query_weight"], of["query_bias"]);
    const auto key = linear_of(of["key_weight"], of["key_bias"]);
    Matrix<double> given = of["given_means"].IsNull() ? Matrix<double>() : matrix_of(of["given_means"]);

    Normalization<double> norm;
    Vector<double> before = Vector<double>::Ones(n);
    const auto& norms = of["norms"];
    if (norms.Size() > 0) norm = norm_of(norms[norms.Size() - 1]);
    if (norms.Size() == 2) {
      // The first norm's parts are the second one's summands, and its beta is one more.
      const auto first = norm_of(norms[0]);
      const auto normalized = normalize(summands, first);
      before = normalized.sigma;
      for (int s = 0; s < count; ++s) summands[s] = normalized.part(s);
      summands.push_back(first.beta.transpose().replicate(n, 1));
      ASSERT_EQ(given.size(), 0);
    }
    auto raw = project_sum(summands, norm, query, key, heads, of["scale"].GetDouble());
    if (norms.Size() == 2) {
      std::vector<int> group_of;
      for (int s = 0; s <= count; ++s) group_of.push_back(s);
      group_of.push_back(count);
      raw = merge_parts(raw, group_of, count + 1);
      raw.sigma = raw.sigma.cwiseProduct(before);
    }
    const bool causal = of["causal"].GetBool();
    const auto check = [&](const Gauge<double>& gauge, const char* terms, const char* shares, bool all_rows) {
      auto parts = raw;
      apply_gauge(gauge, norm, query, key, parts);
      for (int head = 0; head < heads; ++head) {
        const Head found = head_of(parts, head);
        EXPECT_LT(max_abs(found.logits - matrix_of(of["logits"][head])), 1e-12 * size_of(found));
        for (int t = 0; t < found.terms.rows(); ++t) {
          EXPECT_LT(max_abs(found.term(t) - matrix_of(of[terms][head][t])), 1e-12 * size_of(found)) << t;
        }
        const auto result = found.shares({all_rows ? std::vector<char>() : apart, causal});
        const auto& wanted = of["shares"][shares][head];
        for (Eigen::Index t = 0; t < result.size(); ++t) {
          if (wanted.IsNull()) {
            EXPECT_TRUE(std::isnan(result[t])) << t;
          } else {
            EXPECT_NEAR(result[t], wanted[t].GetDouble(), 1e-11 * size_of(found)) << shares << t;
          }
        }
      }
    };
    check({GaugeKind::raw, {}, {}}, "raw_terms", "raw", true);
    check({GaugeKind::raw, {}, apart_rows}, "raw_terms", "raw_over_used_rows", false);
    check({GaugeKind::canonical, {}, apart_rows}, "canonical_terms", "canonical", false);
    if (given.size()) check({GaugeKind::means, given, apart_rows}, "terms_by_given_means", "means", false);
  }
}

}  // namespace
}  // namespace superpose
