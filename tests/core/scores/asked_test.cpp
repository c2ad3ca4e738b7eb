#include "scores/asked.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <string>

#include "encodings/gram.h"
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

TEST(Asked, OneKindOfTokenLeavesPositionsAlone) {
  Shapes shapes(3);
  for (int repeat = 0; repeat < 6; ++repeat) {
    SchemeInput common = random_input(shapes, shapes.coin());
    common.segments = {};
    common.content = with_mean_token(common).content;
    for (const SchemeInfo& info : scheme_registry()) {
      const auto [scheme, average] = build(info, input_for(info.id, common, shapes));
      const Terms terms = asked_of(scheme, average, 0);
      const Matrix<double> rest = at(terms, Asked::position_position) + at(terms, Asked::query);
      EXPECT_LT(max_abs(total(terms) - rest), 1e-12) << info.id;
      for (const Asked asked : {Asked::token_token, Asked::token_offset, Asked::token_position,
                                Asked::position_token, Asked::key}) {
        EXPECT_LT(max_abs(at(terms, asked)), 1e-12) << info.id;
      }
    }
  }
}

TEST(Asked, WithoutPositionsNoTermCarriesPosition) {
  Shapes shapes(4);
  const SchemeInput in = random_input(shapes, false);
  const auto [scheme, average] = build(*find_scheme("none"), in);
  Terms without = asked_of(scheme, average, 0);
  Rope rope = random_rope(shapes, true);
  rope.frequencies.assign(rope.frequencies.size(), 0);
  BatchMeans q = batch_means(rope.query, rope.n), k = batch_means(rope.key, rope.n);
  q.place = k.place = {};
  const Terms still = rope.asked(0, q, k, mean_turns(rope.frequencies, rope.n, true));
  for (const Asked asked :
       {Asked::token_offset, Asked::token_position, Asked::position_token, Asked::position_position}) {
    EXPECT_LT(max_abs(at(without, asked)), 1e-13);
    EXPECT_LT(max_abs(at(still, asked)), 1e-13);
  }
}

// The first layer: tokens of a vocabulary, each as likely at every place.
struct FirstLayer {
  explicit FirstLayer(unsigned seed, bool causal = false) : shapes(seed), causal(causal) {
    queries = shapes.matrix(tokens, width).array() + 0.9;
    keys = shapes.matrix(tokens, width).array() - 0.5;
    frequencies = rotary_frequencies(width, 20);
  }
  // The terms at every pair of places, with one token asking and another asked.
  Terms between(int asking, int asked) const {
    const BatchMeans q{queries.colwise().mean(), {}}, k{keys.colwise().mean(), {}};
    return rope_of(queries.row(asking).replicate(n, 1), keys.row(asked).replicate(n, 1))
        .asked(0, q, k, mean_turns(frequencies, n, causal));
  }
  Rope rope_of(const Matrix<double>& query, const Matrix<double>& key) const {
    return {query, key, n, frequencies, causal, 0.5};
  }

  Shapes shapes;
  bool causal;
  int tokens = 5, width = 6, n = 6;
  Matrix<double> queries, keys;
  std::vector<double> frequencies;
};

TEST(Asked, InTheFirstLayerPositionsAskAboutTheDistanceAlone) {
  const FirstLayer layer(5);
  for (int token = 0; token < layer.tokens; ++token) {
    const Terms terms = layer.between(token, (token + 2) % layer.tokens);
    EXPECT_LT(toeplitz_spread(at(terms, Asked::position_position)), 1e-13);
    EXPECT_GT(max_abs(at(terms, Asked::position_position)), 0.1);
  }
}

TEST(Asked, InTheFirstLayerTermsAreOrthogonalUnderProductWeights) {
  for (const bool causal : {false, true}) {
    const FirstLayer layer(6, causal);
    Matrix<double> products = Matrix<double>::Zero(kAsked, kAsked);
    for (int asking = 0; asking < layer.tokens; ++asking) {
      for (int asked = 0; asked < layer.tokens; ++asked) {
        const Terms terms = layer.between(asking, asked);
        for (Eigen::Index i = 0; i < layer.n; ++i) {
          for (Eigen::Index j = 0; j < (causal ? i + 1 : layer.n); ++j) {
            for (int s = 0; s < kAsked; ++s) {
              for (int t = 0; t < kAsked; ++t) products(s, t) += terms[s](i, j) * terms[t](i, j);
            }
          }
        }
      }
    }
    for (int s = 0; s < kAsked; ++s) {
      EXPECT_GT(products(s, s), 1);
      for (int t = 0; t < s; ++t)
        EXPECT_LT(std::abs(products(s, t)), 1e-10) << kAskedNames[s] << kAskedNames[t];
    }
  }
}

TEST(Asked, BothLayoutsGiveTheSame) {
  Shapes shapes(7);
  for (int repeat = 0; repeat < 10; ++repeat) {
    const Rope one = random_rope(shapes, shapes.coin());
    Rope other = one;
    other.layout = Layout::concatenated;
    const std::vector<int> order = rotary_permutation(static_cast<int>(one.query.cols()));
    for (std::size_t c = 0; c < order.size(); ++c) {
      other.query.col(c) = one.query.col(order[c]);
      other.key.col(c) = one.key.col(order[c]);
    }
    const Terms left = one.asked(0), right = other.asked(0);
    for (int t = 0; t < kAsked; ++t) EXPECT_LT(max_abs(left[t] - right[t]), 1e-13);
  }
}

// q_m times z and k_m over its conjugate leave every score; so does moving all places, which only turns the rows.
TEST(Asked, PhasesAndShiftsOfAllPlacesChangeNoShare) {
  Shapes shapes(8);
  for (int repeat = 0; repeat < 10; ++repeat) {
    Rope one = random_rope(shapes, shapes.coin());
    if (one.n == 1) continue;
    Rope other = one;
    const double by = 1 + repeat;
    for (std::size_t m = 0; m < one.frequencies.size(); ++m) {
      const std::complex<double> gauge = std::polar(1.3 + 0.1 * static_cast<double>(m), 0.8 * repeat);
      const std::complex<double> shift = std::polar(1.0, by * one.frequencies[m]);
      const auto times = [&](Matrix<double>* rows, std::complex<double> factor) {
        for (Eigen::Index row = 0; row < rows->rows(); ++row) {
          const std::complex<double> value =
              factor * std::complex<double>((*rows)(row, 2 * m), (*rows)(row, 2 * m + 1));
          (*rows)(row, 2 * m) = value.real();
          (*rows)(row, 2 * m + 1) = value.imag();
        }
      };
      times(&other.query, gauge * shift);
      times(&other.key, shift / std::conj(gauge));
    }
    EXPECT_LT(max_abs(one.score(0) - other.score(0)), 1e-12);
    const std::vector<double> left = one.shares(), right = other.shares();
    for (int t = 0; t < kAsked; ++t) EXPECT_NEAR(left[t], right[t], 1e-11);
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

// Splits that were tried and rejected, each in a case that shows why.

// A batch of the first layer: tokens drawn alike at every place.
Rope drawn(FirstLayer& layer, int sequences) {
  Matrix<double> q(sequences * layer.n, layer.width), k = q;
  for (Eigen::Index row = 0; row < q.rows(); ++row) {
    const int token = layer.shapes.between(0, layer.tokens - 1);
    q.row(row) = layer.queries.row(token);
    k.row(row) = layer.keys.row(token);
  }
  return layer.rope_of(q, k);
}

// Its scores are those of the distance, and its tokens share a row without any bias being there. Whoever takes the biases
// for the position's part, here none, finds nothing but tokens.
TEST(Asked, BiasesAsPositionMissWhatTokensShare) {
  FirstLayer layer(9);
  layer.queries = 0.1 * layer.shapes.matrix(layer.tokens, layer.width).array() + 1;
  layer.keys = 0.1 * layer.shapes.matrix(layer.tokens, layer.width).array() + 1;
  const Rope rope = drawn(layer, 40);
  EXPECT_GT(share(rope.shares(), Asked::position_position), 0.9);
  const BatchMeans none{Matrix<double>::Zero(1, layer.width), {}};
  const std::vector<double> biases = rope.shares([&](Eigen::Index b) {
    return rope.asked(b, none, none, mean_turns(layer.frequencies, layer.n, false));
  });
  EXPECT_LT(share(biases, Asked::position_position), 0.01);
  EXPECT_GT(share(biases, Asked::token_offset), 0.8);
}

// Tokens without anything in common, which ask about tokens alone. A sequence's own mean is not 0, and looks like it.
TEST(Asked, SequenceMeansLeakAnNthIntoTheKey) {
  FirstLayer layer(10);
  layer.queries.rowwise() -= layer.queries.colwise().mean().eval();
  layer.keys = layer.queries;
  layer.frequencies.assign(layer.frequencies.size(), 1e-3);
  const Rope rope = drawn(layer, 400);
  EXPECT_LT(share(rope.shares(), Asked::key), 0.005);
  const std::vector<double> own = rope.shares([&](Eigen::Index b) {
    const auto mean = [&](const Matrix<double>& rows) {
      return BatchMeans{rows.middleRows(b * rope.n, rope.n).colwise().mean(), {}};
    };
    return rope.asked(b, mean(rope.query), mean(rope.key), mean_turns(rope.frequencies, rope.n, false));
  });
  EXPECT_GT(share(own, Asked::key), 0.05);
}

// Some tokens are liked by every query, wherever they stand: their own appeal. With no mean of the rotation, that is
// taken for a question of positions about tokens; with the rotation at distance 0 in its place, shares are negative.
TEST(Asked, TheMeanRotationHoldsTheKeysOwnAppeal) {
  FirstLayer layer(11, true);
  layer.n = 8;
  layer.queries = Matrix<double>::Constant(layer.tokens, layer.width, 1);
  layer.keys = 2 * layer.shapes.matrix(layer.tokens, layer.width);
  // All of one phase, so that distances make every liking weaker.
  for (int m = 0; m < 3; ++m) {
    layer.queries.col(2 * m + 1).setZero();
    layer.keys.col(2 * m + 1).setZero();
  }
  layer.frequencies = {0.25, 0.15, 0.05};
  const Rope rope = drawn(layer, 60);
  const auto with = [&](const std::vector<std::complex<double>>& turns) {
    return rope.shares([&](Eigen::Index b) {
      return rope.asked(b, batch_means(rope.query, rope.n), batch_means(rope.key, rope.n), turns);
    });
  };
  const std::vector<double> rule = rope.shares(), none = with({0, 0, 0}), first = with({1, 1, 1});
  EXPECT_GT(share(rule, Asked::key), 0.5);
  EXPECT_EQ(share(none, Asked::key), 0);
  EXPECT_GT(share(none, Asked::position_token), share(rule, Asked::position_token) + 0.5);
  EXPECT_GT(share(rule, Asked::position_token), 0);
  EXPECT_LT(share(first, Asked::position_token), -0.05);
}

// In a second layer that looks back, a row tells its place. Without the means at places that is the tokens'.
TEST(Asked, PlacesHaveMeansOfTheirOwnFromTheSecondLayerOn) {
  FirstLayer layer(12, true);
  Rope rope = drawn(layer, 60);
  const Matrix<double> place = 2 * layer.shapes.matrix(layer.n, layer.width);
  for (Eigen::Index row = 0; row < rope.query.rows(); ++row) {
    rope.query.row(row) = 0.3 * rope.query.row(row) + place.row(row % layer.n);
    rope.key.row(row) = 0.3 * rope.key.row(row) + place.row(row % layer.n);
  }
  EXPECT_GT(share(rope.shares(), Asked::position_position), 0.9);
  const std::vector<double> without = rope.shares([&](Eigen::Index b) {
    BatchMeans q = batch_means(rope.query, rope.n), k = batch_means(rope.key, rope.n);
    q.place = k.place = {};
    return rope.asked(b, q, k, mean_turns(rope.frequencies, rope.n, true));
  });
  EXPECT_LT(share(without, Asked::position_position), 0.5);
}

}  // namespace
}  // namespace superpose
