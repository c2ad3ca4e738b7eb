#include "geometry/probes.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "numeric/centred.h"
#include "numeric/orthogonal.h"
#include "numeric/power_of_two.h"
#include "numeric/product.h"
#include "numeric/random.h"
#include "numeric/sorted.h"

namespace superpose {
namespace {

Matrix<double> transposed(const Matrix<double>& matrix) { return matrix.transpose(); }

// 0 .. n - 1 in a random order (Fisher and Yates).
std::vector<int> shuffled_order(int n, std::uint32_t seed, std::uint32_t stream) {
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  const Matrix<double> uniforms = random_uniform<double>(1, n, seed, stream);
  for (int i = n - 1; i > 0; --i) std::swap(order[i], order[int(uniforms(0, i) * (i + 1))]);
  return order;
}

std::vector<int> members(const std::vector<int>& fold_of, int fold, bool inside) {
  std::vector<int> chosen;
  for (int i = 0; i < static_cast<int>(fold_of.size()); ++i) {
    if ((fold_of[i] == fold) == inside) chosen.push_back(i);
  }
  return chosen;
}

Matrix<double> rows_of(const Matrix<double>& table, const std::vector<int>& chosen) {
  Matrix<double> rows(chosen.size(), table.cols());
  for (std::size_t k = 0; k < chosen.size(); ++k) rows.row(k) = table.row(chosen[k]);
  return rows;
}

// log(1 + e^-margin), without overflow.
double log_loss(double margin) {
  return margin > 0 ? std::log1p(std::exp(-margin)) : std::log1p(std::exp(margin)) - margin;
}

// Whether rows rows' + ridge I is certain to be positive definite with a condition number of at most 2^20, so
// that Cholesky's method keeps ten digits.
bool well_conditioned(const Matrix<double>& rows, double ridge) {
  return ridge >= 0x1p-20 * rows.squaredNorm();
}

// What Newton's method minimizes, over scores = x weight + intercept.
double objective(const Logistic& model, const Vector<double>& scores, const Vector<double>& sign,
                 double penalty) {
  double total = penalty / 2 * model.weight.squaredNorm();
  for (Eigen::Index i = 0; i < scores.size(); ++i) total += log_loss(sign[i] * scores[i]);
  return total;
}

struct Step {
  Vector<double> weight;  // [d]; empty when there is no step
  double intercept = 0;
  bool damped = false;
  double gain = 0;  // the objective's slope along the step, at its start: twice the gain that Newton expects
};

// Newton's steps from one model to the next, for inputs x [n, d].
class NewtonSteps {
 public:
  NewtonSteps(const Matrix<double>& x, const Vector<double>& sign, double penalty)
      : x_(x), sign_(sign), penalty_(penalty) {
    // penalty / curvature is on the diagonal. A curvature is at most 1/4, so its least entry is:
    if (well_conditioned(x, 4 * penalty)) {
      gram_ = rows_times_rows<double>(x, x);
      return;
    }
    // x = U S V': in the coordinates U S the problem is the same, but the columns are orthogonal, so
    // their lengths may differ widely without spoiling Cholesky's method.
    Svd parts = svd(x);
    axes_ = std::move(parts.V);
    coordinates_ = parts.U * parts.singular_values.asDiagonal();
  }

  Step step(const Logistic& model, const Vector<double>& scores) const {
    const Eigen::Index n = x_.rows();
    Vector<double> slope(n), curvature(n);
    for (Eigen::Index i = 0; i < n; ++i) {
      const double miss = 1 / (1 + std::exp(sign_[i] * scores[i]));
      slope[i] = sign_[i] * miss;
      curvature[i] = miss * (1 - miss);
    }
    Step step =
        gram_.size() ? dual_step(model, scores, slope, curvature) : primal_step(model, slope, curvature);
    if (step.weight.size()) {
      step.gain = slope.dot(x_ * step.weight) + step.intercept * slope.sum() -
                  penalty_ * model.weight.dot(step.weight);
    }
    return step;
  }

 private:
  // Weighted ridge regression of the working response z: (K + penalty / curvature) alpha = z - intercept.
  Step dual_step(const Logistic& model, const Vector<double>& scores, const Vector<double>& slope,
                 const Vector<double>& curvature) const {
    const Eigen::Index n = x_.rows();
    Eigen::MatrixXd system = gram_;
    Eigen::MatrixXd right(n, 2);
    for (Eigen::Index i = 0; i < n; ++i) {
      const double weight = std::max(curvature[i], 1e-10);
      system(i, i) += penalty_ / weight;
      right(i, 0) = scores[i] + slope[i] / weight;
      right(i, 1) = 1;
    }
    const Eigen::MatrixXd solved = Eigen::LLT<Eigen::MatrixXd>(system).solve(right);
    const double intercept = solved.col(0).sum() / solved.col(1).sum();
    const Vector<double> alpha = solved.col(0) - intercept * solved.col(1);
    return {x_.transpose() * alpha - model.weight, intercept - model.intercept};
  }

  // (Z' D Z + penalty) step = Z' slope - penalty v, where Z has a column of ones for the intercept, which
  // is not penalized. Damped (Levenberg) only as much as rounding requires.
  Step primal_step(const Logistic& model, const Vector<double>& slope,
                   const Vector<double>& curvature) const {
    const Eigen::Index n = x_.rows(), r = coordinates_.cols();
    Eigen::MatrixXd z(n, r + 1);
    z << coordinates_, Vector<double>::Ones(n);
    Vector<double> ridge = Vector<double>::Constant(r + 1, penalty_);
    ridge[r] = 0;
    Vector<double> now(r + 1);
    now << axes_.transpose() * model.weight, model.intercept;
    const Vector<double> down = z.transpose() * slope - ridge.cwiseProduct(now);
    const Eigen::MatrixXd weighted = curvature.cwiseSqrt().asDiagonal() * z;
    Eigen::MatrixXd system = weighted.transpose() * weighted;
    const Vector<double> diagonal = system.diagonal();
    for (double damping = 0; damping < 1; damping = std::max(16 * damping, 0x1p-48)) {
      system.diagonal() = (1 + damping) * diagonal + ridge;
      const Eigen::LLT<Eigen::MatrixXd> factor(system);
      if (factor.info() != Eigen::Success) continue;
      const Vector<double> step = factor.solve(down);
      if (step.allFinite() && step.dot(down) >= 0) return {axes_ * step.head(r), step[r], damping > 0};
    }
    return {};
  }

  const Matrix<double>& x_;
  const Vector<double>& sign_;
  double penalty_;
  Matrix<double> gram_;         // [n, n], of the dual problem
  Matrix<double> axes_;         // [d, r], of the primal one
  Matrix<double> coordinates_;  // [n, r]
};

}  // namespace

Logistic fit_logistic(const Matrix<double>& given, const Vector<double>& sign, double given_penalty) {
  const int exponent = exponent_of(given);
  const Matrix<double> x = times_power_of_two(given, -exponent);
  const double penalty = std::ldexp(given_penalty, -2 * exponent);
  const NewtonSteps steps(x, sign, penalty);
  Logistic model{Vector<double>::Zero(x.cols()), 0};
  Vector<double> scores = Vector<double>::Zero(x.rows());
  double loss = objective(model, scores, sign, penalty);
  for (int iteration = 0; iteration < 100 && !model.converged; ++iteration) {
    const Step whole = steps.step(model, scores);
    if (whole.weight.size() == 0) break;
    const Vector<double> moved = (x * whole.weight).array() + whole.intercept;

    // The objective is convex; halve a step that overshoots. Near the optimum steps only change its
    // rounding, but they still gain digits.
    const double rounding = 1e-14 * loss;
    double length = 1, next_loss = loss;
    Logistic next;
    Vector<double> next_scores;
    for (; length > 1e-6; length /= 2) {
      next = {model.weight + length * whole.weight, model.intercept + length * whole.intercept};
      next_scores = scores + length * moved;
      next_loss = objective(next, next_scores, sign, penalty);
      if (next_loss <= loss + rounding) break;
    }
    if (!(next_loss <= loss + rounding)) break;
    next.converged = !whole.damped && whole.gain <= 1e-12 * loss;
    model = next;
    scores = next_scores;
    loss = next_loss;
  }
  model.weight = times_power_of_two(model.weight, -exponent);
  return model;
}

Ridge fit_ridge(const Matrix<double>& given_x, const Matrix<double>& given_y, double given_penalty) {
  const int of_x = exponent_of(given_x), of_y = exponent_of(given_y);
  const Matrix<double> x = times_power_of_two(given_x, -of_x), y = times_power_of_two(given_y, -of_y);
  const double penalty = std::ldexp(given_penalty, -2 * of_x);
  const Matrix<double> centre_x = x.colwise().mean();
  const Matrix<double> centre_y = y.colwise().mean();
  const Matrix<double> centred_x = column_centred(x);
  const Matrix<double> across_y = transposed(column_centred(y));
  Ridge ridge;
  if (penalty > 0 && well_conditioned(centred_x, penalty)) {
    const bool wide = x.rows() < x.cols();
    const Matrix<double> across_x = transposed(centred_x);
    const Matrix<double>& rows = wide ? centred_x : across_x;
    Eigen::MatrixXd system = rows_times_rows<double>(rows, rows);
    system.diagonal().array() += penalty;
    const Eigen::LLT<Eigen::MatrixXd> factor(system);
    const auto solve = [&](const Matrix<double>& right) {
      return Matrix<double>(Matrix<double>(factor.solve(Eigen::MatrixXd(right))).transpose());
    };
    ridge.weight = wide ? rows_times_rows<double>(solve(transposed(across_y)), across_x)
                        : solve(rows_times_rows<double>(across_x, across_y));
  } else {
    // X = U S V': W' = V S / (S^2 + penalty) U' Y.
    const Svd parts = svd(centred_x);
    const Vector<double>& values = parts.singular_values;
    Matrix<double> inner = rows_times_rows<double>(across_y, transposed(parts.U));
    for (Eigen::Index k = 0; k < values.size(); ++k) {
      inner.col(k) *= values[k] / (values[k] * values[k] + penalty);
    }
    ridge.weight = rows_times_rows<double>(inner, parts.V);
  }
  const Matrix<double> intercept = centre_y - rows_times_rows<double>(centre_x, ridge.weight);
  ridge.weight = times_power_of_two(ridge.weight, of_y - of_x);
  ridge.intercept = times_power_of_two(intercept, of_y).transpose();
  return ridge;
}

Matrix<double> predict(const Ridge& ridge, const Matrix<double>& rows) {
  Matrix<double> out = rows_times_rows<double>(rows, ridge.weight);
  out.rowwise() += ridge.intercept.transpose();
  return out;
}

std::vector<int> fold_assignment(int n, int folds, bool shuffled, std::uint32_t seed) {
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  if (shuffled) order = shuffled_order(n, seed, 0);
  std::vector<int> fold_of(n);
  int next = 0;
  for (int fold = 0; fold < folds; ++fold) {
    const int size = n / folds + (fold < n % folds ? 1 : 0);
    for (int k = 0; k < size; ++k) fold_of[order[next++]] = fold;
  }
  return fold_of;
}

PositionProbe position_probe(const Matrix<double>& rows, const Vector<double>& index,
                             const ProbeOptions& options) {
  const int n = static_cast<int>(rows.rows());
  const std::vector<int> fold_of = fold_assignment(n, options.folds, options.shuffled, options.seed);
  PositionProbe probe{Vector<double>(n), 0, 0};
  const Matrix<double> indices = index;
  for (int fold = 0; fold < options.folds; ++fold) {
    const std::vector<int> training = members(fold_of, fold, false);
    const std::vector<int> test = members(fold_of, fold, true);
    const Ridge ridge = fit_ridge(rows_of(rows, training), rows_of(indices, training), options.penalty);
    const Matrix<double> predicted = predict(ridge, rows_of(rows, test));
    for (std::size_t k = 0; k < test.size(); ++k) probe.predicted[test[k]] = predicted(k, 0);
  }
  const double middle = std::round(index.mean());
  for (int i = 0; i < n; ++i) {
    probe.mean_absolute_error += std::abs(std::round(probe.predicted[i]) - index[i]) / n;
    probe.guessing_error += std::abs(middle - index[i]) / n;
  }
  return probe;
}

OrderProbe order_probe(const Matrix<double>& rows, int pairs, const ProbeOptions& options) {
  const int n = static_cast<int>(rows.rows());
  OrderProbe probe;
  const Matrix<double> uniforms = random_uniform<double>(pairs, 2, options.seed, 1);
  Matrix<double> inputs(pairs, 2 * rows.cols());
  Vector<double> sign(pairs);
  for (int k = 0; k < pairs; ++k) {
    const int a = static_cast<int>(uniforms(k, 0) * n);
    int b = static_cast<int>(uniforms(k, 1) * (n - 1));
    b += b >= a;
    probe.first.push_back(a);
    probe.second.push_back(b);
    inputs.row(k) << rows.row(a), rows.row(b);
    sign[k] = b > a ? 1 : -1;
  }
  const std::vector<int> fold_of = fold_assignment(pairs, options.folds, options.shuffled, options.seed);
  probe.wrong.resize(pairs);
  for (int fold = 0; fold < options.folds; ++fold) {
    const std::vector<int> training = members(fold_of, fold, false);
    const Logistic model = fit_logistic(rows_of(inputs, training), rows_of(sign, training), options.penalty);
    probe.converged = probe.converged && model.converged;
    for (int k : members(fold_of, fold, true)) {
      const double score = inputs.row(k).dot(model.weight) + model.intercept;
      probe.wrong[k] = (score > 0) != (sign[k] > 0);
    }
  }
  for (int wrong : probe.wrong) probe.error += double(wrong) / pairs;
  return probe;
}

TokenProbe token_probe(const Matrix<double>& given_tokens, const Matrix<double>& given_positions,
                       const TokenProbeOptions& options) {
  const int exponent = std::max(exponent_of(given_tokens), exponent_of(given_positions));
  const Matrix<double> tokens = times_power_of_two(given_tokens, -exponent);
  const Matrix<double> positions = times_power_of_two(given_positions, -exponent);
  // Both tables in a random order; the held-out rows come first.
  struct Split {
    std::vector<int> order;
    int held_out;
  };
  const auto split = [&](const Matrix<double>& table, std::uint32_t stream) {
    const int size = static_cast<int>(table.rows());
    const int held_out = std::clamp(int(std::lround(options.held_out * size)), 1, size - 1);
    return Split{shuffled_order(size, options.seed, stream), held_out};
  };
  const Split of_tokens = split(tokens, 2);
  const Split of_positions = split(positions, 3);
  const auto ascending = [](const Split& of) {
    std::vector<int> chosen(of.order.begin(), of.order.begin() + of.held_out);
    sort_places(chosen, chosen.size(), nullptr, [](const void*, int a, int b) { return a < b; });
    return chosen;
  };

  // Sampled pairs: x = t + p, and t.
  const auto sample = [&](int pairs, bool test, std::uint32_t stream, Matrix<double>& x, Matrix<double>& t) {
    const Matrix<double> uniforms = random_uniform<double>(pairs, 2, options.seed, stream);
    const auto pick = [&](const Split& of, double uniform) {
      const int size = static_cast<int>(of.order.size());
      return test ? of.order[int(uniform * of.held_out)]
                  : of.order[of.held_out + int(uniform * (size - of.held_out))];
    };
    x.resize(pairs, tokens.cols());
    t.resize(pairs, tokens.cols());
    for (int k = 0; k < pairs; ++k) {
      t.row(k) = tokens.row(pick(of_tokens, uniforms(k, 0)));
      x.row(k) = t.row(k) + positions.row(pick(of_positions, uniforms(k, 1)));
    }
  };
  Matrix<double> x, t, test_x, test_t;
  sample(options.training_pairs, false, 4, x, t);
  sample(options.test_pairs, true, 5, test_x, test_t);
  const Ridge ridge = fit_ridge(x, t, std::ldexp(options.penalty, -2 * exponent));
  // Relative to the first, so that equal rows have no variation to explain.
  const Matrix<double> mean = t.row(0) + (t.rowwise() - t.row(0)).colwise().mean();
  const auto r_squared = [&](const Matrix<double>& predicted, const Matrix<double>& wanted) {
    const double variation = (wanted.rowwise() - mean.row(0)).squaredNorm();
    if (variation == 0) return std::numeric_limits<double>::quiet_NaN();
    return 1 - (predicted - wanted).squaredNorm() / variation;
  };

  TokenProbe probe;
  const Matrix<double> predicted = predict(ridge, test_x);
  probe.r_squared = r_squared(predicted, test_t);
  probe.training_r_squared = r_squared(predict(ridge, x), t);
  for (int k = 0; k < options.test_pairs; ++k) {
    // Scaled one by one: squares of a short row beside long ones would underflow.
    const Matrix<double> found = normalized(predicted.row(k)), wanted = normalized(test_t.row(k));
    const double norms = found.norm() * wanted.norm();
    if (norms > 0) probe.mean_cosine += found.row(0).dot(wanted.row(0)) / norms / options.test_pairs;
  }
  probe.held_out_tokens = ascending(of_tokens);
  probe.held_out_positions = ascending(of_positions);
  return probe;
}

}  // namespace superpose
