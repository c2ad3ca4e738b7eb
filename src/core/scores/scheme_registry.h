// The table of all schemes: the name of each, its formula, its parts, its terms and how it is built. The
// typed API checks and draws the parts by this table, and repeats none of it.
#pragma once

#include <array>
#include <initializer_list>
#include <span>
#include <string_view>

#include "scores/schemes.h"

namespace superpose {

// At most four items, in a table that is computed at compile time.
template <typename Item>
class UpToFour {
 public:
  constexpr UpToFour(std::initializer_list<Item> items = {}) {
    for (const Item& item : items) items_[count_++] = item;
  }
  constexpr const Item* begin() const { return items_.data(); }
  constexpr const Item* end() const { return begin() + count_; }
  constexpr std::size_t size() const { return count_; }
  constexpr const Item& operator[](std::size_t at) const { return items_[at]; }

 private:
  std::array<Item, 4> items_ = {};
  std::size_t count_ = 0;
};

// The sizes that parts' shapes depend on.
enum class Size {
  one,
  d_model,
  heads,
  d_head,           // d_h of the content
  d_position,       // width of a concatenated, untied or rotary part: of the table, or per head
  d_position_head,  // block-diagonal: head width of the position's own projections
  d_offset,         // d_r, width of Transformer-XL's sinusoids
  positions,        // L; or n, the tokens of a sequence
  clip,             // k: Shaw, DeBERTa, DIET-REL
  buckets,          // T5, TUPE-R
  layers
};
constexpr std::array<const char*, 11> names(Size) {
  return {"one",      "d_model",   "heads", "d_head",  "d_position", "d_position_head",
          "d_offset", "positions", "clip",  "buckets", "layers"};
}

struct SchemeShape {
  double one = 1, d_model = 0, heads = 0, d_head = 0, d_position = 0, d_position_head = 0, d_offset = 0,
         positions = 0, clip = 0, buckets = 0, layers = 0;
  double operator[](Size size) const {
    const double all[] = {one,      d_model,   heads, d_head,  d_position, d_position_head,
                          d_offset, positions, clip,  buckets, layers};
    return all[static_cast<int>(size)];
  }
};

// times * by * and_by + plus, at least 0: a count of rows or columns.
struct Extent {
  int times = 0;
  Size by = Size::one, and_by = Size::one;
  int plus = 0;
  double operator()(const SchemeShape& shape) const;
};

// A part that a scheme takes besides the content, its query and its key.
struct SchemePart {
  // A weight is a linear map that must have no bias. Offsets are a table that is not learned; its default is
  // the sinusoid of i - j. A shared map serves all heads, or has `heads` times as many rows.
  enum class Kind { table, linear, weight, shared, vector, offsets };
  // How often the part counts among a model's parameters.
  enum class Counted { once, each_layer, never };
  const char* name = "";
  Kind kind = Kind::table;
  Extent rows, columns;
  Counted counted = Counted::once;
};

constexpr std::array<const char*, 6> names(SchemePart::Kind) {
  return {"table", "linear", "weight", "shared", "vector", "offsets"};
}
constexpr std::array<const char*, 3> names(SchemePart::Counted) { return {"once", "each_layer", "never"}; }

// Everything a scheme can be built from, under the names and in the shapes of its function in schemes.h. A
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
  Layout layout = Layout::interleaved;
  double base = 10000;
};

struct SchemeInfo {
  const char* id;
  const char* name;
  const char* formula;     // TeX, the logit A_ij of one head, as published
  const char* parameters;  // TeX, what the scheme adds to a model that has W_Q and W_K
  const char* source;
  UpToFour<SchemePart> parts;
  UpToFour<const char*> terms;
  // Logits are divided by the square root of the sum of these, unless a scale is given.
  UpToFour<Extent> divisor;
  Scheme (*build)(const SchemeInput&);
  // The other options that callers may set, by their names in src/api/scores/schemes.ts.
  UpToFour<const char*> options = {};
  // How many numbers are in memory while the scheme is built, besides its parts and their products with
  // content.
  double (*work)(const SchemeShape&) = [](const SchemeShape&) { return 0.0; };
  bool causal = false;  // as published
  // TeX, the logit if a query also sees later keys; empty if the formula stays the same.
  const char* bidirectional_formula = "";
  int clip = 0;  // k as published, of a scheme that clips distances
};

// The parameters that a scheme adds over all layers, without the biases of its own projections (TUPE: 2 d^2
// for U^Q and U^K is the paper's +1.18 M).
double scheme_parameters(const SchemeInfo& info, const SchemeShape& shape);

std::span<const SchemeInfo> scheme_registry();

// Null when no scheme has this id.
const SchemeInfo* find_scheme(std::string_view id);

}  // namespace superpose
