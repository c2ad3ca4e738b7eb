#include "numeric/factorize.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "numeric/product.h"
#include "numeric/simd.h"
#include "numeric/sorted.h"

namespace superpose {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// Everything long is in these three loops. One copy of each is enough, hence noinline: inlined where
// they are called, they made the module 10% larger and nothing faster.

// x and y, two rows, become c x - s y and s x + c y.
[[gnu::noinline]] void rotate(double* x, double* y, Eigen::Index size, double c, double s) {
  for (Eigen::Index k = 0; k < size; ++k) {
    const double old = x[k];
    x[k] = c * old - s * y[k];
    y[k] = s * old + c * y[k];
  }
}

[[gnu::noinline]] double dot(const double* x, const double* y, Eigen::Index size) {
  using S = Simd<double>;
  S::Vector left{}, right{};
  Eigen::Index k = 0;
  for (; k + 2 * S::kLanes <= size; k += 2 * S::kLanes) {
    left += S::load(x + k) * S::load(y + k);
    right += S::load(x + k + S::kLanes) * S::load(y + k + S::kLanes);
  }
  left += right;
  double sum = 0;
  for (int lane = 0; lane < S::kLanes; ++lane) sum += left[lane];
  for (; k < size; ++k) sum += x[k] * y[k];
  return sum;
}

// y += factor * x
[[gnu::noinline]] void add_multiple(double factor, const double* x, double* y, Eigen::Index size) {
  Eigen::Map<Vector<double>>(y, size) += factor * Eigen::Map<const Vector<double>>(x, size);
}

// The permutation that sorts `values`, descending.
std::vector<int> descending(const Vector<double>& values) {
  const int size = static_cast<int>(values.size());
  return sorted_places(size, size,
                       [&](int i, int j) { return values[i] != values[j] ? values[i] > values[j] : i < j; });
}

// Rotates pairs of rows of x until they are orthogonal; the same rotations are applied to the rows of j
// when it has any. Rows that are equal up to rounding would turn for ever, hence the limit; thirty is
// several times what any matrix has needed.
void orthogonalise_rows(Matrix<double>& x, Matrix<double>& j) {
  const Eigen::Index n = x.rows(), width = x.cols();
  const double small = kEpsilon * std::sqrt(static_cast<double>(std::max<Eigen::Index>(width, 1)));
  Vector<double> squares(n);
  bool turned = true;
  for (int sweep = 0; turned && sweep < 30; ++sweep) {
    turned = false;
    for (Eigen::Index p = 0; p < n; ++p) squares[p] = dot(&x(p, 0), &x(p, 0), width);
    for (Eigen::Index p = 0; p + 1 < n; ++p) {
      for (Eigen::Index q = p + 1; q < n; ++q) {
        const double product = dot(&x(p, 0), &x(q, 0), width);
        if (std::abs(product) <= small * std::sqrt(squares[p]) * std::sqrt(squares[q])) continue;
        turned = true;
        const double zeta = (squares[q] - squares[p]) / (2 * product);
        const double t = std::copysign(1 / (std::abs(zeta) + std::hypot(1, zeta)), zeta);
        const double c = 1 / std::sqrt(1 + t * t), s = c * t;
        rotate(&x(p, 0), &x(q, 0), width, c, s);
        if (j.rows()) rotate(&j(p, 0), &j(q, 0), j.cols(), c, s);
        squares[p] = std::max(squares[p] - t * product, 0.0);
        squares[q] += t * product;
      }
    }
  }
}

Svd svd_of_tall(const Matrix<double>& a, bool with_vectors) {
  const PivotedQr qr = pivoted_qr(a, 8 * kEpsilon);
  // r = j' x, where x has orthogonal rows.
  Matrix<double> x = qr.r;
  const Eigen::Index rank = x.rows();
  Matrix<double> j;
  if (with_vectors) j = Matrix<double>::Identity(rank, rank);
  orthogonalise_rows(x, j);

  const Vector<double> norms = x.rowwise().norm();
  const std::vector<int> order = descending(norms);
  Svd result;
  result.singular_values.resize(rank);
  for (Eigen::Index k = 0; k < rank; ++k) result.singular_values[k] = norms[order[k]];
  if (!with_vectors) return result;

  result.V.resize(a.cols(), rank);
  Matrix<double> turned(rank, rank);
  for (Eigen::Index k = 0; k < rank; ++k) {
    turned.row(k) = j.row(order[k]);
    for (Eigen::Index column = 0; column < a.cols(); ++column) {
      result.V(qr.order[column], k) = x(order[k], column) / norms[order[k]];
    }
  }
  result.U = rows_times_rows<double>(qr.q, turned);
  return result;
}

}  // namespace

PivotedQr pivoted_qr(const Matrix<double>& a, double tolerance) {
  const Eigen::Index m = a.rows(), n = a.cols();
  // Columns as rows: what remains of each, and the q found so far.
  Matrix<double> rest = a.transpose();
  Matrix<double> q(std::min(m, n), m);
  PivotedQr result;
  result.r = Matrix<double>::Zero(std::min(m, n), n);
  result.order.resize(n);
  std::iota(result.order.begin(), result.order.end(), 0);

  double largest = 0;
  Eigen::Index rank = 0;
  for (; rank < q.rows(); ++rank) {
    Eigen::Index pivot = rank;
    double norm = -1;
    for (Eigen::Index k = rank; k < n; ++k) {
      const double of_row = std::sqrt(dot(&rest(k, 0), &rest(k, 0), m));
      if (of_row > norm) {
        norm = of_row;
        pivot = k;
      }
    }
    if (rank == 0) largest = norm;
    if (norm <= tolerance * largest) break;
    if (pivot != rank) {
      rest.row(pivot).swap(rest.row(rank));
      result.r.col(pivot).swap(result.r.col(rank));
      std::swap(result.order[pivot], result.order[rank]);
    }
    double* direction = &rest(rank, 0);
    for (Eigen::Index k = 0; k < rank; ++k) {
      const double left = dot(&q(k, 0), direction, m);
      add_multiple(-left, &q(k, 0), direction, m);
      result.r(k, rank) += left;
    }
    const double length = std::sqrt(dot(direction, direction, m));
    if (length <= tolerance * largest) break;
    result.r(rank, rank) = length;
    q.row(rank) = rest.row(rank) / length;
    for (Eigen::Index k = rank + 1; k < n; ++k) {
      const double along = dot(&q(rank, 0), &rest(k, 0), m);
      add_multiple(-along, &q(rank, 0), &rest(k, 0), m);
      result.r(rank, k) = along;
    }
  }
  result.q = q.topRows(rank).transpose();
  result.r = Matrix<double>(result.r.topRows(rank));
  return result;
}

Matrix<double> orthonormal_basis(const Matrix<double>& a, double tolerance) {
  return pivoted_qr(a, tolerance).q;
}

Svd svd(const Matrix<double>& a) {
  if (a.rows() >= a.cols()) return svd_of_tall(a, true);
  Svd result = svd_of_tall(a.transpose(), true);
  result.U.swap(result.V);
  return result;
}

Vector<double> singular_values(const Matrix<double>& a) {
  const Vector<double> positive = a.rows() >= a.cols() ? svd_of_tall(a, false).singular_values
                                                       : svd_of_tall(a.transpose(), false).singular_values;
  Vector<double> all = Vector<double>::Zero(std::min(a.rows(), a.cols()));
  all.head(positive.size()) = positive;
  return all;
}

SymmetricEigen symmetric_eigen(const Matrix<double>& a) {
  const Eigen::Index n = a.rows();
  Matrix<double> work = a;
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index k = i + 1; k < n; ++k) work(i, k) = a(k, i);
  }

  // 1. Reflections H_k = I - 2 v v' that leave `work` tridiagonal. Row k of `turned` gathers what will
  // be eigenvector k, so it starts as H_0 H_1 ... transposed: each H is applied to the columns' tails.
  Vector<double> diagonal(n), beside = Vector<double>::Zero(n);
  Matrix<double> reflectors = Matrix<double>::Zero(n, n);
  for (Eigen::Index k = 0; k + 2 < n; ++k) {
    const Eigen::Index size = n - k - 1;
    double* v = &reflectors(k, k + 1);
    std::copy(&work(k, k + 1), &work(k, k + 1) + size, v);
    const double norm = std::sqrt(dot(v, v, size));
    beside[k] = norm;
    if (norm == 0) continue;
    const double target = v[0] > 0 ? -norm : norm;
    beside[k] = target;
    v[0] -= target;
    const double length = std::sqrt(dot(v, v, size));
    for (Eigen::Index i = 0; i < size; ++i) v[i] /= length;
    // work := H work H = work - v w' - w v', w = 2 (p - (v.p) v), p = work v
    Vector<double> w(size);
    for (Eigen::Index i = 0; i < size; ++i) w[i] = 2 * dot(&work(k + 1 + i, k + 1), v, size);
    add_multiple(-dot(v, w.data(), size), v, w.data(), size);
    for (Eigen::Index i = 0; i < size; ++i) {
      double* row = &work(k + 1 + i, k + 1);
      add_multiple(-v[i], w.data(), row, size);
      add_multiple(-w[i], v, row, size);
    }
  }
  if (n >= 2) beside[n - 2] = work(n - 1, n - 2);
  for (Eigen::Index i = 0; i < n; ++i) diagonal[i] = work(i, i);

  // 2. rows = (H_0 H_1 ...)', one row for each eigenvector to be: rows H_0 is last.
  Matrix<double> rows = Matrix<double>::Identity(n, n);
  for (Eigen::Index k = n - 3; k >= 0; --k) {
    const Eigen::Index size = n - k - 1;
    const double* v = &reflectors(k, k + 1);
    for (Eigen::Index i = k + 1; i < n; ++i) {
      add_multiple(-2 * dot(&rows(i, k + 1), v, size), v, &rows(i, k + 1), size);
    }
  }

  // 3. Implicit QL with Wilkinson's shift, from the first value to the last.
  for (Eigen::Index first = 0; first < n; ++first) {
    for (int iteration = 0; iteration < 60; ++iteration) {
      Eigen::Index last = first;
      while (last + 1 < n &&
             std::abs(beside[last]) > kEpsilon * (std::abs(diagonal[last]) + std::abs(diagonal[last + 1]))) {
        ++last;
      }
      if (last == first) break;
      const double ratio = (diagonal[first + 1] - diagonal[first]) / (2 * beside[first]);
      const double shifted = ratio + std::copysign(std::hypot(ratio, 1), ratio);
      double g = diagonal[last] - diagonal[first] + beside[first] / shifted;
      double s = 1, c = 1, p = 0;
      Eigen::Index i = last - 1;
      for (; i >= first; --i) {
        const double f = s * beside[i], b = c * beside[i];
        const double r = std::hypot(f, g);
        beside[i + 1] = r;
        if (r == 0) {
          diagonal[i + 1] -= p;
          beside[last] = 0;
          break;
        }
        s = f / r;
        c = g / r;
        g = diagonal[i + 1] - p;
        const double q = (diagonal[i] - g) * s + 2 * c * b;
        p = s * q;
        diagonal[i + 1] = g + p;
        g = c * q - b;
        rotate(&rows(i, 0), &rows(i + 1, 0), n, c, s);
      }
      if (i >= first) continue;
      diagonal[first] -= p;
      beside[first] = g;
      beside[last] = 0;
    }
  }

  const std::vector<int> order = descending(-diagonal);
  SymmetricEigen result{Vector<double>(n), Matrix<double>(n, n)};
  for (Eigen::Index k = 0; k < n; ++k) {
    result.values[k] = diagonal[order[k]];
    result.vectors.col(k) = rows.row(order[k]).transpose();
  }
  return result;
}

Matrix<double> solve_spd(const Matrix<double>& a, const Matrix<double>& b) {
  const Eigen::Index n = a.rows();
  Matrix<double> lower = a;
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index k = 0; k < i; ++k) {
      lower(i, k) = (a(i, k) - dot(&lower(i, 0), &lower(k, 0), k)) / lower(k, k);
    }
    const double pivot = a(i, i) - dot(&lower(i, 0), &lower(i, 0), i);
    if (!(pivot > n * kEpsilon * a(i, i))) return Matrix<double>(0, b.cols());
    lower(i, i) = std::sqrt(pivot);
  }
  Matrix<double> x = b;
  if (x.size() == 0) return x;
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index k = 0; k < i; ++k) add_multiple(-lower(i, k), &x(k, 0), &x(i, 0), b.cols());
    x.row(i) /= lower(i, i);
  }
  for (Eigen::Index i = n - 1; i >= 0; --i) {
    x.row(i) /= lower(i, i);
    for (Eigen::Index k = 0; k < i; ++k) add_multiple(-lower(i, k), &x(i, 0), &x(k, 0), b.cols());
  }
  return x;
}

}  // namespace superpose
