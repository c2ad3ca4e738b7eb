// A summary of a list of numbers, and the difference between two lists.
#pragma once

#include "numeric/matrix.h"

namespace superpose {

// In the unit of the numbers; NaN for an empty list.
struct Summary {
  double mean = 0;
  double mean_size = 0;  // of |x|
  double least = 0;
  double median = 0;  // the number in the middle, or the mean of the two in the middle
  double largest = 0;
  double largest_size = 0;        // of |x|
  double standard_deviation = 0;  // over count - 1; NaN for fewer than two
};
Summary summary(const Vector<double>& values);

// The largest |a_k - b_k| of two lists of the same size; 0 when they are empty.
double largest_difference(const Vector<double>& a, const Vector<double>& b);

// a - b and a + b, number by number, of two lists of the same size.
Vector<double> difference(const Vector<double>& a, const Vector<double>& b);
Vector<double> list_sum(const Vector<double>& a, const Vector<double>& b);

}  // namespace superpose
