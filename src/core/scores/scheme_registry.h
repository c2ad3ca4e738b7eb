// What the schemes are: one entry each, for tables, captions and counts.
#pragma once

#include <string>
#include <vector>

namespace superpose {

// The sizes that a parameter count depends on; those that a scheme does not use do not matter.
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

struct SchemeInfo {
  const char* id;
  const char* name;
  const char* formula;     // TeX, the logit A_ij of one head
  const char* parameters;  // TeX, what the scheme adds to a model that has W_Q and W_K
  const char* source;
};

const std::vector<SchemeInfo>& scheme_registry();

// The parameters that a scheme adds over all layers, biases of its own projections not counted (TUPE:
// 2 d^2 for U^Q and U^K is the paper's +1.18 M). Tables are one for the model, projections one for
// each layer, except TUPE's, which its layers share. NaN for an id that is not in the registry.
double scheme_parameters(const std::string& id, const SchemeShape& shape);

}  // namespace superpose
