// Bindings of angles, subspaces and collisions, which compute in double for any input.
#include "bound.h"
#include "geometry/collisions.h"
#include "geometry/cosines.h"
#include "geometry/oblique.h"
#include "geometry/subspaces.h"
#include "numeric/centred.h"

namespace superpose {

SUPERPOSE_MEMBERS(AngleCosines, cosines, squares);
SUPERPOSE_MEMBERS(ChanceAngles, lowest_cosine, highest_cosine, cosine_squares, zero_angles, largest_cosine);
SUPERPOSE_MEMBERS(OverlapCurve, shares, dimensions, chance, reached);
SUPERPOSE_MEMBERS(MovedMean, from, to);
SUPERPOSE_MEMBERS(ObliqueProjection, projector, exact, gain, smallest_angle, recovery_error, noise_gains);
SUPERPOSE_MEMBERS(NearestTokens, bare, bare_distances, nearest, margins, bare_margins, lost);

namespace {

std::unique_ptr<CollisionSearch> new_collision_search(const Matrix<double>& tokens,
                                                      const Matrix<double>& positions, double scale) {
  return std::make_unique<CollisionSearch>(collision_search(tokens, scale * positions));
}

EMSCRIPTEN_BINDINGS(geometry) {
  bind<&sample_cosines>("sampleCosines");
  bind<&sample_cosines_bytes>("sampleCosinesBytes");
  bind<&random_angles>("randomAngles");
  bind<&random_angles_bytes>("randomAnglesBytes");
  bind<&angle_cosines>("angleCosines");
  bind<&chance_angles>("chanceAngles");
  bind<&energy_overlap>("energyOverlap");
  bind<&overlap_curve>("overlapCurve");
  bind<&overlap_bytes>("overlapBytes");
  bind<&column_centred>("centred");
  bind<&column_centred_bytes>("centredBytes");
  bind<&move_mean>("moveMean");
  bind<&move_mean_bytes>("moveMeanBytes");
  bind<&oblique_projection>("obliqueProjection");
  bind<&oblique_projection_bytes>("obliqueProjectionBytes");
  bind<&new_collision_search>("collisionSearch");
  bind<&collision_search_bytes>("collisionSearchBytes");
  bind_delete<CollisionSearch>("deleteCollisionSearch");
  bind<&nearest_tokens>("nearestTokens");
  bind<&nearest_tokens_bytes>("nearestTokensBytes");
  bind<&cosine_density>("cosineDensity");
  bind<&cosine_mean_size>("cosineMeanSize");
  bind<&cosine_deviation>("cosineDeviation");
  bind<&cosine_tail>("cosineTail");
  bind<&largest_cosine_median>("largestCosineMedian");
}

}  // namespace
}  // namespace superpose
