#include "scores/cost.h"

namespace superpose {

Cost position_cost(PositionWay way, const ModelShape& shape) {
  const double d = shape.d_model;
  const double d_p = way == PositionWay::add ? d : shape.d_position;
  const double d_t = way == PositionWay::concat ? d - d_p : d;
  const double width = way == PositionWay::concat_wide ? d + d_p : d;
  const double tables = (shape.vocabulary + shape.segments) * d_t + shape.positions * d_p;
  const double projection = way == PositionWay::project ? (d + d_p) * d + d : 0;
  const double position_maps = way == PositionWay::tupe ? 2 * d_p * shape.heads * shape.d_position_head : 0;
  const double layer = 12 * width * width + 13 * width + position_maps;
  return {width, tables + 2 * width + projection + shape.layers * layer + width * width + width};
}

}  // namespace superpose
