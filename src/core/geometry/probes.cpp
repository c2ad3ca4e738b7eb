#include "geometry/probes.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "numeric/factorize.h"
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

double objective(const Logistic& model, const Vector<double>& scores, const Vector<double>& sign,
                 double penalty) {
  double total =
      penalty / 2 * model.alpha.dot(scores - Vector<double>::Constant(scores.size(), model.intercept));
  for (Eigen::Index i = 0; i < scores.size(); ++i) total += log_loss(sign[i] * scores[i]);
  return total;
}

}  // namespace

Logistic fit_logistic(const Matrix<double>& gram, const Vector<double>& sign, double penalty) {
  const Eigen::Index n = gram.rows();
  Logistic model{Vector<double>::Zero(n), 0};
  Vector<double> scores = Vector<double>::Zero(n);
  double loss = objective(model, scores, sign, penalty);
  for (int iteration = 0; iteration < 100; ++iteration) {
    // Newton's step is weighted ridge regression of the working response z, weights s (1 - s).
    Matrix<double> system = gram;
    Matrix<double> right(n, 2);
    for (Eigen::Index i = 0; i < n; ++i) {
      const double probability = 1 / (1 + std::exp(-sign[i] * scores[i]));
      const double weight = std::max(probability * (1 - probability), 1e-10);
      system(i, i) += penalty / weight;
      right(i, 0) = scores[i] + sign[i] * (1 - probability) / weight;
      right(i, 1) = 1;
    }
    const Matrix<double> solved = solve_spd(system, right);
    if (solved.rows() == 0) break;
    Logistic next;
    next.intercept = solved.col(0).sum() / solved.col(1).sum();
    next.alpha = solved.col(0) - next.intercept * solved.col(1);
    const Vector<double> next_scores = (gram * next.alpha).array() + next.intercept;

    // The objective is convex; halve a step that overshoots. Near the optimum steps only change its
    // rounding, and are still worth their digits.
    const double rounding = 1e-14 * loss;
    double step = 1;
    double next_loss = loss;
    Logistic candidate;
    Vector<double> candidate_scores;
    for (; step > 1e-6; step /= 2) {
      candidate.alpha = model.alpha + step * (next.alpha - model.alpha);
      candidate.intercept = model.intercept + step * (next.intercept - model.intercept);
      candidate_scores = scores + step * (next_scores - scores);
      next_loss = objective(candidate, candidate_scores, sign, penalty);
      if (next_loss <= loss + rounding) break;
    }
    if (!(next_loss <= loss + rounding)) break;
    const bool settled = loss - next_loss <= 1e-12 * loss;
    model = candidate;
    scores = candidate_scores;
    loss = next_loss;
    if (settled) break;
  }
  return model;
}

Ridge fit_ridge(const Matrix<double>& x, const Matrix<double>& y, double penalty) {
  const Matrix<double> centre_x = x.colwise().mean();
  const Matrix<double> centre_y = y.colwise().mean();
  const Matrix<double> centred_x = x.rowwise() - centre_x.row(0);
  const Matrix<double> across_y = transposed(y.rowwise() - centre_y.row(0));
  const Matrix<double> across_x = transposed(centred_x);
  Ridge ridge;
  if (penalty == 0) {
    // X = U S V': W' = V S^-1 U' Y.
    const Svd parts = svd(centred_x);
    const Vector<double>& values = parts.singular_values;
    const double smallest = values.size() ? std::max(x.rows(), x.cols()) * 0x1p-52 * values[0] : 0;
    const Eigen::Index rank = (values.array() > smallest).count();
    Matrix<double> inner = rows_times_rows<double>(across_y, transposed(parts.U.leftCols(rank)));
    inner *= values.head(rank).cwiseInverse().asDiagonal();
    ridge.weight = rows_times_rows<double>(inner, parts.V.leftCols(rank));
  } else if (x.rows() < x.cols()) {
    Matrix<double> gram = rows_times_rows<double>(centred_x, centred_x);
    gram.diagonal().array() += penalty;
    ridge.weight = rows_times_rows<double>(transposed(solve_spd(gram, transposed(across_y))), across_x);
  } else {
    Matrix<double> covariance = rows_times_rows<double>(across_x, across_x);
    covariance.diagonal().array() += penalty;
    ridge.weight = transposed(solve_spd(covariance, rows_times_rows<double>(across_x, across_y)));
  }
  ridge.intercept = (centre_y - rows_times_rows<double>(centre_x, ridge.weight)).transpose();
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
  const Matrix<double> gram = rows_times_rows<double>(inputs, inputs);
  const std::vector<int> fold_of = fold_assignment(pairs, options.folds, options.shuffled, options.seed);
  probe.wrong.resize(pairs);
  for (int fold = 0; fold < options.folds; ++fold) {
    const std::vector<int> training = members(fold_of, fold, false);
    const Matrix<double> of_training = rows_of(gram, training);
    const Logistic model =
        fit_logistic(rows_of(transposed(of_training), training), rows_of(sign, training), options.penalty);
    for (int k : members(fold_of, fold, true)) {
      const double score = of_training.col(k).dot(model.alpha) + model.intercept;
      probe.wrong[k] = (score > 0) != (sign[k] > 0);
    }
  }
  for (int wrong : probe.wrong) probe.error += double(wrong) / pairs;
  return probe;
}

TokenProbe token_probe(const Matrix<double>& tokens, const Matrix<double>& positions,
                       const TokenProbeOptions& options) {
  // Both tables in a random order: those held out come first.
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
  const Ridge ridge = fit_ridge(x, t, options.penalty);
  const Matrix<double> mean = t.colwise().mean();
  const auto r_squared = [&](const Matrix<double>& predicted, const Matrix<double>& wanted) {
    return 1 - (predicted - wanted).squaredNorm() / (wanted.rowwise() - mean.row(0)).squaredNorm();
  };

  TokenProbe probe;
  const Matrix<double> predicted = predict(ridge, test_x);
  probe.r_squared = r_squared(predicted, test_t);
  probe.training_r_squared = r_squared(predict(ridge, x), t);
  for (int k = 0; k < options.test_pairs; ++k) {
    const double norms = predicted.row(k).norm() * test_t.row(k).norm();
    if (norms > 0) probe.mean_cosine += predicted.row(k).dot(test_t.row(k)) / norms / options.test_pairs;
  }
  probe.held_out_tokens = ascending(of_tokens);
  probe.held_out_positions = ascending(of_positions);
  return probe;
}

}  // namespace superpose
