#include "scores/asked.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <string>

#include "random_shapes.h"
#include "reference.h"
#include "scores/scheme_registry.h"
#include "scores/shares.h"

namespace superpose {
namespace {

using Terms = std::vector<Matrix<double>>;

Terms of_terms(const Matrix<double>& flat, Eigen::Index n) {
  Terms found;
  for (Eigen::Index t = 0; t < flat.rows(); ++t)
    found.emplace_back(ConstMatrixMap<double>(flat.row(t).data(), n, n));
  return found;
}

const Matrix<double>& at(const Terms& terms, Asked asked) { return terms[static_cast<int>(asked)]; }

Matrix<double> total(const Terms& terms) {
  Matrix<double> sum = terms[0];
  for (std::size_t t = 1; t < terms.size(); ++t) sum += terms[t];
  return sum;
}

Terms asked_of(const Scheme<double>& scheme, const Scheme<double>& average, int head) {
  Matrix<double> flat(kAsked, scheme.n * scheme.n);
  scheme_asked(scheme, average, head, flat.data());
  return of_terms(flat, scheme.n);
}

Matrix<double> score_of(const Scheme<double>& scheme, int head) {
  Matrix<double> terms(scheme.terms.size(), scheme.n * scheme.n), logits(scheme.n, scheme.n);
  scheme_head_terms(scheme, head, terms.data(), logits.data());
  return logits;
}

// Each row less its mean over the keys that it attends to; 0 at the others.
Matrix<double> centred(const Matrix<double>& matrix, bool causal) {
  Matrix<double> found = Matrix<double>::Zero(matrix.rows(), matrix.cols());
  for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
    const Eigen::Index seen = causal ? i + 1 : matrix.cols();
    found.row(i).head(seen) = matrix.row(i).head(seen).array() - matrix.row(i).head(seen).mean();
  }
  return found;
}

// RoPE's scores of a batch, as one thing after another: rows [sequences * n, d_h].
struct Rope {
  Matrix<double> query, key;
  Eigen::Index n;
  std::vector<double> frequencies;
  bool causal = false;
  double scale = 1;
  Layout layout = Layout::interleaved;

  Eigen::Index sequences() const { return query.rows() / n; }
  Matrix<double> score(Eigen::Index sequence) const {
    Matrix<double> found(n, n);
    for (Eigen::Index i = 0; i < n; ++i) {
      for (Eigen::Index j = 0; j < n; ++j) {
        double sum = 0;
        for (std::size_t m = 0; m < frequencies.size(); ++m) {
          const auto pair = [&](const Matrix<double>& rows, Eigen::Index row) {
            const bool side = layout == Layout::interleaved;
            const Eigen::Index first = side ? 2 * m : m, second = side ? 2 * m + 1 : m + frequencies.size();
            return std::complex<double>(rows(sequence * n + row, first), rows(sequence * n + row, second));
          };
          sum +=
              (std::conj(pair(query, i)) * pair(key, j) * std::polar(1.0, (j - i) * frequencies[m])).real();
        }
        found(i, j) = scale * sum;
      }
    }
    return found;
  }
  Terms asked(Eigen::Index sequence, const BatchMeans& q, const BatchMeans& k,
              const std::vector<std::complex<double>>& turns) const {
    Matrix<double> flat(kAsked, n * n);
    turned_asked(part_rows(query.middleRows(sequence * n, n), q.mean, q.place),
                 part_rows(key.middleRows(sequence * n, n), k.mean, k.place), frequencies, layout, turns,
                 scale, flat.data());
    return of_terms(flat, n);
  }
  Terms asked(Eigen::Index sequence) const {
    return asked(sequence, batch_means(query, n), batch_means(key, n), mean_turns(frequencies, n, causal));
  }
  // Of all sequences together, by any split.
  template <typename Split>
  std::vector<double> shares(const Split& split) const {
    std::vector<double> found(kAsked, 0.0);
    double whole = 0;
    for (Eigen::Index b = 0; b < sequences(); ++b) {
      const Matrix<double> centre = centred(score(b), causal);
      const Terms terms = split(b);
      for (int t = 0; t < kAsked; ++t) found[t] += centred(terms[t], causal).cwiseProduct(centre).sum();
      whole += centre.squaredNorm();
    }
    for (double& share : found) share /= whole;
    return found;
  }
  std::vector<double> shares() const {
    return shares([&](Eigen::Index b) { return asked(b); });
  }
};

double share(const std::vector<double>& shares, Asked asked) { return shares[static_cast<int>(asked)]; }

Rope random_rope(Shapes& shapes, bool causal) {
  const int n = shapes.between(1, 7), pairs = shapes.between(1, 3), sequences = shapes.between(1, 4);
  Rope rope{shapes.matrix(sequences * n, 2 * pairs).array() + 0.7,
            shapes.matrix(sequences * n, 2 * pairs).array() - 0.4,
            n,
            rotary_frequencies(2 * pairs, 30),
            causal,
            0.6};
  return rope;
}

TEST(Asked, RopesTermsAddUpToTheScoreInAnyShape) {
  Shapes shapes(1);
  for (int repeat = 0; repeat < 40; ++repeat) {
    Rope rope = random_rope(shapes, shapes.coin());
    if (shapes.coin()) rope.layout = Layout::concatenated;
    for (Eigen::Index b = 0; b < rope.sequences(); ++b) {
      EXPECT_LT(max_abs(total(rope.asked(b)) - rope.score(b)), 1e-13);
    }
  }
}

SchemeInput random_input(Shapes& shapes, bool causal) {
  SchemeInput in;
  const int n = shapes.between(1, 7), d = shapes.between(2, 6), heads = shapes.between(1, 2), all = heads * 4;
  in.content = shapes.matrix(n, d).array() + 0.3;
  in.query = shapes.linear(all, d, true);
  in.key = shapes.linear(all, d, true);
  in.heads = heads;
  in.scale = 0.7;
  in.causal = causal;
  in.position = shapes.matrix(n, d);
  in.position_query = shapes.linear(all, d, false);
  in.position_key = shapes.linear(all, d, false);
  in.offset_keys = shapes.matrix(5, 4);
  in.offsets = shapes.matrix(2 * n - 1, d);
  in.distances = shapes.matrix(4, d);
  in.offset_key = shapes.linear(all, d, false);
  in.rotary_query = shapes.linear(heads * 2, d, false);
  in.rotary_key = shapes.linear(2, d, false);
  in.u = shapes.vector(all);
  in.v = shapes.vector(all);
  in.buckets = {true, 4, 8};
  in.bias = shapes.matrix(5, heads);
  if (shapes.coin()) {
    in.segments.table = shapes.matrix(4, heads);
    for (int i = 0; i < n; ++i) in.segments.ids.push_back(shapes.between(0, 1));
  }
  return in;
}

// The parts of some schemes are not those of the others.
SchemeInput input_for(const std::string& id, SchemeInput in, Shapes& shapes) {
  const Eigen::Index n = in.content.rows();
  if (id.starts_with("tupe")) in.position = shapes.matrix(n + 1, in.content.cols());
  if (id == "diet-abs") {
    in.position_query.weight = shapes.matrix(n, in.heads * 3);
    in.position_key.weight = shapes.matrix(n, in.heads * 3);
  }
  return in;
}

struct Built {
  Scheme<double> scheme, average;
};

Built build(const SchemeInfo& info, const SchemeInput& in) {
  Built built{info.build(in), info.build(with_mean_token(in))};
  built.scheme.causal = built.average.causal = in.causal;
  return built;
}

TEST(Asked, EverySchemesTermsAddUpToItsScoreInAnyShape) {
  Shapes shapes(2);
  for (int repeat = 0; repeat < 12; ++repeat) {
    const SchemeInput common = random_input(shapes, shapes.coin());
    for (const SchemeInfo& info : scheme_registry()) {
      const SchemeInput in = input_for(info.id, common, shapes);
      const auto [scheme, average] = build(info, in);
      for (int head = 0; head < in.heads; ++head) {
        const Matrix<double> score = score_of(scheme, head);
        EXPECT_LT(max_abs(total(asked_of(scheme, average, head)) - score), 1e-12) << info.id;
      }
    }
  }
}

// Those that differ between keys.
constexpr Asked kVarying[] = {Asked::token_token,       Asked::token_position, Asked::position_token,
                              Asked::position_position, Asked::token_offset,   Asked::key};

TEST(Asked, RopeOfABatchIsTheOracles) {
  const rapidjson::Document oracle = reference("asked.json");
  ASSERT_TRUE(oracle.IsObject());
  for (const auto& one : oracle["rope"].GetArray()) {
    Rope rope{matrix_of(one["query"]), matrix_of(one["key"]),   one["n"].GetInt(), {},
              one["causal"].GetBool(), one["scale"].GetDouble()};
    rope.frequencies = rotary_frequencies(static_cast<int>(rope.query.cols()), one["base"].GetDouble());
    const std::vector<double> shares = rope.shares();
    for (const Asked asked : kVarying) {
      const char* const name = kAskedNames[static_cast<int>(asked)];
      const Matrix<double> expected = matrix_of(one["terms"][name]);
      for (Eigen::Index b = 0; b < rope.sequences(); ++b) {
        const Matrix<double> found = centred(at(rope.asked(b), asked), rope.causal);
        EXPECT_LT(max_abs(found - expected.middleRows(b * rope.n, rope.n)), 1e-12) << name;
      }
      EXPECT_NEAR(share(shares, asked), one["shares"][name].GetDouble(), 1e-12) << name;
    }
  }
}

TEST(Asked, OtherSchemesAreTheOracles) {
  const rapidjson::Document oracle = reference("asked.json");
  for (const auto& one : oracle["others"].GetArray()) {
    const Matrix<double> q = matrix_of(one["query"]), k = matrix_of(one["key"]);
    const int n = static_cast<int>(q.rows()), width = static_cast<int>(q.cols());
    const double scale = one["scale"].GetDouble();
    const auto vector = [&](const char* name) {
      Vector<double> found(width);
      for (int c = 0; c < width; ++c) found[c] = one[name][c].GetDouble();
      return found;
    };
    Matrix<double> bias(2 * n - 1, 1);
    for (int t = 0; t < 2 * n - 1; ++t) bias(2 * n - 2 - t, 0) = one["bias"][t].GetDouble();
    const Matrix<double> offsets = matrix_of(one["offsets"]).colwise().reverse();
    const Matrix<double> distances =
        join_columns(matrix_of(one["distance_queries"]), matrix_of(one["distance_keys"]));
    const Matrix<double> identity = Matrix<double>::Identity(width, width), zero = 0 * identity;
    const Content<double> content{q, k, 1};
    const Content<double> mean{q.colwise().mean().replicate(n, 1), k.colwise().mean().replicate(n, 1), 1};
    const auto check = [&](const char* name, const auto& build) {
      const Scheme<double> scheme = build(content);
      const auto& expected = one["schemes"][name];
      EXPECT_LT(max_abs(score_of(scheme, 0) - matrix_of(expected["score"])), 1e-12) << name;
      const Terms terms = asked_of(scheme, build(mean), 0);
      for (const Asked asked : kVarying) {
        const char* const term = kAskedNames[static_cast<int>(asked)];
        EXPECT_LT(max_abs(centred(at(terms, asked), false) - matrix_of(expected["terms"][term])), 1e-12)
            << name << term;
      }
    };
    using C = Content<double>;
    check("alibi", [&](const C& c) { return alibi(c, scale, false); });
    check("bias", [&](const C& c) { return diet_rel<double>(c, bias, {}, scale); });
    check("diet_abs", [&](const C& c) {
      return diet_abs<double>(c, matrix_of(one["position_query"]), matrix_of(one["position_key"]), {}, scale);
    });
    check("shaw", [&](const C& c) { return shaw(c, matrix_of(one["shaw_keys"]), scale); });
    check("transformer_xl", [&](const C& c) {
      return transformer_xl(c, offsets, {identity, {}}, vector("u"), vector("v"), scale);
    });
    check("deberta", [&](const C& c) {
      return deberta(c, distances, {join_columns(identity, zero), {}}, {join_columns(zero, identity), {}},
                     DebertaIndex::paper, scale);
    });
  }
}

}  // namespace
}  // namespace superpose
