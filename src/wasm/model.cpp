// An encoder that stays in the module's memory, with the result of its last forward.
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "bound.h"
#include "heads_out.h"
#include "model/encoder.h"
#include "model/encoder_parts.h"
#include "model/mechanism.h"
#include "model/position_means.h"
#include "model/row_norm.h"
#include "model/tensor_part.h"

namespace superpose {

SUPERPOSE_MEMBERS(PositionFindings, mean, position, positionEnergy, participationRatio, overlap,
                  cosineWithFirst);

namespace {

template <typename Scalar>
struct HeldEncoder {
  Encoder<Scalar> encoder;
  // A layer that is being read, and where its maps stand in their tensors.
  struct Reading {
    EncoderLayer<Scalar> layer;
    TensorPart parts[7];

    PackedLinear<Scalar>& map(int place) {
      PackedLinear<Scalar>* const all[] = {&layer.query, &layer.key,  &layer.value, &layer.output,
                                           &layer.up,    &layer.gate, &layer.down};
      return *all[place];
    }
  };
  std::optional<Reading> reading;
  std::vector<Matrix<Scalar>> summands;
  // Until it is through, when its result is the run.
  std::optional<ForwardSteps<Scalar>> steps;
  bool traced;
  Forward<Scalar> run;
  // What the layers of that run read, as far as one has asked, in the way and gauge that one asked for.
  struct Walk {
    Way way;
    Gauge<Scalar> gauge;
    InputParts<Scalar> parts;
  };
  std::optional<Walk> walk;
};

template <typename Scalar>
HeldEncoder<Scalar>& encoder_at(std::uint32_t address) {
  return at_address<HeldEncoder<Scalar>>(address);
}

template <typename Scalar>
std::uint32_t encoder_out(const Typed<"EncoderOptions">& from) {
  EncoderOptions<Scalar> options;
  options.heads = from["heads"].as<int>();
  options.key_heads = from["keyHeads"].as<int>();
  options.pre_norm = from["preNorm"].as<bool>();
  options.causal = from["causal"].as<bool>();
  options.activation = static_cast<Activation>(from["activation"].as<int>());
  options.embedding_norm = normalization_in<Scalar>(from["embeddingNorm"]);
  options.final_norm = normalization_in<Scalar>(from["finalNorm"]);
  return address_of(new HeldEncoder<Scalar>{Encoder<Scalar>(std::move(options)), {}, {}, {}, {}, {}, {}});
}

// Makes room for a map of the next layer. `from` says where it stands in its tensor.
template <typename Scalar>
void begin_encoder_map(std::uint32_t address, int place, int rows, int columns,
                       const Typed<"MapPart">& from) {
  auto& reading = encoder_at<Scalar>(address).reading;
  if (!reading) reading.emplace();
  TensorPart& part = reading->parts[place];
  part = {from["place"].as<int>(), from["of"].as<int>(), from["transposed"].as<bool>()};
  reading->map(place) = {PackedMatrix<Scalar>(rows, columns), vector_in<Scalar>(from["bias"])};
}

// Rows of its tensor, from row `first` on.
template <typename Scalar>
void read_encoder_map(std::uint32_t address, int place, const Typed<"Table">& rows, int first) {
  auto& reading = *encoder_at<Scalar>(address).reading;
  place_part(reading.parts[place], matrix_in<Scalar>(rows), first, reading.map(place).weight);
}

// With the maps that were read.
template <typename Scalar>
void add_encoder_layer(std::uint32_t address, const Typed<"EncoderLayer">& layer) {
  HeldEncoder<Scalar>& held = encoder_at<Scalar>(address);
  EncoderLayer<Scalar>& added = held.reading->layer;
  const auto norm = [&](const char* name) { return normalization_in<Scalar>(layer[name]); };
  added.attention_norm = norm("attentionNorm");
  added.mlp_norm = norm("mlpNorm");
  added.query_norm = norm("queryNorm");
  added.key_norm = norm("keyNorm");
  const Vector<double> frequencies = vector_in<double>(layer["frequencies"]);
  added.frequencies.assign(frequencies.data(), frequencies.data() + frequencies.size());
  held.encoder.add_layer(std::move(added));
  held.reading.reset();
}

// Lets go of a layer that is being read, and of a forward that is not through.
template <typename Scalar>
void stop_encoder(std::uint32_t address) {
  HeldEncoder<Scalar>& held = encoder_at<Scalar>(address);
  held.reading.reset();
  held.steps.reset();
  held.summands.clear();
}

// Goes on with the forward for so many multiplications. Undefined until it is through; then [layers + 1, d], the states'
// means over tokens, scaled to length one; the last is the embedding.
template <typename Scalar>
Typed<"Floats | undefined"> step_encoder(std::uint32_t address, double multiplications) {
  HeldEncoder<Scalar>& held = encoder_at<Scalar>(address);
  if (!held.steps->step(multiplications)) return emscripten::val::undefined();
  held.run = std::move(held.steps->run);
  held.steps.reset();
  if (!held.traced) held.summands.clear();
  return copy_out(held.run.pooled);
}

template <typename Scalar>
Typed<"Floats | undefined"> run_encoder(std::uint32_t address, const Typed<"readonly Table[]">& summands,
                                        const Typed<"Asked">& asked, double multiplications) {
  HeldEncoder<Scalar>& held = encoder_at<Scalar>(address);
  held.walk.reset();
  held.run = {};
  held.steps.reset();
  held.summands.clear();
  for (int s = 0; s < summands.length(); ++s) held.summands.push_back(matrix_in<Scalar>(summands[s]));
  Matrix<Scalar> rows = held.summands[0];
  for (std::size_t s = 1; s < held.summands.size(); ++s) add_rows<Scalar>(held.summands[s], {}, rows);
  ForwardOptions<Scalar> options;
  options.layers = asked["layers"].as<int>();
  options.trace = held.traced = asked["trace"].as<bool>();
  options.projections = asked["projections"].as<bool>();
  const Value attention = asked["attention"];
  for (int l = 0; l < attention.length(); ++l)
    options.attention.push_back(attention[l].isUndefined() ? Matrix<Scalar>()
                                                           : matrix_in<Scalar>(attention[l]));
  held.steps.emplace(held.encoder, std::move(rows), std::move(options));
  return step_encoder<Scalar>(address, multiplications);
}

// [n, d] after that many layers; -1 for the last rows, after the final norm.
template <typename Scalar>
Typed<"Floats"> encoder_state_out(std::uint32_t address, int layers) {
  const Forward<Scalar>& run = encoder_at<Scalar>(address).run;
  return copy_out(layers < 0 ? run.last : run.states[layers]);
}

// [heads, n, n]
template <typename Scalar>
Typed<"Floats"> encoder_scores_out(std::uint32_t address, int layer, bool attention,
                                   const Typed<"Integers">& chosen) {
  const Forward<Scalar>& run = encoder_at<Scalar>(address).run;
  const Matrix<Scalar>& all = (attention ? run.attention : run.logits)[layer];
  const std::size_t size = static_cast<std::size_t>(all.cols()) * all.cols();
  const std::vector<int> heads = integers_in(chosen);
  Value result = new_array<Scalar>(heads.size() * size);
  for (std::size_t k = 0; k < heads.size(); ++k)
    result.copy_from(all.data() + heads[k] * size, size, k * size);
  return result;
}

template <typename Scalar>
bool same(const Gauge<Scalar>& a, const Gauge<Scalar>& b) {
  return a.kind == b.kind && a.apart == b.apart;
}

// The parts of what a layer reads, from those of the layer that was asked for last.
template <typename Scalar>
std::vector<Matrix<Scalar>> parts_at(HeldEncoder<Scalar>& held, int layer, Way way,
                                     const Gauge<Scalar>& gauge) {
  auto& walk = held.walk;
  if (!walk || walk->way != way || !same(walk->gauge, gauge))
    walk.emplace(way, gauge, InputParts<Scalar>(held.encoder, held.summands, held.run, way, gauge));
  return walk->parts.at(layer);
}

// Means of a state, or of queries or keys.
template <typename Scalar>
StateMeans<Scalar> means_in(const Value& means) {
  return {vector_in<Scalar>(means["mean"]), matrix_in<Scalar>(means["position"]), means["first"].as<int>()};
}

// The pairs that a layer's shares are taken over.
template <typename Scalar>
CountedPairs pairs_of(const HeldEncoder<Scalar>& held, int layer, const std::vector<int>& apart) {
  return {row_flags(apart, held.run.logits[layer].cols()), held.encoder.options().causal};
}

// way: 0 direct, 1 streams, 2 by the means of a corpus, given in `means`.
template <typename Scalar>
Typed<"Heads"> decompose_encoder(std::uint32_t address, int layer, int way,
                                 const Typed<"StateMeans | undefined">& means, const Typed<"Gauge">& gauge,
                                 const Typed<"Integers">& group_of, int groups,
                                 const Typed<"Integers">& chosen) {
  HeldEncoder<Scalar>& held = encoder_at<Scalar>(address);
  const Gauge<Scalar> in = gauge_in<Scalar>(gauge);
  const std::vector<int> of = integers_in(group_of);
  std::vector<Matrix<Scalar>> read =
      way == 2 ? mean_parts<Scalar>(held.encoder, held.run, layer, means_in<Scalar>(means), in)
               : parts_at(held, layer, static_cast<Way>(way), in);
  const ProjectedParts<Scalar> projected =
      held.encoder.queries_and_keys(layer, held.run.inputs[layer], group_inputs(std::move(read), of, groups));
  const ProjectedParts<Scalar> parts = in_order_of_groups(projected, of.back());
  const std::size_t n = parts.tokens;
  return heads_out<Scalar>(
      n, parts.terms(), chosen, pairs_of(held, layer, in.apart),
      [&](int head, Scalar* terms, Scalar* logits) { return head_terms(parts, head, terms, logits); });
}

// Those of the way by mechanism, whose means are those of queries and keys. The rows that stand apart are the means'.
template <typename Scalar>
Typed<"Heads"> mechanism_out(std::uint32_t address, int layer, const Typed<"ScoreMeans">& means,
                             const Typed<"Integers">& apart, const Typed<"Integers">& group_of, int groups,
                             const Typed<"Integers">& chosen) {
  const HeldEncoder<Scalar>& held = encoder_at<Scalar>(address);
  const Mechanism<Scalar> mechanism(held.encoder, held.run, layer,
                                    {means_in<double>(means["query"]), means_in<double>(means["key"])});
  const std::vector<int> of = integers_in(group_of);
  return heads_out<Scalar>(held.run.logits[layer].cols(), groups * groups, chosen,
                           pairs_of(held, layer, integers_in(apart)),
                           [&](int head, Scalar* terms, Scalar* logits) {
                             return mechanism.head_terms(head, of, groups, terms, logits);
                           });
}

template <typename Scalar>
void delete_encoder(std::uint32_t address) {
  delete &encoder_at<Scalar>(address);
}

// Of states, and of each layer's queries and keys, or none.
using CorpusMeans = std::array<std::vector<PositionMeans>, 3>;

// Of queries and keys too where their widths are given.
std::uint32_t position_means_out(int states, int positions, int d, int queries, int keys) {
  const std::size_t layers = queries > 0 ? states - 1 : 0;
  const auto means = [&](std::size_t count, int width, bool squares) {
    return std::vector<PositionMeans>(count, PositionMeans(positions, width, squares));
  };
  return address_of(
      new CorpusMeans{means(states, d, true), means(layers, queries, false), means(layers, keys, false)});
}

// Adds the rows of each state of the encoder's last forward from row `first` on, one for each position.
template <typename Scalar>
void add_to_position_means(std::uint32_t means, std::uint32_t encoder, int first) {
  auto& [states, queries, keys] = at_address<CorpusMeans>(means);
  const Forward<Scalar>& run = encoder_at<Scalar>(encoder).run;
  const auto add = [&](auto& to, const Matrix<Scalar>& rows) { to.add(rows.data() + first * rows.cols()); };
  for (std::size_t l = 0; l < states.size(); ++l) add(states[l], run.states[l]);
  for (std::size_t l = 0; l < queries.size(); ++l) {
    add(queries[l], run.projections[l].queries);
    add(keys[l], run.projections[l].keys);
  }
}

// kind: 0 states, 1 queries, 2 keys, of which means alone are found.
Typed<"PositionFindings"> position_findings_out(std::uint32_t means, int kind, int layer) {
  const std::vector<PositionMeans>& all = at_address<CorpusMeans>(means)[kind];
  return value_out(all[layer].findings(all[0]));
}

void delete_position_means(std::uint32_t address) { delete &at_address<CorpusMeans>(address); }

EMSCRIPTEN_BINDINGS(model) {
  using emscripten::function;
  SUPERPOSE_BOTH("encoder", encoder_out);
  SUPERPOSE_BOTH("beginEncoderMap", begin_encoder_map);
  SUPERPOSE_BOTH("readEncoderMap", read_encoder_map);
  SUPERPOSE_BOTH("addEncoderLayer", add_encoder_layer);
  SUPERPOSE_BOTH("runEncoder", run_encoder);
  SUPERPOSE_BOTH("stepEncoder", step_encoder);
  SUPERPOSE_BOTH("stopEncoder", stop_encoder);
  SUPERPOSE_BOTH("encoderState", encoder_state_out);
  SUPERPOSE_BOTH("encoderScores", encoder_scores_out);
  SUPERPOSE_BOTH("decomposeEncoder", decompose_encoder);
  SUPERPOSE_BOTH("mechanism", mechanism_out);
  SUPERPOSE_BOTH("deleteEncoder", delete_encoder);
  function("positionMeans", &position_means_out);
  SUPERPOSE_BOTH("addToPositionMeans", add_to_position_means);
  function("positionFindings", &position_findings_out);
  function("deletePositionMeans", &delete_position_means);
}

}  // namespace
}  // namespace superpose
