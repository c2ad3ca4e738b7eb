// Angles, subspaces and collisions: measurements, in double for any input.
#include <limits>

#include "bound.h"
#include "geometry/collisions.h"
#include "geometry/cosines.h"
#include "geometry/mean_decomposition.h"
#include "geometry/oblique.h"
#include "geometry/subspaces.h"
#include "numeric/centred.h"
#include "numeric/orthogonal.h"

namespace superpose {

SUPERPOSE_MEMBERS(AngleCosines, cosines, squares);
SUPERPOSE_MEMBERS(ChanceAngles, lowestCosine, highestCosine, cosineSquares, zeroAngles, largestCosine);
SUPERPOSE_MEMBERS(OverlapCurve, shares, dimensions, chance, reached);
SUPERPOSE_MEMBERS(MeanDecomposition, global, position, token, residual, positionShare, tokenShare,
                  residualShare, overlap);
SUPERPOSE_MEMBERS(MovedMean, from, to);
SUPERPOSE_MEMBERS(NearestTokens, bare, bareDistances, nearest, margins, bareMargins, lost);

namespace {

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

double energy_overlap_out(const Typed<"Table">& tokens, const Typed<"Table">& positions, bool centred) {
  const auto table = [&](const Value& given) {
    const Matrix<double> raw = matrix_in<double>(given);
    return centred ? column_centred(raw) : raw;
  };
  return energy_overlap(table(tokens), table(positions));
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

void delete_collision_search_out(std::uint32_t search) { delete &at_address<CollisionSearch>(search); }

Typed<"NearestTokens"> nearest_tokens_out(std::uint32_t search, int first, int words) {
  return value_out(nearest_tokens(at_address<CollisionSearch>(search), first, words));
}

EMSCRIPTEN_BINDINGS(geometry) {
  using emscripten::function;
  bind<&sample_cosines>("sampleCosines");
  function("principalAngles", &principal_angles_out);
  function("randomAngles", &random_angles_out);
  bind<&angle_cosines>("angleCosines");
  bind<&chance_angles>("chanceAngles");
  function("energyOverlap", &energy_overlap_out);
  bind<&overlap_curve>("overlapCurve");
  bind<&mean_decomposition>("meanDecomposition");
  bind<&move_mean>("moveMean");
  function("obliqueProjection", &oblique_projection_out);
  function("collisionSearch", &collision_search_out);
  function("deleteCollisionSearch", &delete_collision_search_out);
  function("nearestTokens", &nearest_tokens_out);
  bind<&cosine_density>("cosineDensity");
  bind<&cosine_mean_size>("cosineMeanSize");
  bind<&cosine_deviation>("cosineDeviation");
  bind<&cosine_tail>("cosineTail");
  bind<&largest_cosine_median>("largestCosineMedian");
}

}  // namespace
}  // namespace superpose
