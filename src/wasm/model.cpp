// Bindings of the transformer stack, which stays in the module's memory with the result of its last forward,
// and of the means over a corpus.
#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "bound.h"
#include "heads_out.h"
#include "model/add_rows.h"
#include "model/input_parts.h"
#include "model/mechanism.h"
#include "model/position_means.h"
#include "model/tensor_part.h"
#include "model/transformer_stack.h"

namespace superpose {

namespace {

// The maps of a layer.
enum class Map { query, key, value, output, up, gate, down };
constexpr std::array<const char*, 7> names(Map) {
  return {"query", "key", "value", "output", "up", "gate", "down"};
}

struct ResidentStack {
  TransformerStack stack;
  // A layer that is being read, and which part of its tensor each of its maps is.
  struct Reading {
    LayerMaps maps;
    std::map<Map, TensorPart> parts;

    PackedLinear<float>& map(Map name) {
      switch (name) {
        case Map::query:
          return maps.query;
        case Map::key:
          return maps.key;
        case Map::value:
          return maps.value;
        case Map::output:
          return maps.output;
        case Map::up:
          return maps.up;
        case Map::gate:
          return maps.gate;
        case Map::down:
          return maps.down;
      }
    }
  };
  std::optional<Reading> reading;
  std::vector<Matrix<float>> summands;
  // The forward in progress; when it is complete, its result becomes `run`.
  std::optional<ForwardSteps> steps;
  bool traced = false;
  Forward run;
  // The parts of the layers' inputs in `run`, up to the layer that was decomposed last, and the way and gauge
  // of that decomposition.
  struct Walk {
    Way way;
    Gauge gauge;
    InputParts parts;
  };
  std::optional<Walk> walk;
};

// Means of states and of each layer's queries and keys; those of queries and keys may be empty.
struct CorpusMeans {
  std::vector<PositionMeans> states, queries, keys;
};
enum class Rows { states, queries, keys };
constexpr std::array<const char*, 3> names(Rows) { return {"states", "queries", "keys"}; }

}  // namespace

SUPERPOSE_MEMBERS(Normalization<float>, kind, gamma, beta, epsilon);
SUPERPOSE_MEMBERS(StackOptions, heads, key_heads, pre_norm, causal, activation, embedding_norm, final_norm);
SUPERPOSE_MEMBERS(LayerSettings, attention_norm, mlp_norm, query_norm, key_norm, frequencies);
SUPERPOSE_MEMBERS(TensorPart, place, of, transposed);
SUPERPOSE_MEMBERS(ForwardOptions, layers, has_more, trace, attention, projections);
SUPERPOSE_MEMBERS(StateMeans, mean, position, first);
SUPERPOSE_MEMBERS(ScoreMeans, query, key);
SUPERPOSE_MEMBERS(PositionStatistics, mean, position, position_energy, participation_ratio, overlap,
                  cosine_with_first);

namespace {

std::unique_ptr<ResidentStack> transformer_stack(const StackOptions& options) {
  return std::unique_ptr<ResidentStack>(new ResidentStack{TransformerStack(options), {}, {}, {}, {}, {}, {}});
}

// Makes room for a map of the next layer. `from` says which part of its tensor the map is.
void begin_map(ResidentStack& resident, Map name, int rows, int columns, const Vector<float>& bias,
               const TensorPart& from) {
  if (!resident.reading) resident.reading.emplace();
  resident.reading->parts[name] = from;
  resident.reading->map(name) = {PackedMatrix<float>(rows, columns), bias};
}

// Reads rows of the map's tensor, from row `first` on.
void read_map(ResidentStack& resident, Map name, const Matrix<float>& rows, int first) {
  place_part(resident.reading->parts[name], rows, first, resident.reading->map(name).weight);
}

// Sets the layer after the last one, or one that was released, with the maps that were read.
void set_layer(ResidentStack& resident, int layer, const LayerSettings& settings) {
  resident.stack.set_layer(layer, std::move(resident.reading->maps), LayerSettings(settings));
  resident.reading.reset();
}

void release_layer(ResidentStack& resident, int layer) { resident.stack.release_layer(layer); }

// Discards a layer that is being read.
void stop_reading(ResidentStack& resident) { resident.reading.reset(); }

// Discards a forward that is not complete.
void stop_forward(ResidentStack& resident) {
  resident.steps.reset();
  resident.summands.clear();
}

constexpr int kEndOfPass = -1;

// Continues the forward for about `multiplications` multiplications, or until the next layer is one that is
// not held. Returns the layer that the forward has reached, or kEndOfPass if it is complete.
int step_forward(ResidentStack& resident, double multiplications) {
  if (!resident.steps->step(multiplications)) return resident.steps->layer_number();
  resident.run = std::move(resident.steps->run);
  resident.steps.reset();
  if (!resident.traced) resident.summands.clear();
  return kEndOfPass;
}

// [layers + 1, d], the states' means over tokens, scaled to length one; the last is the embedding.
Matrix<float> forward_embeddings(const ResidentStack& resident) { return resident.run.pooled; }

int run_forward(ResidentStack& resident, const std::vector<Matrix<float>>& summands,
                const ForwardOptions& options, double multiplications) {
  resident.walk.reset();
  resident.run = {};
  resident.steps.reset();
  resident.summands = summands;
  resident.traced = options.trace;
  Matrix<float> rows = summands[0];
  for (std::size_t s = 1; s < summands.size(); ++s) add_rows(summands[s], {}, rows);
  resident.steps.emplace(resident.stack, std::move(rows), options);
  return step_forward(resident, multiplications);
}

// The state [n, d] after `layers` layers; if -1, the last one, after the final norm.
Matrix<float> forward_state(const ResidentStack& resident, int layers) {
  return layers < 0 ? resident.run.last : resident.run.states[layers];
}

// The attention or the logits of the chosen heads, [heads, n, n].
Matrix<float> forward_scores(const ResidentStack& resident, int layer, bool attention,
                             const std::vector<int>& heads) {
  const TransformerStack& stack = resident.stack;
  const Eigen::Index n = resident.run.inputs[layer].rows();
  Matrix<float> chosen(heads.size() * n, n);
  for (std::size_t k = 0; k < heads.size(); ++k)
    chosen.middleRows(k * n, n) = attention ? stack.attention(resident.run, layer, heads[k])
                                            : stack.logits(resident.run, layer, heads[k]);
  return chosen;
}

// The parts of a layer's input. They continue from the layer that was decomposed last in the same way and
// gauge.
std::vector<Matrix<float>> parts_at(ResidentStack& resident, int layer, Way way, const Gauge& gauge) {
  auto& walk = resident.walk;
  if (!walk || walk->way != way || walk->gauge.kind != gauge.kind ||
      walk->gauge.excluded_rows != gauge.excluded_rows)
    walk.emplace(way, gauge, InputParts(resident.stack, resident.summands, resident.run, way, gauge));
  return walk->parts.at(layer);
}

// Continues the parts up to the input of a layer. The layer before it must be held.
void advance_parts(ResidentStack& resident, int layer, Way way, const Gauge& gauge) {
  parts_at(resident, layer, way, gauge);
}

// The pairs over which a layer's shares are taken.
CountedPairs pairs_of(const ResidentStack& resident, const std::vector<int>& excluded_rows) {
  return {row_flags(excluded_rows, resident.run.states[0].rows()), resident.stack.options().causal};
}

// Decomposes a layer's scores by the parts of its input. Only the way `mean` uses `means`, which are over a
// corpus.
Heads decompose_stack(ResidentStack& resident, int layer, Way way, const StateMeans& means,
                      const Gauge& gauge, const std::vector<int>& group_of, int groups,
                      const std::vector<int>& chosen) {
  std::vector<Matrix<float>> read = way == Way::mean
                                        ? mean_parts(resident.stack, resident.run, layer, means, gauge)
                                        : parts_at(resident, layer, way, gauge);
  const ProjectedParts parts =
      in_order_of_groups(resident.stack.queries_and_keys(layer, resident.run.inputs[layer],
                                                         group_inputs(std::move(read), group_of, groups)),
                         group_of.back());
  return heads_out(
      parts.tokens, parts.terms(), chosen, pairs_of(resident, gauge.excluded_rows),
      [&](int head, float* terms, float* logits) { return head_terms(parts, head, terms, logits); });
}

// Decomposes a layer's scores by mechanism, with the means of queries and keys over a corpus. The excluded
// rows are those before the first row of the means.
Heads mechanism(const ResidentStack& resident, int layer, const ScoreMeans& means,
                const std::vector<int>& excluded_rows, const std::vector<int>& group_of, int groups,
                const std::vector<int>& chosen) {
  const Mechanism by(resident.stack, resident.run, layer, means);
  return heads_out(resident.run.states[0].rows(), groups * groups, chosen, pairs_of(resident, excluded_rows),
                   [&](int head, float* terms, float* logits) {
                     return by.head_terms(head, group_of, groups, terms, logits);
                   });
}

// Empty means of `states` states, and of the queries and keys of `layers` layers.
std::unique_ptr<CorpusMeans> position_means(int states, int layers, int positions, int d, int queries,
                                            int keys) {
  const auto means = [&](std::size_t count, int width, bool squares) {
    return std::vector<PositionMeans>(count, PositionMeans(positions, width, squares));
  };
  return std::unique_ptr<CorpusMeans>(
      new CorpusMeans{means(states, d, true), means(layers, queries, false), means(layers, keys, false)});
}

double corpus_means_bytes(int states, int layers, int positions, int d, int queries, int keys) {
  return states * superpose::position_means_bytes(positions, d, true) +
         layers * (superpose::position_means_bytes(positions, queries, false) +
                   superpose::position_means_bytes(positions, keys, false));
}

// Adds the rows of each state of the stack's last forward from row `first` on, one for each position.
void add_to_position_means(CorpusMeans& means, const ResidentStack& resident, int first) {
  auto& [states, queries, keys] = means;
  const auto add = [&](auto& to, const Matrix<float>& rows) { to.add(rows.data() + first * rows.cols()); };
  for (std::size_t l = 0; l < states.size(); ++l) add(states[l], resident.run.states[l]);
  for (std::size_t l = 0; l < queries.size(); ++l) {
    add(queries[l], resident.run.projections[l].queries);
    add(keys[l], resident.run.projections[l].keys);
  }
}

// For queries and keys, the result has only the means.
PositionStatistics position_statistics(const CorpusMeans& means, Rows rows, int layer) {
  const auto& all = rows == Rows::states ? means.states : rows == Rows::queries ? means.queries : means.keys;
  return all[layer].statistics(all[0]);
}

EMSCRIPTEN_BINDINGS(model) {
  bind<&transformer_stack>("transformerStack");
  bind_delete<ResidentStack>("deleteStack");
  bind<&begin_map>("beginStackMap");
  bind<&read_map>("readStackMap");
  bind<&set_layer>("setStackLayer");
  bind<&release_layer>("releaseStackLayer");
  bind<&stop_reading>("stopStackReading");
  bind<&run_forward>("runForward");
  bind<&forward_bytes>("forwardBytes");
  bind<&step_forward>("stepForward");
  bind<&forward_embeddings>("forwardEmbeddings");
  bind<&stop_forward>("stopForward");
  bind<&forward_state>("forwardState");
  bind<&forward_scores>("forwardScores");
  bind<&advance_parts>("advanceStackParts");
  bind<&decompose_stack>("decomposeStack");
  bind<&streams_bytes>("streamsBytes");
  bind<&mechanism>("mechanism");
  bind<&mechanism_bytes>("mechanismBytes");
  bind<&position_means>("positionMeans");
  bind<&corpus_means_bytes>("positionMeansBytes");
  bind_delete<CorpusMeans>("deletePositionMeans");
  bind<&add_to_position_means>("addToPositionMeans");
  bind<&position_statistics>("positionStatistics");
}

}  // namespace
}  // namespace superpose
