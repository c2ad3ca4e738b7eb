// The limit: a job in native code. `native FILE four n d heads` and `native FILE training n d heads sequences batches
// steps` take the job's input from the file, and write to it what their engines answer, one after another: the terms by
// Eigen's product and by the library's; the losses of so many steps by the library's kernels. For each line that it then
// reads, it prints the milliseconds of a run of each engine, and how often that took memory.
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <span>
#include <string>
#include <vector>

// What it needs of the core is compiled with it, as the modules are.
#include "encodings/relative_position.cpp"
#include "encodings/rotary.cpp"
#include "encodings/sinusoidal.cpp"
#include "encodings/stretch.cpp"
#include "numeric/in_place.cpp"
#include "numeric/product.cpp"
#include "numeric/random.cpp"
#include "scores/decomposition.cpp"
#include "scores/layer_norm.cpp"
#include "training/fusion.cpp"
#include "training/kernels.cpp"
#include "training/model.cpp"
#include "training/optimizer.cpp"
#include "training/parameters.cpp"
#include "training/tasks.cpp"
#include "training/trainer.cpp"

namespace {
long allocations = 0;
}

// Counts every allocation of this program; operator new comes here too.
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void* malloc(std::size_t size) { return ++allocations, __libc_malloc(size); }
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return ++allocations, __libc_memalign(alignment, size);
}
}

using namespace superpose;

namespace {

struct Engine {
  std::function<void()> run;
  std::vector<float> answer;
  double stretch;  // milliseconds of runs to measure
};

template <typename List>
void read(std::istream& file, List&& to) {
  file.read(reinterpret_cast<char*>(to.data()), static_cast<std::streamsize>(to.size() * sizeof(*to.data())));
}

// The job's input, of the one job that a process has.
int n, d, heads;
Matrix<float> x, p;
Linear<float> query, key;

void by_eigen(float* terms) {
  const Eigen::Index width = d / heads;
  const Matrix<float> q[] = {x * query.weight.transpose(), p * query.weight.transpose()};
  const Matrix<float> k[] = {x * key.weight.transpose(), p * key.weight.transpose()};
  const float scale = 1 / std::sqrt(static_cast<float>(width));
  for (Eigen::Index first = 0; first < d; first += width) {
    for (const Matrix<float>& asking : q) {
      for (const Matrix<float>& asked : k) {
        MatrixMap<float>(terms, n, n).noalias() =
            scale * asking.middleCols(first, width) * asked.middleCols(first, width).transpose();
        terms += n * n;
      }
    }
  }
}

void by_kernel(float* terms) {
  const float scale = 1 / std::sqrt(static_cast<float>(d / heads));
  auto parts = project_sum<float>({x, p}, {}, query, key, heads, scale, false);
  leave_out_constant(parts);
  for (int head = 0; head < heads; ++head, terms += 4 * n * n) head_terms(parts, head, terms);
}

std::vector<Engine> four_terms(std::istream& input) {
  for (Matrix<float>* rows : {&x, &p}) rows->resize(n, d);
  for (Linear<float>* linear : {&query, &key}) linear->weight.resize(d, d);
  for (Matrix<float>* one : {&x, &p, &query.weight, &key.weight}) read(input, *one);
  static std::vector<float> terms(static_cast<std::size_t>(4) * heads * n * n);
  std::vector<Engine> engines;
  for (const auto by : {by_eigen, by_kernel}) {
    by(terms.data());
    engines.push_back({[=] { by(terms.data()); }, terms, 12});
  }
  return engines;
}

std::vector<Engine> training(std::istream& input, int sequences, int batches, int steps) {
  ModelOptions options;
  options.vocabulary = options.classes = options.rows = n;
  options.width = d;
  options.heads = heads;
  static Trainer<float> trainer(options, OptimizerOptions{}, 1);
  for (const Parameter& parameter : trainer.layout().all())
    read(input, std::span(trainer.parameters() + parameter.offset, parameter.size()));
  const int places = sequences * n;
  static std::vector<int> ids(static_cast<std::size_t>(2) * batches * places);
  read(input, ids);
  const auto step = [=] {
    const int* const tokens = ids.data() + 2 * (trainer.steps() % batches) * places;
    return trainer.step({sequences, n, tokens, tokens + places});
  };
  std::vector<float> losses(steps);
  for (float& loss : losses) loss = static_cast<float>(step());
  return {{step, losses, 3}};
}

void print_round(const Engine& engine) {
  using Clock = std::chrono::steady_clock;
  const long before = allocations;
  const auto start = Clock::now();
  int calls = 0;
  double passed = 0;
  do {
    engine.run();
    ++calls;
    passed = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  } while (passed < engine.stretch);
  std::cout << passed / calls << ' ' << allocations - before << ' ';
}

}  // namespace

int main(int, char** argv) {
  const auto size = [&](int at) { return std::atoi(argv[at]); };
  n = size(3), d = size(4), heads = size(5);
  std::ifstream input(argv[1], std::ios::binary);
  const std::vector<Engine> engines =
      argv[2] == std::string("four") ? four_terms(input) : training(input, size(6), size(7), size(8));
  std::ofstream output(argv[1], std::ios::binary);
  for (const Engine& engine : engines) {
    const auto bytes = static_cast<std::streamsize>(engine.answer.size() * sizeof(float));
    output.write(reinterpret_cast<const char*>(engine.answer.data()), bytes);
  }
  output.close();
  std::cout << std::endl;
  for (std::string line; std::getline(std::cin, line); std::cout << std::endl)
    for (const Engine& engine : engines) print_round(engine);
}
