#include "scores/cost.h"

#include <cmath>

namespace superpose {

Cost position_cost(PositionWay way, const ModelShape& shape) {
  const double d = shape.d_model;
  const double r = shape.ffn_ratio;
  const double n = shape.sequence;
  const double d_p = way == PositionWay::add ? d : shape.d_position;
  const double d_t = way == PositionWay::concat ? d - d_p : d;

  Cost cost;
  const double width = way == PositionWay::concat_wide ? d + d_p : d;
  cost.width = width;
  cost.heads_divide = std::fmod(width, shape.heads) == 0;
  cost.tables = (shape.vocabulary + shape.segments) * d_t + shape.positions * d_p;
  cost.embedding = cost.tables + 2 * width;
  cost.layer = (4 + 2 * r) * width * width + (4 + r + 1 + 4) * width;
  double layer_flops = 2 * (4 + 2 * r) * width * width + 4 * n * width;
  double layer_cache = 2 * n * width;

  if (way == PositionWay::project) cost.projection = (d + d_p) * d + d;
  if (way == PositionWay::untied) {
    const double own = shape.heads * shape.d_position_head;
    cost.layer += 2 * d_p * own;
    layer_flops += 4 * d_p * own + 2 * n * own;
    layer_cache += n * own;
  }

  cost.total = cost.embedding + cost.projection + shape.layers * cost.layer +
               (shape.pooler ? width * width + width : 0);
  cost.flops_per_token = shape.layers * layer_flops;
  if (way == PositionWay::project) cost.flops_per_token += 2 * (d + d_p) * d;
  cost.kv_cache = shape.layers * layer_cache;
  return cost;
}

}  // namespace superpose
