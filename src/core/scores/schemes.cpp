#include "scores/schemes.h"

#include <cmath>
#include <initializer_list>
#include <utility>

#include "numeric/product.h"

namespace superpose {
namespace {

template <typename Scalar>
void evaluate(const ScoreTerm<Scalar>& term, int heads, int head, MatrixMap<Scalar> out) {
  const Eigen::Index n = out.rows();
  if (term.lookup == Lookup::table) {
    for (Eigen::Index i = 0; i < n; ++i) {
      for (Eigen::Index j = 0; j < n; ++j) out(i, j) = term.scale * term.key(term.index(i, j), head);
    }
    return;
  }
  const Eigen::Index width = term.query.cols() / heads;
  const auto of_head = [&](const Matrix<Scalar>& all) { return all.middleCols(head * width, width); };
  if (term.lookup == Lookup::product) {
    multiply_rows<Scalar>(of_head(term.query), of_head(term.key), term.scale, out);
    return;
  }
  Matrix<Scalar> products(term.query.rows(), term.key.rows());
  multiply_rows<Scalar>(of_head(term.query), of_head(term.key), term.scale,
                        MatrixMap<Scalar>(products.data(), products.rows(), products.cols()));
  const bool keys = term.lookup == Lookup::gather_keys;
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j < n; ++j) {
      const int row = term.index(i, j);
      out(i, j) = keys ? products(i, row) : products(row, j);
    }
  }
}

// Logits in another order than evaluate() takes: pair by pair, each in one sum over the channels of all
// terms, from the last to the first. Position rows are looked up before they are multiplied.
template <typename Scalar>
void sum_pairs(const Scheme<Scalar>& scheme, int head, MatrixMap<Scalar> out) {
  out.setZero();
  for (std::size_t t = scheme.terms.size(); t-- > 0;) {
    const ScoreTerm<Scalar>& term = scheme.terms[t];
    const bool product = term.lookup == Lookup::product;
    const Eigen::Index width = term.query.cols() / scheme.heads, from = head * width;
    for (Eigen::Index i = 0; i < scheme.n; ++i) {
      for (Eigen::Index j = 0; j < scheme.n; ++j) {
        Scalar& sum = out(i, j);
        if (term.lookup == Lookup::table) {
          sum += term.scale * term.key(term.index(i, j), head);
          continue;
        }
        const int row = product ? 0 : term.index(i, j);
        const Scalar* const query = &term.query(term.lookup == Lookup::gather_queries ? row : i, from);
        const Scalar* const key = &term.key(term.lookup == Lookup::gather_keys ? row : j, from);
        for (Eigen::Index c = width; c-- > 0;) sum += term.scale * query[c] * key[c];
      }
    }
  }
}

template <typename Scalar>
Scheme<Scalar> scheme_of(const Content<Scalar>& content, std::vector<ScoreTerm<Scalar>> terms,
                         std::vector<ScoreTerm<Scalar>> whole = {}) {
  return {content.query.rows(), content.heads, std::move(terms), std::move(whole), false};
}

template <typename Scalar>
ScoreTerm<Scalar> content_term(const Content<Scalar>& content, Scalar scale) {
  return {"content-content", Lookup::product, content.query, content.key, scale, {}};
}

template <typename Scalar>
ScoreTerm<Scalar> bias_term(const char* name, const Matrix<Scalar>& table, Indices index) {
  return {name, Lookup::table, {}, table, 1, std::move(index), Varies::place};
}

template <typename Scalar>
void add_segments(const SegmentBias<Scalar>& segments, Scheme<Scalar>* scheme) {
  if (segments.table.size() == 0) return;
  const int count = static_cast<int>(std::lround(std::sqrt(segments.table.rows())));
  Indices index(scheme->n, scheme->n);
  for (Eigen::Index i = 0; i < scheme->n; ++i) {
    for (Eigen::Index j = 0; j < scheme->n; ++j) {
      index(i, j) = segments.ids[i] * count + segments.ids[j];
    }
  }
  // A segment counts as the token's.
  scheme->terms.push_back(bias_term("segment bias", segments.table, std::move(index)));
  scheme->terms.back().query_varies = Varies::token;
}

// Parts as terms, by name: query part q with key part k at q * parts + k. A term without a name is zero
// by construction and left out. The first part is the token's, the second the place's.
template <typename Scalar>
Scheme<Scalar> scheme_of_parts(const ProjectedParts<Scalar>& parts,
                               std::initializer_list<const char*> names) {
  const Eigen::Index n = parts.tokens;
  const auto varies = [](int part) { return part == 2 ? Varies::place : Varies::token; };
  // In the stacked rows, 0 is the whole and part p is p + 1.
  const auto product = [&](const char* name, int query, int key) {
    return ScoreTerm<Scalar>{name,
                             Lookup::product,
                             parts.queries.middleRows(query * n, n),
                             parts.keys.middleRows(key * n, n),
                             parts.scale,
                             {},
                             varies(query),
                             varies(key)};
  };
  Scheme<Scalar> scheme{n, parts.heads, {}, {product("joined", 0, 0)}, false};
  const char* const* name = names.begin();
  for (int query = 1; query <= parts.parts; ++query) {
    for (int key = 1; key <= parts.parts; ++key, ++name) {
      if (*name) scheme.terms.push_back(product(*name, query, key));
    }
  }
  return scheme;
}

// Four terms; a constant part, if there is one, goes with the content.
template <typename Scalar>
Scheme<Scalar> scheme_of_two(const ProjectedParts<Scalar>& parts) {
  std::vector<int> group_of = {0, 1, 0};
  group_of.resize(parts.parts);
  return scheme_of_parts(merge_parts(parts, group_of, 2),
                         {"content-content", "content-position", "position-content", "position-position"});
}

// The same rows repeated for each head: [n, w] gives [n, heads * w].
template <typename Scalar>
Matrix<Scalar> for_each_head(const Matrix<Scalar>& rows, int heads) {
  return rows.replicate(1, heads);
}

}  // namespace

template <typename Scalar>
Content<Scalar> project_content(const Matrix<Scalar>& content, const Linear<Scalar>& query,
                                const Linear<Scalar>& key, int heads) {
  return {apply(query, content), apply(key, content), heads};
}

template <typename Scalar>
Scalar scheme_head_terms(const Scheme<Scalar>& scheme, int head, Scalar* terms, Scalar* logits) {
  const Eigen::Index n = scheme.n;
  Matrix<Scalar> sum = Matrix<Scalar>::Zero(n, n);
  for (const ScoreTerm<Scalar>& term : scheme.terms) {
    MatrixMap<Scalar> out(terms, n, n);
    evaluate(term, scheme.heads, head, out);
    sum += out;
    terms += n * n;
  }
  MatrixMap<Scalar> total(logits, n, n);
  if (scheme.whole.empty()) {
    sum_pairs(scheme, head, total);
  } else {
    total.setZero();
    Matrix<Scalar> part(n, n);
    for (const ScoreTerm<Scalar>& term : scheme.whole) {
      evaluate(term, scheme.heads, head, MatrixMap<Scalar>(part.data(), n, n));
      total += part;
    }
  }
  return n ? (sum - total).cwiseAbs().maxCoeff() : Scalar(0);
}

template <typename Scalar>
Scheme<Scalar> none(Content<Scalar> content, Scalar scale) {
  return scheme_of<Scalar>(content, {content_term(content, scale)});
}

template <typename Scalar>
Scheme<Scalar> add(const Matrix<Scalar>& content, const Matrix<Scalar>& position, const Linear<Scalar>& query,
                   const Linear<Scalar>& key, int heads, Scalar scale) {
  return scheme_of_two(project_sum<Scalar>({content, position}, {{}, query, key, heads, scale}));
}

template <typename Scalar>
Scheme<Scalar> concat_raw(const Matrix<Scalar>& content, const Matrix<Scalar>& position, int heads,
                          Scalar scale) {
  const Matrix<Scalar> x = for_each_head(content, heads), p = for_each_head(position, heads);
  return concat_block_diagonal<Scalar>({x, x, heads}, {p, p, heads}, scale);
}

template <typename Scalar>
Scheme<Scalar> concat_full(const Matrix<Scalar>& content, const Matrix<Scalar>& position,
                           const Linear<Scalar>& query, const Linear<Scalar>& key,
                           const Matrix<Scalar>& position_query, const Matrix<Scalar>& position_key,
                           int heads, Scalar scale) {
  const auto joined = [](const Linear<Scalar>& left, const Matrix<Scalar>& right) {
    return Linear<Scalar>{join_columns(left.weight, right), left.bias};
  };
  return scheme_of_two(concatenate_full(content, position, joined(query, position_query),
                                        joined(key, position_key), heads, scale));
}

template <typename Scalar>
Scheme<Scalar> concat_block_diagonal(Content<Scalar> content, Content<Scalar> position, Scalar scale) {
  return scheme_of_parts(
      concatenate_heads(content.query, content.key, position.query, position.key, content.heads, scale),
      {"content-content", nullptr, nullptr, "position-position"});
}

template <typename Scalar>
Scheme<Scalar> shaw(Content<Scalar> content, const Matrix<Scalar>& offset_keys, Scalar scale) {
  const int n = static_cast<int>(content.query.rows());
  const int k = static_cast<int>(offset_keys.rows() - 1) / 2;
  return scheme_of<Scalar>(content,
                           {content_term(content, scale),
                            {"content-position", Lookup::gather_keys, content.query,
                             for_each_head(offset_keys, content.heads), scale, clipped_offsets(n, k)}});
}

template <typename Scalar>
Scheme<Scalar> transformer_xl(Content<Scalar> content, const Matrix<Scalar>& offsets,
                              const Linear<Scalar>& offset_key, const Vector<Scalar>& u,
                              const Vector<Scalar>& v, Scalar scale) {
  const int n = static_cast<int>(content.query.rows());
  const Matrix<Scalar> relative = apply(offset_key, offsets);
  // Row t is i - j = t - (n - 1), so the index is that of clipped_offsets transposed.
  const Indices index = clipped_offsets(n, n > 0 ? n - 1 : 0).transpose();
  const Matrix<Scalar> all_u = u.transpose().replicate(n, 1);
  const Matrix<Scalar> all_v = v.transpose().replicate(n, 1);
  return scheme_of<Scalar>(
      content,
      {content_term(content, scale),
       {"content-position", Lookup::gather_keys, content.query, relative, scale, index},
       {"global-content", Lookup::product, all_u, content.key, scale, {}, Varies::place},
       {"global-position", Lookup::gather_keys, all_v, relative, scale, index, Varies::place}},
      {{"content", Lookup::product, content.query + all_u, content.key, scale, {}},
       {"position", Lookup::gather_keys, content.query + all_v, relative, scale, index}});
}

template <typename Scalar>
Scheme<Scalar> t5(Content<Scalar> content, const Matrix<Scalar>& bias, const T5Options& options,
                  Scalar scale) {
  const int n = static_cast<int>(content.query.rows());
  Scheme<Scalar> scheme = scheme_of<Scalar>(
      content, {content_term(content, scale), bias_term("bias", bias, t5_buckets(n, options))});
  scheme.causal = !options.bidirectional;
  return scheme;
}

template <typename Scalar>
Scheme<Scalar> alibi(Content<Scalar> content, Scalar scale, bool causal) {
  const int n = static_cast<int>(content.query.rows());
  const std::vector<double> slopes = alibi_slopes(content.heads);
  const int k = n > 0 ? n - 1 : 0;
  Matrix<Scalar> table(2 * k + 1, content.heads);  // row (j - i) + k
  for (int row = 0; row < table.rows(); ++row) {
    const int offset = row - k;
    for (int h = 0; h < content.heads; ++h) {
      table(row, h) = static_cast<Scalar>(slopes[h] * (causal ? offset : -std::abs(offset)));
    }
  }
  Scheme<Scalar> scheme = scheme_of<Scalar>(
      content, {content_term(content, scale), bias_term("bias", table, clipped_offsets(n, k))});
  scheme.causal = causal;
  return scheme;
}

template <typename Scalar>
Scheme<Scalar> deberta(Content<Scalar> content, const Matrix<Scalar>& distances,
                       const Linear<Scalar>& position_query, const Linear<Scalar>& position_key,
                       DebertaIndex convention, Scalar scale) {
  const int n = static_cast<int>(content.query.rows());
  const Indices delta = deberta_distances(n, static_cast<int>(distances.rows()) / 2);
  const Indices reversed = convention == DebertaIndex::paper ? Indices(delta.transpose()) : delta;
  return scheme_of<Scalar>(content, {content_term(content, scale),
                                     {"content-position", Lookup::gather_keys, content.query,
                                      apply(position_key, distances), scale, delta},
                                     {"position-content", Lookup::gather_queries,
                                      apply(position_query, distances), content.key, scale, reversed}});
}

template <typename Scalar>
Scheme<Scalar> tupe(Content<Scalar> content, const Matrix<Scalar>& position,
                    const Linear<Scalar>& position_query, const Linear<Scalar>& position_key, bool reset_cls,
                    const Matrix<Scalar>& bias, const T5Options& options, Scalar scale) {
  const int n = static_cast<int>(content.query.rows()), heads = content.heads;
  const Matrix<Scalar> query = apply(position_query, position);
  const Matrix<Scalar> key = apply(position_key, position);
  const Eigen::Index width = query.cols() / heads;

  // The scores of rows 0 .. n with each other, a column for each head; token i has row i + 1.
  const int rows = n + 1;
  Matrix<Scalar> scores(rows * rows, heads);
  Matrix<Scalar> of_head(rows, rows);
  for (int h = 0; h < heads; ++h) {
    multiply_rows<Scalar>(query.middleCols(h * width, width), key.middleCols(h * width, width), scale,
                          MatrixMap<Scalar>(of_head.data(), rows, rows));
    scores.col(h) = Eigen::Map<const Vector<Scalar>>(of_head.data(), of_head.size());
  }
  Indices index(n, n);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) index(i, j) = (i + 1) * rows + j + 1;
  }
  if (reset_cls && n) {
    index.col(0).setConstant(rows + 1);  // row 1 with itself: theta_2, from others to [CLS]
    index.row(0).setConstant(0);         // row 0 with itself: theta_1, from [CLS]
  }
  Scheme<Scalar> scheme = scheme_of<Scalar>(
      content, {content_term(content, scale), bias_term("position-position", scores, std::move(index))});
  if (bias.size()) {
    scheme.terms.push_back(
        bias_term("bias", bias, reset_cls ? tupe_buckets(n, options) : t5_buckets(n, options)));
  }
  return scheme;
}

template <typename Scalar>
Scheme<Scalar> diet_abs(Content<Scalar> content, const Matrix<Scalar>& position_query,
                        const Matrix<Scalar>& position_key, const SegmentBias<Scalar>& segments,
                        Scalar scale) {
  Scheme<Scalar> scheme = scheme_of<Scalar>(content, {content_term(content, scale),
                                                      {"position-position",
                                                       Lookup::product,
                                                       position_query,
                                                       position_key,
                                                       1,
                                                       {},
                                                       Varies::place,
                                                       Varies::place}});
  add_segments(segments, &scheme);
  return scheme;
}

template <typename Scalar>
Scheme<Scalar> diet_rel(Content<Scalar> content, const Matrix<Scalar>& bias,
                        const SegmentBias<Scalar>& segments, Scalar scale) {
  const int n = static_cast<int>(content.query.rows());
  const Indices index = clipped_offsets(n, static_cast<int>(bias.rows() - 1) / 2).transpose();
  Scheme<Scalar> scheme =
      scheme_of<Scalar>(content, {content_term(content, scale), bias_term("bias", bias, index)});
  add_segments(segments, &scheme);
  return scheme;
}

template <typename Scalar>
Scheme<Scalar> rope(Content<Scalar> content, Layout layout, double base, Scalar scale) {
  const RotaryOptions options{content.heads, layout, base};
  Scheme<Scalar> scheme =
      none<Scalar>({rotate(content.query, options), rotate(content.key, options), content.heads}, scale);
  scheme.terms[0].turned = options;
  return scheme;
}

template <typename Scalar>
Scheme<Scalar> decoupled_rope(Content<Scalar> content, const Matrix<Scalar>& rotary_query,
                              const Matrix<Scalar>& rotary_key, Layout layout, double base, Scalar scale) {
  const int heads = content.heads;
  const RotaryOptions options{heads, layout, base};
  const Matrix<Scalar> query = rotate(rotary_query, options);
  const Matrix<Scalar> key = rotate(
      rotary_key.cols() == rotary_query.cols() ? rotary_key : for_each_head(rotary_key, heads), options);
  Scheme<Scalar> scheme =
      scheme_of_parts(concatenate_heads(content.query, content.key, query, key, heads, scale),
                      {"content-content", nullptr, nullptr, "rotary-rotary"});
  // The same without the channels of the content, which are 0 there.
  scheme.terms[1] = {"rotary-rotary", Lookup::product, query,  key, scale, {},
                     Varies::token,   Varies::token,   options};
  return scheme;
}

#define SUPERPOSE_INSTANTIATE(Scalar)                                                                      \
  template Content<Scalar> project_content(const Matrix<Scalar>&, const Linear<Scalar>&,                   \
                                           const Linear<Scalar>&, int);                                    \
  template Scalar scheme_head_terms(const Scheme<Scalar>&, int, Scalar*, Scalar*);                         \
  template Scheme<Scalar> none(Content<Scalar>, Scalar);                                                   \
  template Scheme<Scalar> add(const Matrix<Scalar>&, const Matrix<Scalar>&, const Linear<Scalar>&,         \
                              const Linear<Scalar>&, int, Scalar);                                         \
  template Scheme<Scalar> concat_raw(const Matrix<Scalar>&, const Matrix<Scalar>&, int, Scalar);           \
  template Scheme<Scalar> concat_full(const Matrix<Scalar>&, const Matrix<Scalar>&, const Linear<Scalar>&, \
                                      const Linear<Scalar>&, const Matrix<Scalar>&, const Matrix<Scalar>&, \
                                      int, Scalar);                                                        \
  template Scheme<Scalar> concat_block_diagonal(Content<Scalar>, Content<Scalar>, Scalar);                 \
  template Scheme<Scalar> shaw(Content<Scalar>, const Matrix<Scalar>&, Scalar);                            \
  template Scheme<Scalar> transformer_xl(Content<Scalar>, const Matrix<Scalar>&, const Linear<Scalar>&,    \
                                         const Vector<Scalar>&, const Vector<Scalar>&, Scalar);            \
  template Scheme<Scalar> t5(Content<Scalar>, const Matrix<Scalar>&, const T5Options&, Scalar);            \
  template Scheme<Scalar> alibi(Content<Scalar>, Scalar, bool);                                            \
  template Scheme<Scalar> deberta(Content<Scalar>, const Matrix<Scalar>&, const Linear<Scalar>&,           \
                                  const Linear<Scalar>&, DebertaIndex, Scalar);                            \
  template Scheme<Scalar> tupe(Content<Scalar>, const Matrix<Scalar>&, const Linear<Scalar>&,              \
                               const Linear<Scalar>&, bool, const Matrix<Scalar>&, const T5Options&,       \
                               Scalar);                                                                    \
  template Scheme<Scalar> diet_abs(Content<Scalar>, const Matrix<Scalar>&, const Matrix<Scalar>&,          \
                                   const SegmentBias<Scalar>&, Scalar);                                    \
  template Scheme<Scalar> diet_rel(Content<Scalar>, const Matrix<Scalar>&, const SegmentBias<Scalar>&,     \
                                   Scalar);                                                                \
  template Scheme<Scalar> rope(Content<Scalar>, Layout, double, Scalar);                                   \
  template Scheme<Scalar> decoupled_rope(Content<Scalar>, const Matrix<Scalar>&, const Matrix<Scalar>&,    \
                                         Layout, double, Scalar);
SUPERPOSE_INSTANTIATE(double)
#undef SUPERPOSE_INSTANTIATE

}  // namespace superpose
