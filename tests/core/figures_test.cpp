// A few results of the library, from seeded numbers to measurements of them, that every platform must
// reproduce: tests/reference/figures.json. This test compares it or, with SUPERPOSE_WRITE set, writes it.
// tests/api/figures.test.ts compares the same file in Node and in browsers.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <map>

#include "encodings/channels.h"
#include "encodings/gram.h"
#include "encodings/sinusoidal.h"
#include "geometry/cosines.h"
#include "geometry/subspaces.h"
#include "numeric/orthogonal.h"
#include "numeric/random.h"
#include "reference.h"
#include "scores/decomposition.h"
#include "scores/shares.h"

namespace superpose {
namespace {

using Figures = std::map<std::string, std::vector<double>>;

std::vector<double> listed(const Vector<double>& values) {
  return {values.data(), values.data() + values.size()};
}

Figures figures() {
  Figures all;
  const Matrix<double> token = random_normal<double>(9, 8, 1, 1, 0);
  const Matrix<double> position = sinusoidal({9, 8});
  const Linear<double> query{random_normal<double>(8, 8, 1, 2, 0), {}};
  const Linear<double> key{random_normal<double>(8, 8, 1, 3, 0), {}};
  const auto parts =
      project_sum<double>({token, position}, {{Norm::layer_norm, {}, {}, 1e-12}, query, key, 2, 0.5});
  Matrix<double> terms(parts.terms(), 81), logits(9, 9);
  head_terms(parts, 1, terms.data(), logits.data());
  all["decompose.logits"] = {logits.data(), logits.data() + logits.size()};
  all["decompose.shares"] =
      listed(row_centred_covariances(terms.data(), parts.terms(), logits.data(), 9).shares);

  const auto spreads = gram_spreads({64, 32}, 1);
  all["gramSpreads"] = {spreads.centred, spreads.sines, spreads.random_form};
  all["sampleCosines"] = listed(sample_cosines(16, 5, 1));
  all["cosineTail"] = {cosine_tail(0.1, 512)};
  all["randomPrincipalAngles"] =
      listed(principal_angles(random_subspace(64, 3, 1, 0), random_subspace(64, 3, 1, 1)));
  all["energyOverlap"] = {energy_overlap(token, position)};
  const auto values = singular_values(sinusoidal({128, 64}));
  all["ranks"] = {stable_rank(values), participation_ratio(values)};
  return all;
}

TEST(Figures, AreTheSameHere) {
  const Figures ours = figures();
  if (std::getenv("SUPERPOSE_WRITE")) {
    std::ofstream file(SUPERPOSE_REFERENCE "/figures.json");
    file << std::setprecision(17) << "{";
    const char* between = "";
    for (const auto& [name, values] : ours) {
      file << between << "\n  \"" << name << "\": [";
      for (std::size_t k = 0; k < values.size(); ++k) file << (k ? "," : "") << values[k];
      file << "]";
      between = ",";
    }
    file << "\n}\n";
  }
  const rapidjson::Document theirs = reference("figures.json");
  ASSERT_TRUE(theirs.IsObject());
  ASSERT_EQ(theirs.MemberCount(), ours.size());
  for (const auto& [name, values] : ours) {
    const auto& expected = theirs[name.c_str()];
    ASSERT_EQ(expected.Size(), values.size()) << name;
    // Another libm may round differently: the widest bound that tests/api/figures.test.ts derives.
    for (rapidjson::SizeType k = 0; k < expected.Size(); ++k) {
      EXPECT_NEAR(values[k], expected[k].GetDouble(), 3e-12 * std::max(1.0, std::abs(values[k]))) << name;
    }
  }
}

}  // namespace
}  // namespace superpose
