// What a list of numbers is like, and how far two lists are apart.
#pragma once

#include "numeric/matrix.h"

namespace superpose {

// In the numbers' unit. NaN without numbers.
struct Summary {
  double mean = 0;
  double mean_size = 0;  // of |x|
  double least = 0;
  double median = 0;  // the middle one, or the mean of the two in the middle
  double largest = 0;
  double largest_size = 0;  // of |x|
};
Summary summary(const Vector<double>& values);

// The largest |a_k - b_k|; 0 without numbers. Both have the same size.
double largest_difference(const Vector<double>& a, const Vector<double>& b);

}  // namespace superpose
