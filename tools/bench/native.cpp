// The limit: jobs in native code. Reads lines. `four FILE n d heads` and `training FILE n d heads sequences batches
// steps` take a job's input from the file, and write to it what their engines answer, one after another: the terms by
// Eigen's product and by the library's; the losses of so many steps by the library's kernels. `round` then prints the
// milliseconds of a run of each engine, and how often it took memory.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <sstream>
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

template <typename Element>
void read(std::istream& file, Element* to, std::size_t count) {
  file.read(reinterpret_cast<char*>(to), static_cast<std::streamsize>(count * sizeof(Element)));
}

struct Sum {
  Matrix<float> x, p;
  Linear<float> query, key;
  int heads;
};

void by_eigen(const Sum& of, float* terms) {
  const Eigen::Index n = of.x.rows(), width = of.x.cols() / of.heads;
  Matrix<float> q[2], k[2];
  const Matrix<float>* rows[2] = {&of.x, &of.p};
  for (int part = 0; part < 2; ++part) {
    q[part].noalias() = *rows[part] * of.query.weight.transpose();
    k[part].noalias() = *rows[part] * of.key.weight.transpose();
  }
  const float scale = 1 / std::sqrt(static_cast<float>(width));
  for (int head = 0; head < of.heads; ++head) {
    for (int s = 0; s < 2; ++s) {
      for (int r = 0; r < 2; ++r, terms += n * n) {
        MatrixMap<float>(terms, n, n).noalias() =
            scale * q[s].middleCols(head * width, width) * k[r].middleCols(head * width, width).transpose();
      }
    }
  }
}

void by_kernel(const Sum& of, float* terms) {
  const float scale = 1 / std::sqrt(static_cast<float>(of.x.cols() / of.heads));
  auto parts = project_sum<float>({of.x, of.p}, {}, of.query, of.key, of.heads, scale, false);
  leave_out_constant(parts);
  const Eigen::Index size = parts.terms() * parts.tokens * parts.tokens;
  for (int head = 0; head < of.heads; ++head) head_terms(parts, head, terms + head * size);
}

std::vector<Engine> four_terms(std::istream& order, std::istream& input) {
  const auto of = std::make_shared<Sum>();
  int n, d;
  order >> n >> d >> of->heads;
  for (Matrix<float>* rows : {&of->x, &of->p}) rows->resize(n, d);
  for (Linear<float>* linear : {&of->query, &of->key}) linear->weight.resize(d, d);
  for (Matrix<float>* one : {&of->x, &of->p, &of->query.weight, &of->key.weight})
    read(input, one->data(), static_cast<std::size_t>(one->size()));
  const std::size_t size = static_cast<std::size_t>(4) * of->heads * n * n;
  const auto terms = std::make_shared<std::vector<float>>(size);
  std::vector<Engine> engines;
  for (const auto by : {by_eigen, by_kernel}) {
    by(*of, terms->data());
    engines.push_back({[=] { by(*of, terms->data()); }, *terms, 12});
  }
  return engines;
}

std::vector<Engine> training(std::istream& order, std::istream& input) {
  int n, d, heads, sequences, batches, steps;
  order >> n >> d >> heads >> sequences >> batches >> steps;
  ModelOptions options;
  options.vocabulary = options.classes = options.rows = n;
  options.width = d;
  options.heads = heads;
  const auto trainer = std::make_shared<Trainer<float>>(options, OptimizerOptions{}, 1);
  for (const Parameter& parameter : trainer->layout().all())
    read(input, trainer->parameters() + parameter.offset, parameter.size());
  const int places = sequences * n;
  const auto ids = std::make_shared<std::vector<int>>(static_cast<std::size_t>(2) * batches * places);
  read(input, ids->data(), ids->size());
  const auto step = [=] {
    const int* const tokens = ids->data() + 2 * (trainer->steps() % batches) * places;
    return trainer->step({sequences, n, tokens, tokens + places});
  };
  std::vector<float> losses;
  for (int s = 0; s < steps; ++s) losses.push_back(static_cast<float>(step()));
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
  std::printf("%g %ld ", passed / calls, allocations - before);
}

}  // namespace

int main() {
  std::vector<Engine> engines;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream order(line);
    std::string kind, path;
    order >> kind >> path;
    if (kind == "round") {
      for (const Engine& engine : engines) print_round(engine);
    } else {
      std::ifstream input(path, std::ios::binary);
      engines = kind == "four" ? four_terms(order, input) : training(order, input);
      std::ofstream output(path, std::ios::binary);
      for (const auto& [run, answer, stretch] : engines) {
        const auto bytes = static_cast<std::streamsize>(answer.size() * sizeof(float));
        output.write(reinterpret_cast<const char*>(answer.data()), bytes);
      }
    }
    std::puts("");
    std::fflush(stdout);
  }
}
