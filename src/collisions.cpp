#include "collisions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include "product.h"

namespace superpose {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// The first place of the smallest value: the value first, which vectorises, then its place.
int place_of_smallest(const Vector<float>& values) {
  const float smallest = values.minCoeff();
  if (!(smallest < kInfinity)) return -1;
  return static_cast<int>(std::find(values.data(), values.data() + values.size(), smallest) -
                          values.data());
}

double distance(const CollisionSearch& search, int word, int position, int other) {
  double squared = 0;
  for (Eigen::Index c = 0; c < search.tokens.cols(); ++c) {
    double x = double(search.tokens(word, c)) - search.tokens(other, c);
    if (position >= 0) x += search.positions(position, c);
    squared += x * x;
  }
  return std::sqrt(squared);
}

}  // namespace

CollisionSearch collision_search(Matrix<float> tokens, Matrix<float> positions) {
  CollisionSearch search{std::move(tokens), std::move(positions), {}, {}};
  search.half_norms.resize(search.tokens.rows());
  for (Eigen::Index b = 0; b < search.tokens.rows(); ++b) {
    double squared = 0;
    for (Eigen::Index c = 0; c < search.tokens.cols(); ++c) {
      squared += double(search.tokens(b, c)) * search.tokens(b, c);
    }
    search.half_norms[b] = static_cast<float>(squared / 2);
  }
  search.position_products = rows_times_rows<float>(search.positions, search.tokens);
  return search;
}

double collision_margin(const CollisionSearch& search, int a, int b, int position) {
  double margin = 0;
  for (Eigen::Index c = 0; c < search.tokens.cols(); ++c) {
    const double difference = double(search.tokens(b, c)) - search.tokens(a, c);
    margin += difference * (difference / 2 - search.positions(position, c));
  }
  return margin;
}

NearestTokens nearest_tokens(const CollisionSearch& search, int first, int words) {
  const Eigen::Index vocabulary = search.tokens.rows();
  const Eigen::Index positions = search.positions.rows();
  eigen_assert(first >= 0 && first + words <= vocabulary);
  NearestTokens result{std::vector<int>(words, -1),
                       Vector<double>::Constant(words, std::numeric_limits<double>::infinity()),
                       std::vector<int>(words * positions, -1),
                       Matrix<double>::Constant(words, positions,
                                                std::numeric_limits<double>::infinity())};
  if (words == 0) return result;

  // <e_a, e_b> for the slice; the other thin product is search.position_products.
  const Matrix<float> products =
      rows_times_rows<float>(search.tokens.middleRows(first, words), search.tokens);
  Vector<float> bare(vocabulary);
  Vector<float> moved(vocabulary);
  for (int w = 0; w < words; ++w) {
    const int a = first + w;
    // Half the squared distances to e_a + p_i, less what is the same for every b.
    bare = search.half_norms - products.row(w).transpose();
    bare[a] = kInfinity;
    const int nearest = place_of_smallest(bare);
    if (nearest < 0) continue;
    result.bare[w] = nearest;
    result.bare_distances[w] = distance(search, a, -1, nearest);
    for (Eigen::Index i = 0; i < positions; ++i) {
      moved = bare - search.position_products.row(i).transpose();
      const int other = place_of_smallest(moved);
      result.nearest[w * positions + i] = other;
      result.margins(w, i) = collision_margin(search, a, other, static_cast<int>(i));
    }
  }
  return result;
}

Neighbours neighbours(const CollisionSearch& search, int word, int position, int count) {
  const int vocabulary = static_cast<int>(search.tokens.rows());
  std::vector<double> distances(vocabulary);
  for (int b = 0; b < vocabulary; ++b) distances[b] = distance(search, word, position, b);
  Neighbours result;
  result.tokens.resize(vocabulary);
  std::iota(result.tokens.begin(), result.tokens.end(), 0);
  const int kept = std::min(count, vocabulary);
  std::partial_sort(result.tokens.begin(), result.tokens.begin() + kept, result.tokens.end(),
                    [&](int left, int right) {
                      return distances[left] != distances[right] ? distances[left] < distances[right]
                                                                 : left < right;
                    });
  result.tokens.resize(kept);
  for (int b : result.tokens) result.distances.push_back(distances[b]);
  return result;
}

std::vector<CrossPair> closest_across_positions(const Matrix<double>& tokens,
                                                const Matrix<double>& positions, int count) {
  const int n = static_cast<int>(tokens.rows());
  const int length = static_cast<int>(positions.rows());
  const Matrix<double> token_products = rows_times_rows<double>(tokens, tokens);
  const Matrix<double> position_products = rows_times_rows<double>(positions, positions);
  const Matrix<double> cross = rows_times_rows<double>(tokens, positions);

  const auto nearer = [](const CrossPair& left, const CrossPair& right) {
    return left.distance < right.distance;
  };
  std::vector<CrossPair> heap;  // the farthest of those kept is on top; distances squared for now
  if (count <= 0) return heap;
  for (int a = 0; a < n; ++a) {
    for (int b = 0; b < n; ++b) {
      if (a == b) continue;
      const double of_tokens = token_products(a, a) - 2 * token_products(a, b) + token_products(b, b);
      for (int i = 0; i < length; ++i) {
        const double of_i = cross(a, i) - cross(b, i);
        for (int j = i + 1; j < length; ++j) {
          const double of_positions =
              position_products(i, i) - 2 * position_products(i, j) + position_products(j, j);
          const double squared =
              of_tokens + of_positions + 2 * (of_i - cross(a, j) + cross(b, j));
          const bool full = static_cast<int>(heap.size()) == count;
          if (full && squared >= heap.front().distance) continue;
          if (full) {
            std::pop_heap(heap.begin(), heap.end(), nearer);
            heap.pop_back();
          }
          heap.push_back({a, i, b, j, squared});
          std::push_heap(heap.begin(), heap.end(), nearer);
        }
      }
    }
  }
  for (CrossPair& pair : heap) {
    pair.distance = ((tokens.row(pair.a) - tokens.row(pair.b)) -
                     (positions.row(pair.j) - positions.row(pair.i)))
                        .norm();
  }
  std::sort(heap.begin(), heap.end(), [](const CrossPair& left, const CrossPair& right) {
    return std::tie(left.distance, left.a, left.i, left.b, left.j) <
           std::tie(right.distance, right.a, right.i, right.b, right.j);
  });
  return heap;
}

}  // namespace superpose
