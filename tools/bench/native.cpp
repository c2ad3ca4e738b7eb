// The limit: the same job in native code, by Eigen's product and by the library's. Reads lines: `shape n d
// heads FILE` makes the input and writes the terms of both, one after the other, to the file; `round` does
// the job by both and prints the times in milliseconds.
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "scores/decomposition.h"

using namespace superpose;

namespace {

Matrix<float> numbers(Eigen::Index rows, Eigen::Index columns, std::uint32_t seed, double size) {
  Matrix<float> values(rows, columns);
  std::uint32_t state = seed;
  for (Eigen::Index i = 0; i < values.size(); ++i) {
    state = state * 1664525u + 1013904223u;
    values.data()[i] = static_cast<float>((state / 2147483648.0 - 1) * size);
  }
  return values;
}

struct Job {
  Matrix<float> x, p;
  Linear<float> query, key;
  int heads;
};

void by_eigen(const Job& job, float* terms) {
  const Eigen::Index n = job.x.rows(), d = job.x.cols(), width = d / job.heads;
  Matrix<float> q[2], k[2];
  const Matrix<float>* rows[2] = {&job.x, &job.p};
  for (int part = 0; part < 2; ++part) {
    q[part].noalias() = *rows[part] * job.query.weight.transpose();
    k[part].noalias() = *rows[part] * job.key.weight.transpose();
  }
  const float scale = 1 / std::sqrt(static_cast<float>(width));
  for (int head = 0; head < job.heads; ++head) {
    for (int s = 0; s < 2; ++s) {
      for (int r = 0; r < 2; ++r, terms += n * n) {
        MatrixMap<float>(terms, n, n).noalias() =
            scale * q[s].middleCols(head * width, width) * k[r].middleCols(head * width, width).transpose();
      }
    }
  }
}

void by_kernel(const Job& job, float* terms) {
  const float scale = 1 / std::sqrt(static_cast<float>(job.x.cols() / job.heads));
  auto parts = project_sum<float>({job.x, job.p}, {}, job.query, job.key, job.heads, scale, false);
  leave_out_constant(parts);
  const Eigen::Index size = parts.terms() * parts.tokens * parts.tokens;
  for (int head = 0; head < job.heads; ++head) head_terms(parts, head, terms + head * size);
}

template <typename Work>
double milliseconds(const Work& work) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  int calls = 0;
  double passed = 0;
  do {
    work();
    ++calls;
    passed = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  } while (passed < 12);
  return passed / calls;
}

}  // namespace

int main() {
  Job job;
  std::vector<float> terms, other;
  std::string order;
  while (std::cin >> order) {
    if (order == "shape") {
      int n, d;
      std::string path;
      std::cin >> n >> d >> job.heads >> path;
      job.x = numbers(n, d, 1, 1);
      job.p = numbers(n, d, 2, 0.5);
      job.query.weight = numbers(d, d, 3, 1 / std::sqrt(d));
      job.key.weight = numbers(d, d, 4, 1 / std::sqrt(d));
      terms.assign(static_cast<std::size_t>(4) * job.heads * n * n, 0);
      other = terms;
      by_eigen(job, other.data());
      by_kernel(job, terms.data());
      std::ofstream file(path, std::ios::binary);
      for (const std::vector<float>* each : {&other, &terms}) {
        const auto bytes = static_cast<std::streamsize>(each->size() * sizeof(float));
        file.write(reinterpret_cast<const char*>(each->data()), bytes);
      }
      file.close();
      std::puts(file ? "written" : "failed");
    } else {
      const double eigen = milliseconds([&] { by_eigen(job, other.data()); });
      const double kernel = milliseconds([&] { by_kernel(job, terms.data()); });
      std::printf("%g %g\n", eigen, kernel);
    }
    std::fflush(stdout);
  }
}
