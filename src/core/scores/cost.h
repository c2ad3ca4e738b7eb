// What it costs to give a model its positions: parameters, arithmetic, key-value cache.
//
// The model is BERT's (Devlin et al. 2019; google-research/bert, modeling.py): tables for V tokens, L
// positions and S segments, a LayerNorm over their sum, layers of attention (four projections with
// biases) and a feed-forward of ratio r, each followed by a LayerNorm, and a pooler. With stream width
// D a layer has 4 D^2 + 4 D + 2 r D^2 + (r + 1) D + 4 D parameters, and for N tokens it takes
// 2 N (4 + 2 r) D^2 + 4 N^2 D floating-point operations (a multiply and an add are two; biases,
// LayerNorms and softmax, which are of lower order, are not counted).
#pragma once

namespace superpose {

// Of the ways in which the trainer's models get positions, those that are counted:
//   add          D = d_model; the position table is [L, d_model]
//   concat_wide  [token; position] is the stream: D = d_model + d_p
//   concat       the same with D = d_model, so tokens and segments have d_model - d_p
//   project      [token; position] of d_model + d_p, then one linear map with a bias back to d_model
//   untied       D = d_model; in each layer the position [d_p] has queries and keys of its own, d_pk
//                per head, beside the token's; values, W_O and the feed-forward never see it
enum class PositionWay { add, concat_wide, concat, project, untied };

// All are whole numbers, held in double: results are exact while they are at most 2^53.
struct ModelShape {
  double vocabulary = 0;       // V >= 0
  double positions = 0;        // L >= 0
  double segments = 0;         // S >= 0
  double d_model = 1;          // >= 1
  double heads = 1;            // >= 1
  double layers = 0;           // >= 0
  double ffn_ratio = 4;        // r >= 0; r D must be whole
  double sequence = 0;         // N >= 0, tokens at once
  double d_position = 0;       // d_p >= 0; not used by add. concat: d_p <= d_model
  double d_position_head = 0;  // d_pk >= 0, per head; used by untied alone
  bool pooler = true;          // D^2 + D parameters; run once per sequence, so FLOPs leave it out
};

struct Cost {
  double width = 0;            // D, of the residual stream
  bool heads_divide = true;    // whether the heads divide D; when they do not, no such model can be built
                               // without choosing another head width, and the counts are those of the
                               // formula alone
  double tables = 0;           // parameters of the three tables
  double embedding = 0;        // `tables` and the LayerNorm over the sum, 2 D
  double projection = 0;       // parameters of the map back to d_model, for project
  double layer = 0;            // parameters of one layer
  double total = 0;            // embedding + projection + layers * layer + pooler
  double flops_per_token = 0;  // all layers, attending to N tokens, and the map back to d_model
  double kv_cache = 0;         // numbers, not bytes, that all layers keep for N tokens
};

// No addend is negative, so a total above 2^53 is recognized as such, though it is no longer exact.
Cost position_cost(PositionWay way, const ModelShape& shape);

}  // namespace superpose
