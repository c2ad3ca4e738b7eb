// The products and the softmax of small matrices, against their definitions, at every size that the loops
// tell apart.
#include "numeric/in_place.h"

#include <gtest/gtest.h>

#include <cmath>

#include "random_shapes.h"

namespace superpose {
namespace {

template <typename Scalar>
Block<Scalar> all_of(Matrix<Scalar>& matrix) {
  return {matrix.data(), matrix.cols()};
}
template <typename Scalar>
Block<const Scalar> all_of(const Matrix<Scalar>& matrix) {
  return {matrix.data(), matrix.cols()};
}

// Shapes on both sides of every tile, inside wider matrices, on integers, for which products are exact.
template <typename Scalar>
void products_are_exact() {
  Shapes shapes(1);
  for (int trial = 0; trial < 300; ++trial) {
    const int m = shapes.between(1, 21), k = shapes.between(1, 21), n = shapes.between(1, 21);
    const Matrix<Scalar> a = shapes.integers(m, k + 3).cast<Scalar>();
    const Matrix<Scalar> b = shapes.integers(k, n + 2).cast<Scalar>();
    const Matrix<Scalar> plus = shapes.integers(m, n + 1).cast<Scalar>();
    const Matrix<Scalar> expected = a.leftCols(k) * b.leftCols(n);
    const Matrix<Scalar> added = expected + plus.leftCols(n);
    const ProductShape shape{m, k, n};

    constexpr Scalar kUntouched = 0.5;
    Matrix<Scalar> out = Matrix<Scalar>::Constant(m, n + 2, kUntouched);
    const auto is = [&](const Matrix<Scalar>& result) {
      EXPECT_EQ(out.leftCols(n), result) << m << " " << k << " " << n;
      EXPECT_EQ(out.rightCols(2), (Matrix<Scalar>::Constant(m, 2, kUntouched)));
    };
    multiply<Scalar>(all_of(a), all_of(b), shape, all_of(out));
    is(expected);
    multiply<Scalar>(all_of(a), all_of(b), shape, all_of(out), all_of(plus));
    is(added);
    Matrix<Scalar> transposed(k, m);
    transpose<Scalar>(all_of(a), m, k, all_of(transposed));
    EXPECT_EQ(transposed, a.leftCols(k).transpose());
    multiply_transposed<Scalar>(all_of(transposed), all_of(b), shape, all_of(out));
    is(expected);
    multiply_transposed<Scalar>(all_of(transposed), all_of(b), shape, all_of(out), all_of(plus));
    is(added);
    // The result may go into the matrix that is added to.
    out.leftCols(n) = plus.leftCols(n);
    multiply<Scalar>(all_of(a), all_of(b), shape, all_of(out), all_of(out));
    is(added);
  }
}

TEST(InPlace, ProductsAreTheDefinition) { products_are_exact<double>(); }
TEST(InPlace, ProductsAreTheDefinitionInFloat) { products_are_exact<float>(); }

// Compares with the definition in double, from scores that cannot overflow to scores that would.
template <typename Scalar>
void softmax_is_the_definition(double tolerance) {
  Shapes shapes(2);
  for (int n = 1; n < 20; ++n) {
    const Matrix<Scalar> logits = shapes.matrix(7, n, n % 3 ? 2 : 3000).cast<Scalar>();
    Matrix<Scalar> weights = logits;
    if (n > 2) weights(2, n - 1) = weights(2, 0) = static_cast<Scalar>(kMasked);
    Matrix<double> expected = weights.template cast<double>();
    for (int i = 0; i < 7; ++i) {
      const double most = expected.row(i).maxCoeff();
      expected.row(i) = (expected.row(i).array() - most).exp();
      expected.row(i) /= expected.row(i).sum();
    }
    softmax<Scalar>(all_of(weights), 7, n);
    EXPECT_LT(max_abs(weights.template cast<double>() - expected), tolerance) << n;
    EXPECT_EQ(n > 2 ? weights(2, 0) : 0, 0);
  }
}

TEST(InPlace, SoftmaxIsTheDefinition) { softmax_is_the_definition<double>(1e-15); }
TEST(InPlace, SoftmaxIsTheDefinitionInFloat) { softmax_is_the_definition<float>(3e-7); }

TEST(InPlace, NotANumberStaysOne) {
  std::vector<float> row = {0, 1, std::nanf(""), 2, 3};
  softmax<float>({row.data(), 5}, 1, 5);
  EXPECT_TRUE(std::isnan(row[0]));
}

}  // namespace
}  // namespace superpose
