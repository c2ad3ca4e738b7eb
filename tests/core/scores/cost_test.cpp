#include "scores/cost.h"

#include <gtest/gtest.h>

#include <cmath>

#include "random_shapes.h"

namespace superpose {
namespace {

constexpr TrainingScheme kWays[] = {TrainingScheme::add, TrainingScheme::concat_wide, TrainingScheme::concat,
                                    TrainingScheme::project, TrainingScheme::untied};

ModelShape bert_base(double d_position = 0, double d_position_head = 0) {
  return {30522, 512, 2, 768, 12, 12, 4, 512, d_position, d_position_head, true};
}

double total(TrainingScheme way, double d_position) {
  return position_cost(way, bert_base(d_position)).total;
}

TEST(Cost, BertBase) {
  const Cost cost = position_cost(TrainingScheme::add, bert_base());
  EXPECT_EQ(cost.embedding, 23'837'184);
  EXPECT_EQ(cost.layer, 7'087'872);
  EXPECT_EQ(cost.total, 109'482'240);
  EXPECT_EQ(cost.width, 768);
  EXPECT_TRUE(cost.heads_divide);
}

TEST(Cost, WideConcatenation) {
  EXPECT_EQ(total(TrainingScheme::concat_wide, 64), 123'979'968);
  EXPECT_EQ(total(TrainingScheme::concat_wide, 256), 175'779'840);
  EXPECT_EQ(total(TrainingScheme::concat_wide, 768), 366'177'792);
  const double add = total(TrainingScheme::add, 0);
  EXPECT_NEAR(total(TrainingScheme::concat_wide, 64) / add, 1.132, 5e-4);
  EXPECT_NEAR(total(TrainingScheme::concat_wide, 256) / add, 1.606, 5e-4);
  EXPECT_NEAR(total(TrainingScheme::concat_wide, 768) / add, 3.345, 5e-4);
}

TEST(Cost, NarrowAndProjectedConcatenation) {
  const Cost add = position_cost(TrainingScheme::add, bert_base());
  EXPECT_EQ(total(TrainingScheme::concat, 64) - add.total, -2'313'984);
  const Cost project = position_cost(TrainingScheme::project, bert_base(64));
  EXPECT_EQ(project.projection, 639'744);
  EXPECT_EQ(project.tables - add.tables, -360'448);
  EXPECT_EQ(project.total - add.total, 639'744 - 360'448);
  EXPECT_EQ(project.layer, add.layer);
  EXPECT_EQ(project.flops_per_token - add.flops_per_token, 2 * 832 * 768);
}

// 12 heads do not divide 832 and 1024, but they do divide 1536.
TEST(Cost, WidthsThatHeadsDoNotDivideAreSaidSo) {
  EXPECT_FALSE(position_cost(TrainingScheme::concat_wide, bert_base(64)).heads_divide);
  EXPECT_FALSE(position_cost(TrainingScheme::concat_wide, bert_base(256)).heads_divide);
  EXPECT_TRUE(position_cost(TrainingScheme::concat_wide, bert_base(768)).heads_divide);
  EXPECT_TRUE(position_cost(TrainingScheme::concat, bert_base(64)).heads_divide);
}

TEST(Cost, QueryAndKeyAlone) {
  const Cost add = position_cost(TrainingScheme::add, bert_base());
  const Cost cost = position_cost(TrainingScheme::untied, bert_base(64, 32));
  EXPECT_EQ(cost.layer - add.layer, 2 * 64 * 12 * 32);
  EXPECT_EQ(cost.tables - add.tables, 512 * (64 - 768));
  // For 512 tokens, 2 N^2 H d_pk for the scores and 4 N d_p H d_pk for the projections, per layer.
  EXPECT_EQ(512 * (cost.flops_per_token - add.flops_per_token),
            12 * (2. * 512 * 512 * 12 * 32 + 4. * 512 * 64 * 12 * 32));
  EXPECT_EQ(cost.kv_cache - add.kv_cache, 12 * 512 * 12 * 32);
}

// A model written out weight by weight: the counts equal what has to be stored and multiplied.
TEST(Cost, IsTheSumOverEveryWeight) {
  Shapes shapes(1);
  for (int trial = 0; trial < 50; ++trial) {
    const int heads = shapes.between(1, 4), d = heads * shapes.between(2, 9), r = shapes.between(1, 4);
    const int vocabulary = shapes.between(0, 40), positions = shapes.between(0, 20);
    const int segments = shapes.between(0, 2), layers = shapes.between(0, 3);
    const int n = shapes.between(0, 30), d_p = shapes.between(0, d), d_pk = shapes.between(0, 5);
    for (TrainingScheme way : kWays) {
      const int stream = way == TrainingScheme::concat_wide ? d + d_p : d;
      const int token_width = way == TrainingScheme::concat ? d - d_p : d;
      const int position_width = way == TrainingScheme::add ? d : d_p;
      long parameters = 0, multiplications = 0, cache = 0;
      const auto linear = [&](int out, int in) {
        parameters += out * in + out;
        multiplications += out * in;
      };
      parameters += vocabulary * token_width + segments * token_width + positions * position_width;
      if (way == TrainingScheme::project) linear(d, d + d_p);
      parameters += 2 * stream;
      for (int layer = 0; layer < layers; ++layer) {
        for (int projection = 0; projection < 4; ++projection) linear(stream, stream);
        parameters += 2 * stream;
        linear(r * stream, stream);
        linear(stream, r * stream);
        parameters += 2 * stream;
        multiplications += n * stream;  // queries with keys
        multiplications += n * stream;  // weights with values
        cache += 2 * n * stream;
        if (way == TrainingScheme::untied) {
          parameters += 2 * heads * d_pk * d_p;  // no biases
          multiplications += 2 * heads * d_pk * d_p + n * heads * d_pk;
          cache += n * heads * d_pk;
        }
      }
      parameters += stream * stream + stream;
      const Cost cost = position_cost(
          way, {double(vocabulary), double(positions), double(segments), double(d), double(heads),
                double(layers), double(r), double(n), double(d_p), double(d_pk), true});
      EXPECT_EQ(cost.total, parameters);
      EXPECT_EQ(cost.flops_per_token, 2 * multiplications);
      EXPECT_EQ(cost.kv_cache, cache);
      EXPECT_EQ(cost.heads_divide, stream % heads == 0);
    }
  }
}

TEST(Cost, WithoutAPoolerAndBeyondWhatIsExact) {
  ModelShape shape = bert_base();
  shape.pooler = false;
  EXPECT_EQ(position_cost(TrainingScheme::add, shape).total, 109'482'240 - 590'592);
  shape.d_model = 1e9;
  EXPECT_GT(position_cost(TrainingScheme::add, shape).total, 0x1p53);
}

}  // namespace
}  // namespace superpose
