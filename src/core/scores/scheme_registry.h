// The one table of schemes: the name of each, its formula, what it adds and how it is built.
#pragma once

#include <string_view>
#include <vector>

#include "scores/schemes.h"

namespace superpose {

// The sizes that a parameter count depends on. A scheme ignores those it does not use.
struct SchemeShape {
  double d_model = 0;
  double heads = 0;
  double d_head = 0;           // d_h of the content
  double d_position = 0;       // width of a concatenated, untied or rotary part: of the table, or per head
  double d_position_head = 0;  // block-diagonal: head width of the position's own projections
  double positions = 0;        // L
  double clip = 0;             // k: Shaw, DeBERTa, DIET-REL
  double buckets = 0;          // T5, TUPE-R
  double layers = 1;
};

// All that a scheme can be built from, with the names and shapes of its function in schemes.h. A
// scheme reads its own parts and ignores the others.
struct SchemeInput {
  Matrix<double> content;
  Linear<double> query, key;
  int heads = 1;
  double scale = 1;
  bool causal = false;
  Matrix<double> position;
  double position_scale = 1;                    // multiplies an added or concatenated position
  Linear<double> position_query, position_key;  // DIET-ABS: its two tables, as weights
  Matrix<double> offset_keys, offsets, bias, distances;
  Linear<double> offset_key, rotary_query, rotary_key;
  Vector<double> u, v;
  T5Options buckets;
  bool reset_cls = true;
  DebertaIndex convention = DebertaIndex::paper;
  SegmentBias<double> segments;
  Layout layout = Layout::interleaved;
  double base = 10000;
  StretchOptions stretch;
};

// The same with the mean token at every place: what scheme_asked() takes means from.
SchemeInput with_mean_token(SchemeInput input);

struct SchemeInfo {
  const char* id;
  const char* name;
  const char* formula;     // TeX, the logit A_ij of one head, as published
  const char* parameters;  // TeX, what the scheme adds to a model that has W_Q and W_K
  const char* source;
  // The parameters it adds over all layers, without the biases of its own projections (TUPE: 2 d^2 for U^Q
  // and U^K is the paper's +1.18 M). Tables count once and projections once per layer, except TUPE's, which
  // layers share.
  double (*count)(const SchemeShape&);
  Scheme<double> (*build)(const SchemeInput&);
  // Whether the logits are also computed from whole queries and keys, independently of the terms.
  bool whole = false;
  // TeX, the logit when a query also sees later keys; null when that is the same formula.
  const char* bidirectional_formula = nullptr;
  int clip = 0;  // k as published, of a scheme that clips distances
};

const std::vector<SchemeInfo>& scheme_registry();

// Null when no scheme has this id.
const SchemeInfo* find_scheme(std::string_view id);

}  // namespace superpose
