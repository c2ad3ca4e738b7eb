// The bench's training model written directly with Eigen: a product for each line of the formula, over the
// whole batch where possible, Eigen's expressions for the rest, and its own vectorization. Call begin(), write
// parameters and ids into the module's memory, then call step().
#include <Eigen/Dense>
#include <cmath>
#include <memory>
#include <vector>

namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Map = Eigen::Map<Matrix>;
using Column = Eigen::VectorXf;

struct Straight {
  int n, d, heads, sequences, batches;
  int rows = sequences * n, width = d / heads, steps = 0;
  Column theta, gradient, first, second;
  std::vector<int> ids;
  Matrix x, normalized, h, qkv, mixed, y, normalized_out, h_out, logits;
  Matrix d_h_out, dy, d_mixed, d_qkv, d_h, dx, d_scores;
  std::vector<Matrix> weights;
  Column inverse, inverse_out;

  Straight(int n, int d, int heads, int sequences, int batches)
      : n(n), d(d), heads(heads), sequences(sequences), batches(batches) {
    const int count = 3 * n * d + 4 * d * d + 2 * d;
    for (Column* list : {&theta, &gradient, &first, &second}) *list = Column::Zero(count);
    ids.resize(static_cast<std::size_t>(2) * batches * rows);
    for (Matrix* one : {&x, &mixed}) one->resize(rows, d);
    d_qkv.resize(rows, 3 * d);
    weights.resize(static_cast<std::size_t>(sequences) * heads);
  }

  // Parts of a list, in the library's order.
  struct Parts {
    Map e, p, g1, qkv, o, gf, u;
  };
  Parts parts(Column& list) const {
    float* at = list.data();
    const auto next = [&](int rows, int columns) {
      Map map(at, rows, columns);
      at += rows * columns;
      return map;
    };
    return {next(n, d), next(n, d), next(1, d), next(d, 3 * d), next(d, d), next(1, d), next(d, n)};
  }

  static void norm(const Matrix& from, Matrix& to, Column& inverse) {
    to = from.colwise() - from.rowwise().mean();
    inverse = (to.array().square().rowwise().mean() + 1e-5f).rsqrt();
    to.array().colwise() *= inverse.array();
  }
  // Into by_norm: the gradient with respect to what was normalized.
  static void norm_back(const Matrix& normalized, const Column& inverse, Matrix& by_norm) {
    const Column along = by_norm.cwiseProduct(normalized).rowwise().mean(), mean = by_norm.rowwise().mean();
    by_norm.array() -= normalized.array().colwise() * along.array();
    by_norm.colwise() -= mean;
    by_norm.array().colwise() *= inverse.array();
  }
  static void softmax(Matrix& a) {
    const Column most = a.rowwise().maxCoeff();
    a = (a.colwise() - most).array().exp();
    const Column sums = a.rowwise().sum();
    a.array().colwise() /= sums.array();
  }

  // Calls work with the weights of each sequence and head, and a function that gives their part of some rows.
  template <typename Work>
  void each_head(const Work& work) {
    for (int s = 0; s < sequences; ++s) {
      for (int head = 0; head < heads; ++head) {
        work(weights[s * heads + head],
             [&](Matrix& all, int part) { return all.block(s * n, part * d + head * width, n, width); });
      }
    }
  }

  double step() {
    const float scale = 1 / std::sqrt(static_cast<float>(width));
    const int* const tokens = ids.data() + 2 * static_cast<std::size_t>(steps % batches) * rows;
    const int* const targets = tokens + rows;
    const Parts of = parts(theta);
    Parts by = parts(gradient);

    for (int r = 0; r < rows; ++r) x.row(r) = of.e.row(tokens[r]) + of.p.row(r % n);
    norm(x, normalized, inverse);
    h = normalized.array().rowwise() * of.g1.row(0).array();
    qkv.noalias() = h * of.qkv;
    each_head([&](Matrix& a, const auto& block) {
      a.noalias() = scale * block(qkv, 0) * block(qkv, 1).transpose();
      softmax(a);
      block(mixed, 0).noalias() = a * block(qkv, 2);
    });
    y.noalias() = mixed * of.o;
    y += x;
    norm(y, normalized_out, inverse_out);
    h_out = normalized_out.array().rowwise() * of.gf.row(0).array();
    logits.noalias() = h_out * of.u;
    softmax(logits);
    double loss = 0;
    for (int r = 0; r < rows; ++r) {
      loss -= std::log(logits(r, targets[r]));
      logits(r, targets[r]) -= 1;
    }
    logits /= static_cast<float>(rows);

    by.u.noalias() = h_out.transpose() * logits;
    d_h_out.noalias() = logits * of.u.transpose();
    by.gf = d_h_out.cwiseProduct(normalized_out).colwise().sum();
    dy = d_h_out.array().rowwise() * of.gf.row(0).array();
    norm_back(normalized_out, inverse_out, dy);
    by.o.noalias() = mixed.transpose() * dy;
    d_mixed.noalias() = dy * of.o.transpose();
    each_head([&](const Matrix& a, const auto& block) {
      block(d_qkv, 2).noalias() = a.transpose() * block(d_mixed, 0);
      d_scores.noalias() = block(d_mixed, 0) * block(qkv, 2).transpose();
      const Column along = d_scores.cwiseProduct(a).rowwise().sum();
      d_scores = scale * (d_scores.colwise() - along).cwiseProduct(a);
      block(d_qkv, 0).noalias() = d_scores * block(qkv, 1);
      block(d_qkv, 1).noalias() = d_scores.transpose() * block(qkv, 0);
    });
    by.qkv.noalias() = h.transpose() * d_qkv;
    d_h.noalias() = d_qkv * of.qkv.transpose();
    by.g1 = d_h.cwiseProduct(normalized).colwise().sum();
    dx = d_h.array().rowwise() * of.g1.row(0).array();
    norm_back(normalized, inverse, dx);
    dx += dy;
    by.e.setZero();
    by.p.setZero();
    for (int r = 0; r < rows; ++r) {
      by.e.row(tokens[r]) += dx.row(r);
      by.p.row(r % n) += dx.row(r);
    }
    adam();
    return loss / rows;
  }

  void adam() {
    ++steps;
    const double done = std::min(1.0, steps / 200.0);
    const double rate = 5e-3 * std::min(1.0, steps / 20.0) * (0.1 + 0.45 * (1 + std::cos(EIGEN_PI * done)));
    const float norm = gradient.norm();
    if (norm > 1) gradient /= norm;
    first = 0.9f * first + 0.1f * gradient;
    second = 0.98f * second + 0.02f * gradient.cwiseAbs2();
    // For everything except gains.
    const auto decay = static_cast<float>(1 - 0.01 * rate);
    Parts of = parts(theta);
    for (Map* one : {&of.e, &of.p, &of.qkv, &of.o, &of.u}) *one *= decay;
    const auto a = static_cast<float>(rate / (1 - std::pow(0.9, steps)));
    const auto b = static_cast<float>(1 / (1 - std::pow(0.98, steps)));
    theta.array() -= a * first.array() / ((b * second.array()).sqrt() + 1e-8f);
  }
};

std::unique_ptr<Straight> model;

}  // namespace

extern "C" {
// Where the parameters go, in the library's order.
float* begin(int n, int d, int heads, int sequences, int batches) {
  model = std::make_unique<Straight>(n, d, heads, sequences, batches);
  return model->theta.data();
}
// Where each batch's tokens and targets go.
int* ids() { return model->ids.data(); }
double step() { return model->step(); }
}
