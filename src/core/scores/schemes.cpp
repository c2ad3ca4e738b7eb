#include "scores/schemes.h"

#include <cmath>
#include <utility>

#include "numeric/product.h"

namespace superpose {
namespace {

void evaluate(const ScoreTerm& term, int heads, int head, MatrixMap<double> out) {
  const Eigen::Index n = out.rows();
  if (term.lookup == Lookup::table) {
    for (Eigen::Index i = 0; i < n; ++i) {
      for (Eigen::Index j = 0; j < n; ++j) out(i, j) = term.scale * term.key(term.index(i, j), head);
    }
    return;
  }
  const Eigen::Index width = term.query.cols() / heads;
  const auto of_head = [&](const Matrix<double>& all) { return all.middleCols(head * width, width); };
  if (term.lookup == Lookup::product) {
    multiply_rows<double>(of_head(term.query), of_head(term.key), term.scale, out);
    return;
  }
  Matrix<double> products(term.query.rows(), term.key.rows());
  multiply_rows<double>(of_head(term.query), of_head(term.key), term.scale,
                        MatrixMap<double>(products.data(), products.rows(), products.cols()));
  const bool keys = term.lookup == Lookup::gather_keys;
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j < n; ++j) {
      const int row = term.index(i, j);
      out(i, j) = keys ? products(i, row) : products(row, j);
    }
  }
}

// Logits in another order than evaluate(): pair by pair, each as a single sum over the channels of all
// terms, from the last to the first. Position rows are looked up before they are multiplied.
void sum_pairs(const Scheme& scheme, int head, MatrixMap<double> out) {
  out.setZero();
  for (std::size_t t = scheme.terms.size(); t-- > 0;) {
    const ScoreTerm& term = scheme.terms[t];
    const bool product = term.lookup == Lookup::product;
    const Eigen::Index width = term.query.cols() / scheme.heads, from = head * width;
    for (Eigen::Index i = 0; i < scheme.n; ++i) {
      for (Eigen::Index j = 0; j < scheme.n; ++j) {
        double& sum = out(i, j);
        if (term.lookup == Lookup::table) {
          sum += term.scale * term.key(term.index(i, j), head);
          continue;
        }
        const int row = product ? 0 : term.index(i, j);
        const double* const query = &term.query(term.lookup == Lookup::gather_queries ? row : i, from);
        const double* const key = &term.key(term.lookup == Lookup::gather_keys ? row : j, from);
        for (Eigen::Index c = width; c-- > 0;) sum += term.scale * query[c] * key[c];
      }
    }
  }
}

Scheme scheme_of(const Content& content, std::vector<ScoreTerm> terms, std::vector<ScoreTerm> joined = {}) {
  return {content.query.rows(), content.heads, std::move(terms), std::move(joined), false};
}

ScoreTerm content_term(const Content& content, double scale) {
  return {"content-content", Lookup::product, content.query, content.key, scale, {}};
}

ScoreTerm bias_term(const char* name, const Matrix<double>& table, Indices index) {
  return {name, Lookup::table, {}, table, 1, std::move(index)};
}

// The queries or keys of tokens at places: joined, and the two summands. The token's summand has the bias.
struct Sides {
  Matrix<double> joined, token, place;
};

// The four terms of queries and keys that are sums of two.
Scheme scheme_of_sides(const Sides& query, const Sides& key, int heads, double scale) {
  const auto product = [&](const char* name, const Matrix<double>& q, const Matrix<double>& k,
                           Varies of_query, Varies of_key) {
    return ScoreTerm{name, Lookup::product, q, k, scale, {}, of_query, of_key};
  };
  constexpr Varies token = Varies::token, place = Varies::place;
  return scheme_of({query.token, key.token, heads},
                   {product("content-content", query.token, key.token, token, token),
                    product("content-position", query.token, key.place, token, place),
                    product("position-content", query.place, key.token, place, token),
                    product("position-position", query.place, key.place, place, place)},
                   {product("joined", query.joined, key.joined, token, token)});
}

// For each head, the token's columns and then the position's: [n, heads * (a + b)].
Matrix<double> join_heads(const Matrix<double>& token, const Matrix<double>& position, int heads) {
  const Eigen::Index a = token.cols() / heads, b = position.cols() / heads;
  Matrix<double> joined(token.rows(), token.cols() + position.cols());
  for (int h = 0; h < heads; ++h) {
    joined.middleCols(h * (a + b), a) = token.middleCols(h * a, a);
    joined.middleCols(h * (a + b) + a, b) = position.middleCols(h * b, b);
  }
  return joined;
}

// Two terms, each with separate channels in every head.
Scheme scheme_of_channels(const Content& content, ScoreTerm second, double scale) {
  const auto joined = [&](const Matrix<double>& first, const Matrix<double>& more) {
    return join_heads(first, more, content.heads);
  };
  const ScoreTerm term{
      "joined", Lookup::product, joined(content.query, second.query), joined(content.key, second.key), scale,
      {}};
  return scheme_of(content, {content_term(content, scale), std::move(second)}, {term});
}

// The same rows repeated for each head: [n, w] gives [n, heads * w].
Matrix<double> for_each_head(const Matrix<double>& rows, int heads) { return rows.replicate(1, heads); }

}  // namespace

Content project_content(const Matrix<double>& content, const Linear<double>& query, const Linear<double>& key,
                        int heads) {
  return {apply(query, content), apply(key, content), heads};
}

double scheme_head_terms(const Scheme& scheme, int head, double* terms, double* logits) {
  const Eigen::Index n = scheme.n;
  Matrix<double> sum = Matrix<double>::Zero(n, n);
  for (const ScoreTerm& term : scheme.terms) {
    MatrixMap<double> out(terms, n, n);
    evaluate(term, scheme.heads, head, out);
    sum += out;
    terms += n * n;
  }
  MatrixMap<double> total(logits, n, n);
  if (scheme.joined.empty()) {
    sum_pairs(scheme, head, total);
  } else {
    total.setZero();
    Matrix<double> part(n, n);
    for (const ScoreTerm& term : scheme.joined) {
      evaluate(term, scheme.heads, head, MatrixMap<double>(part.data(), n, n));
      total += part;
    }
  }
  return n ? (sum - total).cwiseAbs().maxCoeff() : 0.0;
}

Scheme none(const Content& content, double scale) {
  return scheme_of(content, {content_term(content, scale)});
}

Scheme add(const Matrix<double>& content, const Matrix<double>& position, const Linear<double>& query,
           const Linear<double>& key, int heads, double scale) {
  const Matrix<double> sum = content + position;
  const auto sides = [&](const Linear<double>& linear) {
    return Sides{apply(linear, sum), apply(linear, content), apply({linear.weight, {}}, position)};
  };
  return scheme_of_sides(sides(query), sides(key), heads, scale);
}

Scheme concat_raw(const Matrix<double>& content, const Matrix<double>& position, int heads, double scale) {
  const Matrix<double> x = for_each_head(content, heads), p = for_each_head(position, heads);
  return concat_block_diagonal({x, x, heads}, {p, p, heads}, scale);
}

Scheme concat_full(const Matrix<double>& content, const Matrix<double>& position, const Linear<double>& query,
                   const Linear<double>& key, const Matrix<double>& position_query,
                   const Matrix<double>& position_key, int heads, double scale) {
  const Matrix<double> rows = join_columns(content, position);
  const auto sides = [&](const Linear<double>& linear, const Matrix<double>& of_position) {
    return Sides{apply({join_columns(linear.weight, of_position), linear.bias}, rows), apply(linear, content),
                 apply({of_position, {}}, position)};
  };
  return scheme_of_sides(sides(query, position_query), sides(key, position_key), heads, scale);
}

Scheme concat_block_diagonal(const Content& content, const Content& position, double scale) {
  return scheme_of_channels(content,
                            {"position-position",
                             Lookup::product,
                             position.query,
                             position.key,
                             scale,
                             {},
                             Varies::place,
                             Varies::place},
                            scale);
}

Scheme shaw(const Content& content, const Matrix<double>& offset_keys, double scale) {
  const int n = static_cast<int>(content.query.rows());
  const int k = static_cast<int>(offset_keys.rows() - 1) / 2;
  return scheme_of(content, {content_term(content, scale),
                             {"content-position", Lookup::gather_keys, content.query,
                              for_each_head(offset_keys, content.heads), scale, clipped_offsets(n, k)}});
}

Scheme transformer_xl(const Content& content, const Matrix<double>& offsets, const Linear<double>& offset_key,
                      const Vector<double>& u, const Vector<double>& v, double scale) {
  const int n = static_cast<int>(content.query.rows());
  const Matrix<double> relative = apply(offset_key, offsets);
  // Row t is i - j = t - (n - 1), so the index is that of clipped_offsets transposed.
  const Indices index = clipped_offsets(n, n > 0 ? n - 1 : 0).transpose();
  const Matrix<double> all_u = u.transpose().replicate(n, 1);
  const Matrix<double> all_v = v.transpose().replicate(n, 1);
  return scheme_of(content,
                   {content_term(content, scale),
                    {"content-position", Lookup::gather_keys, content.query, relative, scale, index},
                    {"global-content", Lookup::product, all_u, content.key, scale, {}, Varies::place},
                    {"global-position", Lookup::gather_keys, all_v, relative, scale, index, Varies::place}},
                   {{"content", Lookup::product, content.query + all_u, content.key, scale, {}},
                    {"position", Lookup::gather_keys, content.query + all_v, relative, scale, index}});
}

Scheme t5(const Content& content, const Matrix<double>& bias, const T5Options& options, double scale) {
  const int n = static_cast<int>(content.query.rows());
  Scheme scheme =
      scheme_of(content, {content_term(content, scale), bias_term("bias", bias, t5_buckets(n, options))});
  scheme.causal = !options.bidirectional;
  return scheme;
}

Scheme alibi(const Content& content, double scale, bool causal) {
  const int n = static_cast<int>(content.query.rows());
  const std::vector<double> slopes = alibi_slopes(content.heads);
  const int k = n > 0 ? n - 1 : 0;
  Matrix<double> table(2 * k + 1, content.heads);  // row (j - i) + k
  for (int row = 0; row < table.rows(); ++row) {
    const int offset = row - k;
    for (int h = 0; h < content.heads; ++h) {
      table(row, h) = static_cast<double>(slopes[h] * (causal ? offset : -std::abs(offset)));
    }
  }
  Scheme scheme =
      scheme_of(content, {content_term(content, scale), bias_term("bias", table, clipped_offsets(n, k))});
  scheme.causal = causal;
  return scheme;
}

Scheme deberta(const Content& content, const Matrix<double>& distances, const Linear<double>& position_query,
               const Linear<double>& position_key, double scale) {
  const int n = static_cast<int>(content.query.rows());
  const Indices delta = deberta_distances(n, static_cast<int>(distances.rows()) / 2);
  return scheme_of(content, {content_term(content, scale),
                             {"content-position", Lookup::gather_keys, content.query,
                              apply(position_key, distances), scale, delta},
                             {"position-content", Lookup::gather_queries, apply(position_query, distances),
                              content.key, scale, delta.transpose()}});
}

Scheme tupe(const Content& content, const Matrix<double>& position, const Linear<double>& position_query,
            const Linear<double>& position_key, const Matrix<double>& bias, const T5Options& options,
            double scale) {
  const int n = static_cast<int>(content.query.rows()), heads = content.heads;
  const Matrix<double> query = apply(position_query, position);
  const Matrix<double> key = apply(position_key, position);
  const Eigen::Index width = query.cols() / heads;

  // The scores of rows 0 .. n with each other, a column for each head; token i has row i + 1.
  const int rows = n + 1;
  Matrix<double> scores(rows * rows, heads);
  Matrix<double> of_head(rows, rows);
  for (int h = 0; h < heads; ++h) {
    multiply_rows<double>(query.middleCols(h * width, width), key.middleCols(h * width, width), scale,
                          MatrixMap<double>(of_head.data(), rows, rows));
    scores.col(h) = Eigen::Map<const Vector<double>>(of_head.data(), of_head.size());
  }
  Indices index(n, n);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) index(i, j) = (i + 1) * rows + j + 1;
  }
  if (n) {
    index.col(0).setConstant(rows + 1);  // row 1 with itself: theta_2, from others to [CLS]
    index.row(0).setConstant(0);         // row 0 with itself: theta_1, from [CLS]
  }
  Scheme scheme = scheme_of(
      content, {content_term(content, scale), bias_term("position-position", scores, std::move(index))});
  if (bias.size()) scheme.terms.push_back(bias_term("bias", bias, tupe_buckets(n, options)));
  return scheme;
}

Scheme diet_abs(const Content& content, const Matrix<double>& position_query,
                const Matrix<double>& position_key, double scale) {
  return scheme_of(content, {content_term(content, scale),
                             {"position-position",
                              Lookup::product,
                              position_query,
                              position_key,
                              1,
                              {},
                              Varies::place,
                              Varies::place}});
}

Scheme diet_rel(const Content& content, const Matrix<double>& bias, double scale) {
  const int n = static_cast<int>(content.query.rows());
  const Indices index = clipped_offsets(n, static_cast<int>(bias.rows() - 1) / 2).transpose();
  return scheme_of(content, {content_term(content, scale), bias_term("bias", bias, index)});
}

Scheme rope(const Content& content, Layout layout, double base, double scale) {
  const RotaryOptions options{content.heads, layout, base};
  Scheme scheme = none({rotate(content.query, options), rotate(content.key, options), content.heads}, scale);
  scheme.terms[0].rotation = options;
  return scheme;
}

Scheme decoupled_rope(const Content& content, const Matrix<double>& rotary_query,
                      const Matrix<double>& rotary_key, Layout layout, double base, double scale) {
  const int heads = content.heads;
  const RotaryOptions options{heads, layout, base};
  const Matrix<double> query = rotate(rotary_query, options);
  const Matrix<double> key = rotate(
      rotary_key.cols() == rotary_query.cols() ? rotary_key : for_each_head(rotary_key, heads), options);
  return scheme_of_channels(
      content,
      {"rotary-rotary", Lookup::product, query, key, scale, {}, Varies::token, Varies::token, options},
      scale);
}

}  // namespace superpose
