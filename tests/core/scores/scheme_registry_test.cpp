#include "scores/scheme_registry.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <set>

#include "random_shapes.h"

namespace superpose {
namespace {

TEST(SchemeRegistry, EntriesAreCompleteAndIdsUnique) {
  std::set<std::string> ids;
  for (const SchemeInfo& info : scheme_registry()) {
    EXPECT_TRUE(ids.insert(info.id).second) << info.id;
    for (const char* text : {info.name, info.formula, info.parameters, info.source}) EXPECT_NE(*text, 0);
    EXPECT_EQ(find_scheme(info.id), &info);
  }
  for (const char* id : {"nonesuch", "", "tupe", "None"}) EXPECT_EQ(find_scheme(id), nullptr) << id;
}

// BERT-base's shape, worked by hand.
TEST(SchemeRegistry, CountsForBertBase) {
  const SchemeShape bert{{1, 768, 12, 64, 64, 16, 768, 512, 128, 32, 12}};
  const auto count = [&](const char* id) { return scheme_parameters(*find_scheme(id), bert); };
  EXPECT_EQ(count("none") + count("alibi") + count("rope"), 0);
  EXPECT_EQ(count("add"), 393'216);
  EXPECT_EQ(count("concat-raw"), 32'768);
  EXPECT_EQ(count("concat-full"), 32'768 + 12 * 98'304);
  EXPECT_EQ(count("concat-block-diagonal"), 32'768 + 12 * 24'576);
  EXPECT_EQ(count("shaw"), 12 * 257 * 64);
  EXPECT_EQ(count("transformer-xl"), 12 * 589'824 + 1536);
  EXPECT_EQ(count("t5"), 384);
  EXPECT_EQ(count("deberta"), 256 * 768 + 12 * 1'179'648);
  // Besides a position table, the paper's +1.18 M.
  EXPECT_EQ(count("tupe-a") - 513 * 768, 1'179'648);
  EXPECT_EQ(count("tupe-r") - count("tupe-a"), 33 * 12);
  EXPECT_EQ(count("diet-abs"), 2 * 12 * 512 * 768);
  EXPECT_EQ(count("diet-rel"), 12 * 257 * 12);
  EXPECT_EQ(count("decoupled-rope"), 12 * 768 * 13 * 64);
}

// Each entry builds the scheme that its id names: given parts that all of them can read, the logits are those
// of the function in schemes.h.
TEST(SchemeRegistry, EntriesBuildTheirSchemes) {
  Shapes shapes(5);
  const int n = 4, d = 6, heads = 2, width = 2, all = heads * width;
  SchemeInput in;
  in.content = shapes.matrix(n, d);
  in.query = shapes.linear(all, d, true);
  in.key = shapes.linear(all, d, true);
  in.heads = heads;
  in.scale = 0.7;
  in.position_scale = 1.5;
  in.offset_keys = shapes.matrix(5, width);
  in.offsets = shapes.matrix(2 * n - 1, d);
  in.distances = shapes.matrix(4, d);
  in.offset_key = shapes.linear(all, d, false);
  in.rotary_query = shapes.linear(all, d, false);
  in.rotary_key = shapes.linear(width, d, false);
  in.u = shapes.vector(all);
  in.v = shapes.vector(all);
  in.buckets = {true, 4, 8};
  const Matrix<double> rows = shapes.matrix(n, d), tupe_rows = shapes.matrix(n + 1, d);
  const Matrix<double> biases = shapes.matrix(5, heads), diet_query = shapes.matrix(n, all);
  const Linear<double> uq = shapes.linear(all, d, false), uk = shapes.linear(all, d, false);
  const Content<double> content = project_content(in.content, in.query, in.key, heads);
  const Matrix<double> scaled = 1.5 * rows;
  const auto with = [&](const Matrix<double>& position, const Matrix<double>& bias) {
    SchemeInput changed = in;
    changed.position = position;
    changed.bias = bias;
    changed.position_query = uq;
    changed.position_key = uk;
    return changed;
  };
  const SchemeInput plain = with(rows, biases), untied = with(tupe_rows, biases);
  SchemeInput diet = plain;
  diet.position_query.weight = diet_query;
  diet.position_key.weight = 2 * diet_query;
  struct Built {
    const char* id;
    const SchemeInput& from;
    Scheme<double> expected;
  };
  const std::vector<Built> built = {
      {"none", plain, none(content, 0.7)},
      {"add", plain, add(in.content, scaled, in.query, in.key, heads, 0.7)},
      {"concat-raw", plain, concat_raw(in.content, scaled, heads, 0.7)},
      {"concat-full", plain,
       concat_full(in.content, scaled, in.query, in.key, uq.weight, uk.weight, heads, 0.7)},
      {"concat-block-diagonal", plain,
       concat_block_diagonal(content, project_content(scaled, uq, uk, heads), 0.7)},
      {"shaw", plain, shaw(content, in.offset_keys, 0.7)},
      {"transformer-xl", plain, transformer_xl(content, in.offsets, in.offset_key, in.u, in.v, 0.7)},
      {"t5", plain, t5(content, biases, in.buckets, 0.7)},
      {"alibi", plain, alibi(content, 0.7, false)},
      {"deberta", plain, deberta(content, in.distances, uq, uk, DebertaIndex::paper, 0.7)},
      {"tupe-a", untied, tupe(content, tupe_rows, uq, uk, true, {}, in.buckets, 0.7)},
      {"tupe-r", untied, tupe(content, tupe_rows, uq, uk, true, biases, in.buckets, 0.7)},
      {"diet-abs", diet, diet_abs<double>(content, diet_query, 2 * diet_query, {}, 0.7)},
      {"diet-rel", plain, diet_rel<double>(content, biases, {}, 0.7)},
      {"rope", plain, rope(content, Layout::interleaved, 10000, 0.7)},
      {"decoupled-rope", plain,
       decoupled_rope(content, apply(in.rotary_query, in.content), apply(in.rotary_key, in.content),
                      Layout::interleaved, 10000, 0.7)}};
  std::vector<Matrix<double>> seen;
  for (const Built& one : built) {
    const SchemeInfo& info = *find_scheme(one.id);
    const Scheme<double> scheme = info.build(one.from);
    EXPECT_EQ(scheme.whole.empty(), !info.whole) << one.id;
    ASSERT_EQ(scheme.terms.size(), one.expected.terms.size()) << one.id;
    // The names that the registry publishes are those of what it builds.
    ASSERT_EQ(scheme.terms.size(), info.terms.size()) << one.id;
    for (std::size_t t = 0; t < info.terms.size(); ++t) EXPECT_STREQ(scheme.terms[t].name, info.terms[t]);
    Matrix<double> terms(scheme.terms.size(), n * n), logits(n, n), expected(n, n);
    scheme_head_terms(one.expected, 1, terms.data(), expected.data());
    scheme_head_terms(scheme, 1, terms.data(), logits.data());
    EXPECT_EQ(logits, expected) << one.id;
    for (const Matrix<double>& other : seen) EXPECT_NE(logits, other) << one.id;
    seen.push_back(logits);
  }
}

// Its two formulas are the two plots: m_h is 1/16 and 1/256 for two heads.
TEST(SchemeRegistry, AlibiHasTheSlopesOfBothFormulas) {
  SchemeInput in;
  in.content = Matrix<double>::Zero(3, 1);
  in.query = in.key = {Matrix<double>::Zero(2, 1), {}};
  in.heads = 2;
  for (const bool causal : {false, true}) {
    in.causal = causal;
    Matrix<double> terms(2, 9), logits(3, 3);
    scheme_head_terms(find_scheme("alibi")->build(in), 0, terms.data(), logits.data());
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) EXPECT_EQ(logits(i, j), -(causal ? i - j : std::abs(i - j)) / 16.0);
    }
  }
}

}  // namespace
}  // namespace superpose
