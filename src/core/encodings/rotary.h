// Rotary position embedding, which rotates queries and keys instead of adding anything to the tokens.
//
// Each pair of channels of a head is rotated by the angle p theta_i, theta_i = base^(-2i/d_h):
//
//   (a, b) -> (a cos(p theta_i) - b sin(p theta_i), a sin(p theta_i) + b cos(p theta_i)).
//
// Two rotated vectors have the dot product q' R_{n-m} k, which depends on the positions m and n only by
// their offset (Su et al., arXiv 2104.09864, equations 14 to 16 and 34). Which two channels make a pair is a
// convention; a fixed permutation converts one convention into the other:
//
//   interleaved    channels 2i and 2i + 1        (roformer, ZhuiyiTechnology)
//   concatenated   channels i and i + d_h/2      (half-split: "rotate half", GPT-NeoX and LLaMA)
#pragma once

#include <array>
#include <vector>

#include "encodings/layout.h"
#include "numeric/bytes.h"
#include "numeric/matrix.h"

namespace superpose {

struct RotaryOptions {
  int heads = 1;                        // must divide the number of columns
  Layout layout = Layout::interleaved;  // which channels make a pair
  double base = 10000;                  // > 0
  double first_position = 0;            // the position of row 0
  double step = 1;                      // from one row to the next; -1 undoes a rotation by 1
};

// Rotary positions beyond the trained length: how the frequencies change so that s times as many positions
// are rotated by angles that the model has seen.
//
//   interpolate  theta / s: position interpolation             (Chen et al., arXiv 2306.15595, equation 4)
//   parts        theta (gamma + (1 - gamma) / s) with gamma = (n theta / 2 pi - alpha) / (beta - alpha)
//                within 0 .. 1: pairs that make many turns in the n trained positions keep their
//                frequency ("NTK by parts")                     (arXiv 2309.00071, equations 17 to 20)
//
// The paper's gamma is a ramp over the number of turns, n theta / 2 pi. The code released with the paper has
// a ramp over channels instead, from the channel that makes beta turns to the one that makes alpha turns,
// both rounded outwards; its frequencies differ from these.
enum class Stretch { none, interpolate, parts };
constexpr std::array<const char*, 3> names(Stretch) { return {"none", "interpolate", "parts"}; }

struct StretchOptions {
  Stretch way = Stretch::none;
  double factor = 1;   // s >= 1
  double trained = 1;  // n > 0, the number of trained positions; only for `parts`
  double alpha = 1;    // pairs that make at most this many turns are interpolated
  double beta = 32;    // pairs that make at least this many turns keep their frequency; > alpha
};

// theta_i of a head of this width, [d_h / 2], fastest first, stretched if the options say so.
std::vector<double> rotary_frequencies(int head_width, double base, const StretchOptions& stretch = {});

// How rows are rotated: theta_m of each pair of channels, for rows at the positions first_position + step *
// row.
struct Rotation {
  std::vector<double>
      frequencies;  // [pairs]; the first 2 * pairs channels of a head are rotated, the others stay
  Layout layout = Layout::concatenated;
  int heads = 1;  // must divide the number of columns
  double first_position = 0, step = 1;
};

// The rotation of all channels of heads of this width.
Rotation rotation(int head_width, const RotaryOptions& options);

// Cosines and sines of the angles of `rows` rows, [rows, pairs] each. The angles are computed in double.
template <typename Scalar>
struct RotaryAngles {
  Matrix<Scalar> cosines, sines;
};
template <typename Scalar>
RotaryAngles<Scalar> rotary_angles(Eigen::Index rows, const Rotation& rotation);

// Rotates the channels of one head in place, by cosines and sines [pairs]; direction -1 rotates back.
template <typename Scalar>
inline void rotate_head(Scalar* channels, Eigen::Index pairs, Layout layout, const Scalar* cosines,
                        const Scalar* sines, Scalar direction = 1) {
  const bool interleaved = layout == Layout::interleaved;
  for (Eigen::Index i = 0; i < pairs; ++i) {
    Scalar& first = channels[interleaved ? 2 * i : i];
    Scalar& second = channels[interleaved ? 2 * i + 1 : i + pairs];
    const Scalar a = first, b = second, sine = direction * sines[i];
    first = a * cosines[i] - b * sine;
    second = a * sine + b * cosines[i];
  }
}

// Rotates rows [n, heads * d_h] in place, every head alike. In a stack of such tables the positions start
// again after every n rows.
template <typename Scalar>
void rotate_stack(const Rotation& rotation, Eigen::Index n, Matrix<Scalar>& stack);

// Rotates rows [n, heads * d_h], d_h even, every head alike.
Matrix<double> rotate(Matrix<double> rows, const RotaryOptions& options);
constexpr double rotate_bytes(double rows, double columns) { return bytes_of_doubles(4 * rows * columns); }

}  // namespace superpose
