#include "scores/scheme_registry.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace superpose {
namespace {

TEST(SchemeRegistry, EntriesAreCompleteAndIdsUnique) {
  std::set<std::string> ids;
  for (const SchemeInfo& info : scheme_registry()) {
    EXPECT_TRUE(ids.insert(info.id).second) << info.id;
    for (const char* text : {info.name, info.formula, info.parameters, info.source}) EXPECT_NE(*text, 0);
    EXPECT_EQ(scheme_parameters(info.id, {}) != scheme_parameters(info.id, {}), false) << info.id;
  }
  EXPECT_EQ(ids.size(), 16u);
  EXPECT_TRUE(std::isnan(scheme_parameters("nonesuch", {})));
}

// BERT-base's shape, worked by hand.
TEST(SchemeRegistry, CountsForBertBase) {
  const SchemeShape bert{768, 12, 64, 64, 16, 512, 128, 32, 12};
  const auto count = [&](const char* id) { return scheme_parameters(id, bert); };
  EXPECT_EQ(count("none") + count("alibi") + count("rope"), 0);
  EXPECT_EQ(count("added"), 393'216);
  EXPECT_EQ(count("concatenated-raw"), 32'768);
  EXPECT_EQ(count("concatenated-full"), 32'768 + 12 * 98'304);
  EXPECT_EQ(count("concatenated-block-diagonal"), 32'768 + 12 * 24'576);
  EXPECT_EQ(count("shaw"), 12 * 257 * 64);
  EXPECT_EQ(count("transformer-xl"), 12 * 589'824 + 1536);
  EXPECT_EQ(count("t5"), 384);
  EXPECT_EQ(count("deberta"), 256 * 768 + 12 * 1'179'648);
  // Beyond a position table, the paper's +1.18 M.
  EXPECT_EQ(count("tupe-a") - 513 * 768, 1'179'648);
  EXPECT_EQ(count("tupe-r") - count("tupe-a"), 33 * 12);
  EXPECT_EQ(count("diet-abs"), 2 * 12 * 512 * 768);
  EXPECT_EQ(count("diet-rel"), 12 * 257 * 12);
  EXPECT_EQ(count("decoupled-rope"), 12 * 768 * 13 * 64);
}

}  // namespace
}  // namespace superpose
