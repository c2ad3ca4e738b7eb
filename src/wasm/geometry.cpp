// Angles, subspaces and collisions: measurements, in double for any input.
#include <limits>

#include "convert.h"
#include "encodings/channels.h"
#include "geometry/collisions.h"
#include "geometry/cosines.h"
#include "geometry/mean_decomposition.h"
#include "geometry/oblique.h"
#include "geometry/subspaces.h"
#include "numeric/centred.h"
#include "numeric/orthogonal.h"

namespace superpose {
namespace {

Typed<"Float64Array"> sample_cosines_out(int d, int count, std::uint32_t seed) {
  return copy_out(sample_cosines(d, count, seed));
}

Typed<"Float64Array"> principal_angles_out(const Typed<"Table">& first, const Typed<"Table">& second,
                                           double tolerance) {
  const auto basis = [&](const Value& table) {
    return orthonormal_basis(matrix_in<double>(table).transpose(), tolerance);
  };
  return copy_out(principal_angles(basis(first), basis(second)));
}

Typed<"Float64Array"> random_angles_out(int d, int k1, int k2, std::uint32_t seed) {
  return copy_out(principal_angles(random_subspace(d, k1, seed, 0), random_subspace(d, k2, seed, 1)));
}

Typed<"AngleCosines"> angle_cosines_out(const Typed<"List">& angles) {
  const AngleCosines found = angle_cosines(vector_in<double>(angles));
  return Value::object().set("cosines", copy_out(found.cosines)).set("squares", found.squares);
}

Typed<"ChanceAngles"> chance_angles_out(int d, int k1, int k2) {
  const ChanceAngles chance = chance_angles(d, k1, k2);
  return Value::object()
      .set("lowestCosine", chance.lowest_cosine)
      .set("highestCosine", chance.highest_cosine)
      .set("cosineSquares", chance.cosine_squares)
      .set("zeroAngles", chance.zero_angles)
      .set("largestCosine", chance.largest_cosine);
}

double energy_overlap_out(const Typed<"Table">& tokens, const Typed<"Table">& positions, bool centred) {
  const auto table = [&](const Value& given) {
    const Matrix<double> raw = matrix_in<double>(given);
    return centred ? column_centred(raw) : raw;
  };
  return energy_overlap(table(tokens), table(positions));
}

Typed<"OverlapCurve"> overlap_curve_out(const Typed<"Table">& tokens, const Typed<"Table">& positions,
                                        int k) {
  const OverlapCurve curve = overlap_curve(matrix_in<double>(tokens), matrix_in<double>(positions), k);
  return Value::object()
      .set("shares", copy_out(curve.shares))
      .set("dimensions", curve.dimensions)
      .set("chance", curve.chance)
      .set("reached", copy_out(curve.reached));
}

Typed<"MeanDecomposition"> mean_decomposition_out(const Typed<"Table">& rows,
                                                  const Typed<"Integers">& position_of, int positions,
                                                  const Typed<"Integers">& token_of, int tokens) {
  const MeanDecomposition found = mean_decomposition(matrix_in<double>(rows), integers_in(position_of),
                                                     positions, integers_in(token_of), tokens);
  return Value::object()
      .set("global", copy_out(found.global.data(), found.global.size()))
      .set("position", copy_out(found.position))
      .set("token", copy_out(found.token))
      .set("residual", copy_out(found.residual))
      .set("positionCounts", copy_out(found.position_counts.data(), positions))
      .set("tokenCounts", copy_out(found.token_counts.data(), tokens))
      .set("positionShare", found.position_share)
      .set("tokenShare", found.token_share)
      .set("residualShare", found.residual_share)
      .set("overlap", found.overlap);
}

Typed<"{ from: Float64Array; to: Float64Array }"> move_mean_out(const Typed<"Table">& from,
                                                                const Typed<"Table">& to, double amount) {
  const MovedMean moved = move_mean(matrix_in<double>(from), matrix_in<double>(to), amount);
  return Value::object().set("from", copy_out(moved.from)).set("to", copy_out(moved.to));
}

Typed<"Oblique"> oblique_projection_out(const Typed<"Table">& u, const Typed<"Table">& w, double tolerance,
                                        const Typed<"Table">& noise) {
  const Matrix<double> of_u = matrix_in<double>(u), of_w = matrix_in<double>(w);
  const ObliqueProjection found = oblique_projection(of_u, of_w, tolerance);
  return Value::object()
      .set("projector", copy_out(found.projector))
      .set("exact", found.exact)
      .set("gain", found.gain)
      .set("smallestAngle", found.smallest_angle)
      .set("recoveryError", found.exact ? recovery_error(found.projector, of_u, of_w)
                                        : std::numeric_limits<double>::quiet_NaN())
      .set("noiseGains",
           copy_out(found.exact ? noise_gains(found.projector, matrix_in<double>(noise)) : Vector<double>()));
}

std::uint32_t collision_search_out(const Typed<"Table">& tokens, const Typed<"Table">& positions,
                                   double scale) {
  return address_of(new auto(
      collision_search(matrix_in<float>(tokens), static_cast<float>(scale) * matrix_in<float>(positions))));
}

Typed<"RandomCollisions"> random_collisions_out(int d, double scale, double vocabulary) {
  const RandomCollisions found = random_collisions(d, scale, vocabulary);
  return Value::object().set("pair", found.pair).set("expected", found.expected);
}

void delete_collision_search_out(std::uint32_t search) { delete &at_address<CollisionSearch>(search); }

Typed<"NearestTokens"> nearest_tokens_out(std::uint32_t search, int first, int words) {
  const NearestTokens found = nearest_tokens(at_address<CollisionSearch>(search), first, words);
  return Value::object()
      .set("bare", copy_out(found.bare.data(), found.bare.size()))
      .set("bareDistances", copy_out(found.bare_distances.data(), found.bare_distances.size()))
      .set("nearest", copy_out(found.nearest.data(), found.nearest.size()))
      .set("margins", copy_out(found.margins))
      .set("bareMargins", copy_out(found.bare_margins))
      .set("smallestMargins", copy_out(found.smallest_margins))
      .set("lost", copy_out(found.lost.data(), found.lost.size()));
}

EMSCRIPTEN_BINDINGS(geometry) {
  using emscripten::function;
  function("sampleCosines", &sample_cosines_out);
  function("principalAngles", &principal_angles_out);
  function("randomAngles", &random_angles_out);
  function("angleCosines", &angle_cosines_out);
  function("chanceAngles", &chance_angles_out);
  function("energyOverlap", &energy_overlap_out);
  function("overlapCurve", &overlap_curve_out);
  function("meanDecomposition", &mean_decomposition_out);
  function("moveMean", &move_mean_out);
  function("obliqueProjection", &oblique_projection_out);
  function("collisionSearch", &collision_search_out);
  function("randomCollisions", &random_collisions_out);
  function("deleteCollisionSearch", &delete_collision_search_out);
  function("nearestTokens", &nearest_tokens_out);
  function("cosineDensity", &cosine_density);
  function("cosineMeanSize", &cosine_mean_size);
  function("cosineDeviation", &cosine_deviation);
  function("cosineTail", &cosine_tail);
  function("largestCosineMedian", &largest_cosine_median);
}

}  // namespace
}  // namespace superpose
