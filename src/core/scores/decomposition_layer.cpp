#include "scores/decomposition_layer.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace superpose {

using Eigen::Index;

namespace {

// Equality bit for bit, eight bytes at a time: the module's C library would compare one byte at a time.
template <typename Scalar>
bool same(const Scalar* a, const Scalar* b, Index count) {
  constexpr Index kStep = sizeof(std::uint64_t) / sizeof(Scalar);
  const Index whole = count - count % kStep;
  for (Index i = 0; i < whole; i += kStep) {
    std::uint64_t x, y;
    std::memcpy(&x, a + i, sizeof x);
    std::memcpy(&y, b + i, sizeof y);
    if (x != y) return false;
  }
  return std::memcmp(a + whole, b + whole, (count - whole) * sizeof(Scalar)) == 0;
}

}  // namespace

// Collects finished terms while they are consecutive, up to the size of an L2 cache, and hands them over in
// one piece: each piece costs a call into JavaScript.
template <typename Scalar>
class DecompositionLayer<Scalar>::Writer {
 public:
  static constexpr std::size_t kMost = 1 << 16;

  // `most` is the number of values in all.
  Writer(AlignedBuffer<Scalar>& buffer, std::size_t most, const Write& write)
      : buffer_(buffer), room_(std::min(most, kMost)), write_(write) {}
  ~Writer() { flush(); }

  // Room for terms[at .. at + count - 1], to be filled before the next call.
  Scalar* room(std::size_t at, std::size_t count) {
    if (at != start_ + filled_ || filled_ + count > kMost) {
      flush();
      start_ = at;
    }
    filled_ += count;
    return buffer_.at_least(std::max(room_, filled_)) + filled_ - count;
  }

 private:
  void flush() {
    if (filled_) write_(buffer_.data(), filled_, start_);
    filled_ = 0;
  }

  AlignedBuffer<Scalar>& buffer_;
  const std::size_t room_;
  const Write& write_;
  std::size_t start_ = 0, filled_ = 0;
};

template <typename Scalar>
DecompositionLayer<Scalar>::DecompositionLayer(const Linear<Scalar>& query, const Linear<Scalar>& key,
                                               const Normalization<Scalar>& normalization, int heads,
                                               Scalar scale, int summands, const Gauge<Scalar>& gauge)
    : normalization_(normalization),
      gauged_(gauge.moves_terms()),
      apart_rows_(gauge.apart),
      heads_(heads),
      summands_(summands),
      constant_(normalization.beta.size() || query.bias.size() || key.bias.size() || gauge.moves_terms()),
      scale_(scale),
      width_(query.weight.rows() / heads),
      d_(query.weight.cols()),
      tables_(summands),
      table_factors_(summands, 1),
      factors_(summands),
      changed_(summands + 1) {
  eigen_assert(query.weight.rows() == key.weight.rows() && query.weight.rows() % heads == 0);
  make_side(query_, query, gauge.means);
  make_side(key_, key, gauge.means);
}

// Packs the weight, and computes W beta + b.
template <typename Scalar>
void DecompositionLayer<Scalar>::make_side(Side& side, const Linear<Scalar>& linear,
                                           const Matrix<Scalar>& means) {
  const Index out = linear.weight.rows();
  side.weight.pack(linear.weight, out);
  side.constant = Vector<Scalar>::Zero(out);
  if (normalization_.beta.size()) {
    multiply_rows<Scalar>(normalization_.beta.transpose(), linear.weight, 1,
                          MatrixMap<Scalar>(side.constant.data(), 1, out));
  }
  for (Index c = 0; c < linear.bias.size(); ++c) side.constant[c] += linear.bias[c];
  side.means = project_means(means, normalization_, linear);
}

template <typename Scalar>
void DecompositionLayer<Scalar>::resize(Index tokens) {
  if (tokens == tokens_ && next_.cols() == d_) return;
  tokens_ = tokens;
  next_.resize(tokens, d_);
  for (auto& table : tables_) table.resize(0, 0);
  for (Side* side : {&query_, &key_}) side->rows.resize(summands_ * tokens, heads_ * width_);
  for (auto& factors : factors_) factors = Vector<Scalar>::Zero(tokens);
  sigma_ = Vector<Scalar>::Ones(tokens);
  apart_ = row_flags(apart_rows_, tokens);
}

// Projects `rows`, which are those that changed_rows_ lists.
template <typename Scalar>
void DecompositionLayer<Scalar>::project(int s, const Rows<Scalar>& rows) {
  const Index count = rows.rows(), out = heads_ * width_;
  const bool all = count == tokens_;
  for (Side* side : {&query_, &key_}) {
    Scalar* const first = side->rows.data() + s * tokens_ * out;
    if (!all) fresh_.resize(count, out);
    multiply_packed<Scalar>(rows, side->weight, 0, 1, 1, count, all ? first : fresh_.data());
    for (Index c = 0; !all && c < count; ++c) {
      std::copy_n(fresh_.data() + c * out, out, first + changed_rows_[c] * out);
    }
  }
}

template <typename Scalar>
void DecompositionLayer<Scalar>::take(int s, Scalar factor) {
  Matrix<Scalar>& table = tables_[s];
  const bool first = table.rows() != tokens_ || table.cols() != d_;
  if (first) table.resize(tokens_, d_);
  table_factors_[s] = factor;
  changed_rows_.clear();
  for (Index i = 0; i < tokens_; ++i) {
    if (first || !same(next_.data() + i * d_, table.data() + i * d_, d_)) changed_rows_.push_back(i);
  }
  const Index count = static_cast<Index>(changed_rows_.size());
  if (count == 0) return;
  changed_[s] = true;
  const bool all = count == tokens_;
  if (all) next_.swap(table);
  for (Index c = 0; !all && c < count; ++c) {
    const Index at = changed_rows_[c] * d_;
    std::copy_n(next_.data() + at, d_, table.data() + at);
  }
  if (all && normalization_.kind == Norm::none) return project(s, table);
  for (Index c = 0; c < count; ++c) {
    const Scalar* const row = table.data() + changed_rows_[c] * d_;
    Scalar* const to = next_.data() + c * d_;
    Scalar mean = 0;
    for (Index i = 0; normalization_.kind == Norm::layer_norm && i < d_; ++i) mean += row[i];
    mean /= static_cast<Scalar>(d_);
    for (Index i = 0; i < d_; ++i) to[i] = row[i] - mean;
    for (Index i = 0; i < normalization_.gamma.size(); ++i) to[i] *= normalization_.gamma[i];
  }
  project(s, next_.topRows(count));
}

// sigma of each token, from the sum of its current rows.
template <typename Scalar>
void DecompositionLayer<Scalar>::update_factors() {
  all_ones_ = true;
  std::vector<Scalar> sum(d_);
  for (Index i = 0; i < tokens_; ++i) {
    Scalar inverse = 1;
    if (normalization_.kind != Norm::none) {
      std::fill(sum.begin(), sum.end(), Scalar(0));
      for (int s = 0; s < summands_; ++s) {
        const Scalar* const row = tables_[s].data() + i * d_;
        for (Index c = 0; c < d_; ++c) sum[c] += table_factors_[s] * row[c];
      }
      Scalar mean = 0;
      for (Index c = 0; normalization_.kind == Norm::layer_norm && c < d_; ++c) mean += sum[c];
      mean /= static_cast<Scalar>(d_);
      for (Scalar& of : sum) of -= mean;
      sigma_[i] = root_mean_square(sum.data(), d_, normalization_.epsilon);
      inverse = 1 / sigma_[i];
    }
    for (int s = 0; s < summands_; ++s) {
      const Scalar factor = table_factors_[s] * inverse;
      if (factor != factors_[s][i]) {
        factors_[s][i] = factor;
        changed_[s] = true;
      }
      all_ones_ = all_ones_ && factor == 1;
    }
  }
}

template <typename Scalar>
void DecompositionLayer<Scalar>::scale_block(int s, int r, Index from, Index count, Scalar* block) const {
  if (all_ones_ || gauged_) return;
  const Scalar* const columns = factors_[r].data();
  for (Index i = 0; i < count; ++i, block += tokens_) {
    const Scalar row = factors_[s][from + i];
    for (Index j = 0; j < tokens_; ++j) block[j] *= row * columns[j];
  }
}

// A head's parts in the gauge, the constant last, with their factors and divided by sigma.
template <typename Scalar>
void DecompositionLayer<Scalar>::gauged_parts(int head, Side& side) const {
  const Index n = tokens_, from = head * width_;
  side.parts.resize((summands_ + 1) * n, width_);
  Scalar* to = side.parts.data();
  for (int s = 0; s < summands_; ++s) {
    for (Index i = 0; i < n; ++i, to += width_) {
      const Scalar* const row = side.rows.data() + (s * n + i) * side.rows.cols() + from;
      for (Index c = 0; c < width_; ++c) to[c] = factors_[s][i] * row[c];
    }
  }
  for (Index i = 0; i < n; ++i, to += width_) std::copy_n(side.constant.data() + from, width_, to);
  move_means_into_constant(side.means, from, sigma_, apart_, 0, side.parts);
}

template <typename Scalar>
void DecompositionLayer<Scalar>::varying_terms(int head, std::size_t place, bool kept, Writer& out) {
  const bool gauged = gauged_;
  const Matrix<Scalar>& queries = gauged ? query_.parts : query_.rows;
  const Matrix<Scalar>& keys = gauged ? key_.parts : key_.rows;
  const Index n = tokens_, size = n * n, from = gauged ? 0 : head * width_;
  const int all = parts(), stacked = gauged ? all : summands_;
  keys_of_head_.pack(keys.middleCols(from, width_), n);
  // As many rows at a time as are handed over together, in whole tiles of four or six.
  const Index most = std::max<Index>(12, Writer::kMost / n / 12 * 12);
  for (int s = 0; s < stacked; ++s) {
    for (int r = 0, next; r < stacked; r = next) {
      next = r + 1;
      if (is_kept(kept, s, r)) continue;
      // Terms that fit are consecutive, so their queries are packed once.
      while (next < stacked && !is_kept(kept, s, next) && (next - r + 1) * size <= Index(Writer::kMost))
        ++next;
      for (Index i = 0; i < n; i += most) {
        const Index count = std::min(most, n - i);
        Scalar* const block = out.room(place + (s * all + r) * size + i * n, (next - r) * count * n);
        multiply_packed<Scalar>(queries.block(s * n + i, from, count, width_), keys_of_head_, r, next - r,
                                scale_, count, block);
        for (int b = r; b < next; ++b) scale_block(s, b, i, count, block + (b - r) * count * n);
      }
    }
  }
}

// Products with the constant: one number per query or key.
template <typename Scalar>
void DecompositionLayer<Scalar>::constant_terms(int head, std::size_t place, bool kept, Writer& out) {
  const Index n = tokens_, size = n * n;
  const int last = summands_;
  const auto constant_of = [&](const Side& side) {
    return side.constant.segment(head * width_, width_).transpose();
  };
  Vector<Scalar> products(n);
  const auto multiply = [&](const Side& one, const Side& many, int part) {
    if (part == last) {
      Scalar sum = 0;
      for (Index c = head * width_; c < (head + 1) * width_; ++c) sum += one.constant[c] * many.constant[c];
      products.setConstant(scale_ * sum);
      return;
    }
    multiply_rows<Scalar>(constant_of(one), many.rows.block(part * n, head * width_, n, width_), scale_,
                          MatrixMap<Scalar>(products.data(), 1, n));
    for (Index i = 0; i < n; ++i) products[i] *= factors_[part][i];
  };
  for (int part = 0; part <= last; ++part) {
    if (is_kept(kept, part, last)) continue;
    if (part < last) {
      multiply(key_, query_, part);
      for (Index i = 0; i < n; ++i) {
        std::fill_n(out.room(place + (part * (last + 1) + last) * size + i * n, n), n, products[i]);
      }
    }
    multiply(query_, key_, part);
    for (Index i = 0; i < n; ++i) {
      std::copy_n(products.data(), n, out.room(place + (last * (last + 1) + part) * size + i * n, n));
    }
  }
}

template <typename Scalar>
void DecompositionLayer<Scalar>::terms(const std::vector<int>& heads, bool kept, const Write& write) {
  if (tokens_ == 0) return;
  update_factors();
  const std::size_t each = parts() * parts() * tokens_ * tokens_;
  Writer out(buffer_, heads.size() * each, write);
  // In a gauge the constant contains something of every summand.
  for (int s = 0; gauged_ && s < summands_; ++s) changed_[summands_] |= changed_[s];
  for (std::size_t k = 0; k < heads.size(); ++k) {
    for (Side* side : {&query_, &key_}) {
      if (gauged_) gauged_parts(heads[k], *side);
    }
    varying_terms(heads[k], k * each, kept, out);
    if (constant_ && !gauged_) constant_terms(heads[k], k * each, kept, out);
  }
  std::fill(changed_.begin(), changed_.end(), false);
}

template class DecompositionLayer<float>;
template class DecompositionLayer<double>;

}  // namespace superpose
