#include "scores/anova.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "numeric/product.h"

namespace superpose {
namespace {

using Index = Eigen::Index;
using Complex = std::complex<double>;

// Accumulates the terms of a head, from the products and tables of its scheme.
class Sums {
 public:
  Sums(double* terms, Index n) : terms_(terms), n_(n), product_(n, n) {}

  MatrixMap<double> of(AnovaTerm term) { return {terms_ + static_cast<int>(term) * n_ * n_, n_, n_}; }

  // Adds scale * left . right of all rows with all rows: [n, w] each, or [1, w] if they are all alike. Empty
  // rows add nothing.
  void add(AnovaTerm term, const Matrix<double>& left, const Matrix<double>& right, double scale) {
    if (left.size() == 0 || right.size() == 0) return;
    MatrixMap<double> product(product_.data(), left.rows(), right.rows());
    multiply_rows<double>(left, right, scale, product);
    of(term) += product.replicate(n_ / left.rows(), n_ / right.rows());
  }

  Index n() const { return n_; }

 private:
  double* terms_;
  Index n_;
  Matrix<double> product_;
};

// Multiplies each pair of channels m of row r, taken as a complex number, by factor(r, m).
template <typename Factor>
Matrix<double> scaled_pairs(Matrix<double> rows, Index pairs, Layout layout, const Factor& factor) {
  std::vector<double> real(pairs), imaginary(pairs);
  for (Index row = 0; row < rows.rows(); ++row) {
    for (Index m = 0; m < pairs; ++m) {
      const Complex value = factor(row, m);
      real[m] = value.real(), imaginary[m] = value.imag();
    }
    rotate_head(rows.data() + row * rows.cols(), pairs, layout, real.data(), imaginary.data());
  }
  return rows;
}

// The mean and what places add to it, [n, w].
Matrix<double> without_token(const FactorParts& parts, Index n) {
  Matrix<double> rows = parts.mean.replicate(n, 1);
  if (parts.place.size()) rows += parts.place;
  return rows;
}

// q . k
void add_product(const FactorParts& query, const FactorParts& key, double scale, Sums* sums) {
  const Matrix<double> q = without_token(query, sums->n());
  sums->add(AnovaTerm::token_token, query.token, key.token, scale);
  sums->add(AnovaTerm::token_position, query.token, key.place, scale);
  sums->add(AnovaTerm::position_token, query.place, key.token, scale);
  sums->add(AnovaTerm::position_position, q, key.place, scale);
  sums->add(AnovaTerm::key, query.mean, key.token, scale);
  sums->add(AnovaTerm::query, q, key.mean, scale);
  sums->add(AnovaTerm::query, query.token, key.mean, scale);
}

// q R k
void add_rotary_product(const FactorParts& query, const FactorParts& key,
                        const std::vector<double>& frequencies, Layout layout,
                        const std::vector<Complex>& means, double scale, Sums* sums) {
  const Index n = sums->n(), pairs = static_cast<Index>(frequencies.size());
  const auto by_place = [&](const Matrix<double>& rows) {
    return scaled_pairs(rows, pairs, layout,
                        [&](Index row, Index m) { return std::polar(1.0, row * frequencies[m]); });
  };
  const auto on_average = [&](const Matrix<double>& rows) {
    return scaled_pairs(rows, pairs, layout, [&](Index, Index m) { return means[m]; });
  };
  const Matrix<double> q = without_token(query, n), k = without_token(key, n);
  const Matrix<double> q_rotated = by_place(q), k_rotated = by_place(k), k_mean = on_average(key.mean);
  sums->add(AnovaTerm::position_position, q_rotated, k_rotated, scale);
  sums->add(AnovaTerm::position_position, q, k_mean, -scale);
  sums->add(AnovaTerm::query, q, k_mean, scale);
  const Matrix<double> of_query = by_place(query.token), of_key = by_place(key.token);
  sums->add(AnovaTerm::token_position, of_query, k_rotated, scale);
  sums->add(AnovaTerm::token_position, query.token, k_mean, -scale);
  sums->add(AnovaTerm::query, query.token, k_mean, scale);
  const Matrix<double> token_mean = on_average(key.token);
  sums->add(AnovaTerm::position_token, q_rotated, of_key, scale);
  sums->add(AnovaTerm::position_token, query.mean, token_mean, -scale);
  sums->add(AnovaTerm::key, query.mean, token_mean, scale);
  sums->add(AnovaTerm::token_token, query.token, token_mean, scale);
  sums->add(AnovaTerm::token_offset, of_query, of_key, scale);
  sums->add(AnovaTerm::token_offset, query.token, token_mean, -scale);
}

CountedPairs attending(const Scheme& scheme) { return {{}, scheme.causal}; }

// Adds a table's number for each pair, which depends on the places alone.
void add_bias(const ScoreTerm& term, int head, const CountedPairs& counted, Sums* sums) {
  const Matrix<double> bias = term.scale * term.index.unaryExpr([&](int row) { return term.key(row, head); });
  double sum = 0;
  Index count = 0;
  for (Index i = 0; i < bias.rows(); ++i) {
    for (Index j = 0; j < bias.cols(); ++j) {
      if (!counted.counts(i, j)) continue;
      sum += bias(i, j);
      ++count;
    }
  }
  const double mean = sum / static_cast<double>(count);
  sums->of(AnovaTerm::position_position).array() += bias.array() - mean;
  sums->of(AnovaTerm::query).array() += mean;
}

// One head's rows as a factor that varies about its mean either with the token or with the place.
FactorParts parts_of_factor(const Matrix<double>& rows, const Matrix<double>& average, Varies varies) {
  if (varies == Varies::token) return factor_parts(rows, average.topRows(1), {});
  const Matrix<double> mean = rows.colwise().mean();
  return {{}, rows.rowwise() - mean.row(0), mean};
}

// Adds the products of a query with rows of offsets (if `keys`), or of such rows with a key.
void add_gathered(const CountedPairs& counted, const Indices& index, bool keys, double scale,
                  const FactorParts& factor, const Matrix<double>& rows, Sums* sums) {
  const Index n = sums->n();
  Vector<double> weight = Vector<double>::Zero(rows.rows());
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      if (counted.counts(i, j)) ++weight[index(i, j)];
    }
  }
  const Matrix<double> mean = weight.transpose() * rows / weight.sum();
  const Matrix<double> varying = rows.rowwise() - mean.row(0);
  // Adds the products of rows [n, w] with the varying rows that each pair looks up.
  const auto gather = [&](AnovaTerm term, const Matrix<double>& with) {
    Matrix<double> products(n, rows.rows());
    multiply_rows<double>(with, varying, scale, MatrixMap<double>(products.data(), n, rows.rows()));
    MatrixMap<double> out = sums->of(term);
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) out(i, j) += products(keys ? i : j, index(i, j));
    }
  };
  const Matrix<double> factor_at_places = without_token(factor, n);
  gather(AnovaTerm::position_position, factor_at_places);
  if (factor.token.size()) gather(keys ? AnovaTerm::token_position : AnovaTerm::position_token, factor.token);
  if (keys) {
    sums->add(AnovaTerm::query, factor_at_places, mean, scale);
    sums->add(AnovaTerm::query, factor.token, mean, scale);
    return;
  }
  sums->add(AnovaTerm::query, mean, factor.mean, scale);
  sums->add(AnovaTerm::position_position, mean, factor.place, scale);
  sums->add(AnovaTerm::key, mean, factor.token, scale);
}

}  // namespace

FactorParts factor_parts(const Matrix<double>& rows, const Matrix<double>& mean,
                         const Matrix<double>& place) {
  FactorParts parts{rows.rowwise() - mean.row(0), place, mean};
  if (place.size()) parts.token -= place;
  return parts;
}

std::vector<Complex> mean_rotations(const std::vector<double>& frequencies, Index n, bool causal) {
  const Index furthest = n - 1;
  std::vector<Complex> means;
  for (const double frequency : frequencies) {
    Complex sum = 0;
    double pairs = 0;
    for (Index offset = -furthest; offset <= (causal ? 0 : furthest); ++offset) {
      const double count = static_cast<double>(n - std::abs(offset));
      sum += std::polar(count, static_cast<double>(offset) * frequency);
      pairs += count;
    }
    means.push_back(sum / pairs);
  }
  return means;
}

void rotary_anova_terms(const FactorParts& query, const FactorParts& key,
                        const std::vector<double>& frequencies, Layout layout,
                        const std::vector<Complex>& means, double scale, double* terms) {
  const Index n = query.token.rows();
  std::fill_n(terms, kAnovaTerms * n * n, 0.0);
  Sums sums(terms, n);
  add_rotary_product(query, key, frequencies, layout, means, scale, &sums);
}

void scheme_anova_terms(const Scheme& scheme, const Scheme& average, int head, double* terms) {
  const Index n = scheme.n;
  std::fill_n(terms, kAnovaTerms * n * n, 0.0);
  if (n == 0) return;
  Sums sums(terms, n);
  for (std::size_t t = 0; t < scheme.terms.size(); ++t) {
    const ScoreTerm& term = scheme.terms[t];
    const ScoreTerm& average_term = average.terms[t];
    if (term.lookup == Lookup::table) {
      add_bias(term, head, attending(scheme), &sums);
      continue;
    }
    const Index width = term.query.cols() / scheme.heads;
    const auto of_head = [&](const Matrix<double>& all) -> Matrix<double> {
      Matrix<double> rows = all.middleCols(head * width, width);
      if (!term.rotation) return rows;
      RotaryOptions back = *term.rotation;
      back.heads = 1;
      back.step = -back.step;
      return rotate(rows, back);
    };
    const auto query = [&] {
      return parts_of_factor(of_head(term.query), of_head(average_term.query), term.query_varies);
    };
    const auto key = [&] {
      return parts_of_factor(of_head(term.key), of_head(average_term.key), term.key_varies);
    };
    if (term.lookup == Lookup::gather_keys) {
      add_gathered(attending(scheme), term.index, true, term.scale, query(), of_head(term.key), &sums);
    } else if (term.lookup == Lookup::gather_queries) {
      add_gathered(attending(scheme), term.index, false, term.scale, key(), of_head(term.query), &sums);
    } else if (term.rotation) {
      const std::vector<double> frequencies =
          rotary_frequencies(static_cast<int>(width), term.rotation->base);
      add_rotary_product(query(), key(), frequencies, term.rotation->layout,
                         mean_rotations(frequencies, n, scheme.causal), term.scale, &sums);
    } else {
      add_product(query(), key(), term.scale, &sums);
    }
  }
}

}  // namespace superpose
