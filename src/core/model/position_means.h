// How much of a state depends on the position alone, over many windows (Song & Zhong, arXiv 2310.04861):
//
//   h_c(t) = mu + pos_t + content_c(t)
//
// where mu is the mean over all windows and positions, and pos_t is the mean at t over the windows c, minus
// mu.
//
// A mean over C windows still has 1/C of the content's variance in it. Squares are therefore products of two
// halves: pos_t of the even windows, D, times that of the odd ones, E. C_P = (D'E + E'D)/2 is the positions'
// covariance.
#pragma once

#include <vector>

#include "numeric/bytes.h"
#include "numeric/matrix.h"

namespace superpose {

struct PositionStatistics {
  Vector<double> mean;             // mu, [d]
  Matrix<double> position;         // [positions, d], pos_t
  double position_energy = 0;      // the mean of D.E over positions, as a share of the mean |h - mu|^2
  double participation_ratio = 0;  // tr(C_P)^2 / |C_P|^2
  double overlap = 0;              // d tr(C_P C) / (tr C_P tr C), C the content's covariance
  double cosine_with_first = 0;    // the cosine of C_P with the C_P of `first`, the state before layer 0
};

// Sums over one state of every window, or over a layer's queries or keys, in the order of the windows.
class PositionMeans {
 public:
  // Without `squares`, statistics() has only mu and pos_t.
  PositionMeans(Eigen::Index positions, Eigen::Index d, bool squares);

  // Adds the rows [positions, d] of the next window.
  void add(const float* rows);

  // Needs at least two windows.
  PositionStatistics statistics(const PositionMeans& first) const;

 private:
  Matrix<double> sums() const;           // over all windows
  Matrix<double> half(int which) const;  // pos_t of the even windows (0) or the odd ones (1)
  Matrix<double> covariance() const;     // C_P

  Eigen::Index windows_ = 0;
  Matrix<double> sums_[2];   // [positions, d], of windows of even and odd number
  Matrix<double> products_;  // [d, d], sum of h h', or empty
  double squares_ = 0;       // sum of |h|^2
};
constexpr double position_means_bytes(double positions, double d, bool squares) {
  return bytes_of_doubles(2 * positions * d + (squares ? d * d + 2 * d : 0));
}

}  // namespace superpose
