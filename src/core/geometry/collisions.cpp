#include "geometry/collisions.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "numeric/product.h"
#include "numeric/simd.h"
#include "numeric/sorted.h"

namespace superpose {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The smallest of x - y.
double smallest_difference(const double* x, const double* y, Eigen::Index count) {
  using S = Simd<double>;
  constexpr Eigen::Index kStep = 2 * S::kLanes;
  S::Vector left = S::all(kInfinity), right = left;
  Eigen::Index k = 0;
  for (; k + kStep <= count; k += kStep) {
    const S::Vector a = S::load(x + k) - S::load(y + k);
    const S::Vector b = S::load(x + k + S::kLanes) - S::load(y + k + S::kLanes);
    left = a < left ? a : left;
    right = b < right ? b : right;
  }
  double smallest = kInfinity;
  for (int lane = 0; lane < S::kLanes; ++lane) {
    smallest = std::min({smallest, left[lane], right[lane]});
  }
  for (; k < count; ++k) smallest = std::min(smallest, x[k] - y[k]);
  return smallest;
}

// The smallest x - y, and the piece of the vocabulary that holds it. Comparing values alone, piece by piece,
// is fast; the exact place is then looked up in that one piece.
struct Smallest {
  double value = kInfinity;
  Eigen::Index piece = 0;
};
constexpr Eigen::Index kPiece = 2048;

int place_of(const Smallest& smallest, const double* x, const double* y, Eigen::Index count) {
  if (!(smallest.value < kInfinity)) return -1;
  Eigen::Index k = smallest.piece;
  while (k + 1 < count && x[k] - y[k] != smallest.value) ++k;
  return static_cast<int>(k);
}

double distance(const CollisionSearch& search, int word, int position, int other) {
  double squared = 0;
  for (Eigen::Index c = 0; c < search.tokens.cols(); ++c) {
    double x = search.tokens(word, c) - search.tokens(other, c);
    if (position >= 0) x += search.positions(position, c);
    squared += x * x;
  }
  return std::sqrt(squared);
}

// The margin of one pair, 1/2 |e_b - e_a|^2 - <e_b - e_a, p_i>, from the differences themselves.
double collision_margin(const CollisionSearch& search, int a, int b, int position) {
  double margin = 0;
  for (Eigen::Index c = 0; c < search.tokens.cols(); ++c) {
    const double difference = search.tokens(b, c) - search.tokens(a, c);
    margin += difference * (difference / 2 - search.positions(position, c));
  }
  return margin;
}

// Tokens first .. first + count - 1 minus the mean token.
Matrix<double> centred(const CollisionSearch& search, Eigen::Index first, Eigen::Index count) {
  return search.tokens.middleRows(first, count).rowwise() - search.mean.transpose();
}

}  // namespace

CollisionSearch collision_search(Matrix<double> tokens, Matrix<double> positions) {
  CollisionSearch search{std::move(tokens), std::move(positions), {}, {}, {}};
  const Eigen::Index vocabulary = search.tokens.rows();
  search.mean = search.tokens.colwise().sum().transpose() / std::max<double>(1, vocabulary);
  const Matrix<double> rows = centred(search, 0, vocabulary);
  search.half_norms = rows.rowwise().squaredNorm() / 2;
  search.position_products = rows_times_rows<double>(search.positions, rows);
  return search;
}

NearestTokens nearest_tokens(const CollisionSearch& search, int first, int words) {
  const Eigen::Index vocabulary = search.tokens.rows();
  const Eigen::Index positions = search.positions.rows();
  eigen_assert(first >= 0 && first + words <= vocabulary);
  NearestTokens result{std::vector<int>(words, -1),
                       Vector<double>::Constant(words, std::numeric_limits<double>::infinity()),
                       std::vector<int>(words * positions, -1),
                       Matrix<double>::Constant(words, positions, std::numeric_limits<double>::infinity()),
                       {},
                       std::vector<int>(positions)};
  result.bare_margins = result.bare_distances;
  if (words == 0) return result;

  // Half the squared distance from each word of the slice to each token, without the terms that are the
  // same for every token. An added position subtracts its product with the token.
  const Matrix<double> slice = centred(search, first, words);
  Matrix<double> bare(words, vocabulary);
  const std::vector<double> zeros(vocabulary);
  const auto products = [&](Eigen::Index i) {  // position 0 means none
    return i ? &search.position_products(i - 1, 0) : zeros.data();
  };
  std::vector<Smallest> nearest(words * (1 + positions));
  for (Eigen::Index piece = 0; piece < vocabulary; piece += kPiece) {
    const Eigen::Index count = std::min(kPiece, vocabulary - piece);
    const Matrix<double> with_words = rows_times_rows<double>(slice, centred(search, piece, count));
    for (int w = 0; w < words; ++w) {
      for (Eigen::Index b = 0; b < count; ++b) {
        const bool itself = piece + b == first + w;
        bare(w, piece + b) = itself ? kInfinity : search.half_norms[piece + b] - with_words(w, b);
      }
    }
    for (Eigen::Index i = 0; i <= positions; ++i) {
      for (int w = 0; w < words; ++w) {
        const double value = smallest_difference(&bare(w, piece), products(i) + piece, count);
        Smallest& smallest = nearest[w * (1 + positions) + i];
        if (value < smallest.value) smallest = {value, piece};
      }
    }
  }
  for (int w = 0; w < words; ++w) {
    const int a = first + w;
    for (Eigen::Index i = 0; i <= positions; ++i) {
      const int other = place_of(nearest[w * (1 + positions) + i], &bare(w, 0), products(i), vocabulary);
      if (other < 0) continue;
      if (i == 0) {
        result.bare[w] = other;
        result.bare_distances[w] = distance(search, a, -1, other);
        result.bare_margins[w] = result.bare_distances[w] * result.bare_distances[w] / 2;
      } else {
        result.nearest[w * positions + i - 1] = other;
        result.margins(w, i - 1) = collision_margin(search, a, other, static_cast<int>(i - 1));
        result.lost[i - 1] += result.margins(w, i - 1) < 0;
      }
    }
  }
  return result;
}

}  // namespace superpose
