// What positions cost a model: its number of parameters, for each way in which positions get in.
//
// The model is BERT's (Devlin et al. 2019; google-research/bert, modeling.py): tables for V tokens, L
// positions and S segments, a LayerNorm over their sum, layers of attention (four projections with biases)
// and a feed-forward four times as wide, each followed by a LayerNorm, and a pooler, D^2 + D. With stream
// width D a layer has 12 D^2 + 13 D parameters.
#pragma once

#include <array>

namespace superpose {

// The ways in which positions get in, as far as their cost is computed here:
//   add          D = d_model; the position table is [L, d_model]
//   concat_wide  [token; position] is the stream: D = d_model + d_p
//   concat       the same with D = d_model, so tokens and segments have d_model - d_p
//   project      [token; position] of d_model + d_p, then one linear map with a bias back to d_model
//   tupe         D = d_model; in each layer the position [d_p] has separate queries and keys, d_pk per head,
//                beside the token's; values, W_O and the feed-forward never read it
enum class PositionWay { add, concat_wide, concat, project, tupe };
constexpr std::array<const char*, 5> names(PositionWay) {
  return {"add", "concat-wide", "concat", "project", "tupe"};
}

// All are integers, in double: results are exact up to 2^53.
struct ModelShape {
  double vocabulary = 0;       // V >= 0
  double positions = 0;        // L >= 0
  double segments = 0;         // S >= 0
  double d_model = 1;          // >= 1
  double heads = 1;            // >= 1
  double layers = 0;           // >= 0
  double d_position = 0;       // d_p >= 0; not used by add. concat: d_p <= d_model
  double d_position_head = 0;  // d_pk >= 0, per head; used only by tupe
};

struct Cost {
  double width;  // D, of the residual stream
  double total;  // all parameters
};

// No addend is negative, so a total above 2^53 is recognized as such although it is no longer exact.
Cost position_cost(PositionWay way, const ModelShape& shape);

}  // namespace superpose
