#include "scores/scheme_registry.h"

#include <algorithm>

namespace superpose {
namespace {

using Shape = SchemeShape;
using Input = SchemeInput;
using Kind = SchemePart::Kind;
using Counted = SchemePart::Counted;

constexpr Extent kOne{1};
constexpr Extent kModel{1, Size::d_model}, kHeads{1, Size::heads}, kHead{1, Size::d_head};
constexpr Extent kTokens{1, Size::positions}, kTable{1, Size::d_position},
    kPositionHead{1, Size::d_position_head};
constexpr Extent kAllHeads{1, Size::heads, Size::d_head},
    kAllPositionHeads{1, Size::heads, Size::d_position_head};
constexpr Extent kAllTable{1, Size::heads, Size::d_position};
constexpr Extent kClipped{2, Size::clip, Size::one, 1};  // the offsets from -k to k

constexpr SchemePart position_table(Extent columns) {
  return {"position", Kind::table, kTokens, columns, Counted::once};
}
// A scheme's first part, followed by U_Q and U_K, which have the given shape.
constexpr UpToFour<SchemePart> with_position_queries(SchemePart first, Kind kind, Extent rows, Extent columns,
                                                     Counted counted) {
  return {
      first, {"positionQuery", kind, rows, columns, counted}, {"positionKey", kind, rows, columns, counted}};
}
constexpr UpToFour<SchemePart> tupe_parts() {
  return with_position_queries(
      {"position", Kind::table, {1, Size::positions, Size::one, 1}, kModel, Counted::once}, Kind::linear,
      kAllHeads, kModel, Counted::once);
}
constexpr SchemePart bias(Extent rows, Counted counted) {
  return {"bias", Kind::table, rows, kHeads, counted};
}

// Queries and keys of each part and of the joint weight, and the joined tables.
double joined(const Shape& s, double queries, double d_position) {
  return s[Size::positions] * (12 * queries + s[Size::d_model] + d_position);
}
double tupe_work(const Shape& s) {
  const double rows = s[Size::positions] + 1;
  return rows * rows * (s[Size::heads] + 1);
}

Content content(const Input& in) { return project_content(in.content, in.query, in.key, in.heads); }
Matrix<double> position(const Input& in) { return in.position_scale * in.position; }
Scheme tupe_with(const Input& in, const Matrix<double>& bias) {
  return tupe(content(in), in.position, in.position_query, in.position_key, bias, in.buckets, in.scale);
}

}  // namespace

double Extent::operator()(const SchemeShape& shape) const {
  return std::max(0.0, times * shape[by] * shape[and_by] + plus);
}

double scheme_parameters(const SchemeInfo& info, const SchemeShape& shape) {
  double count = 0;
  for (const SchemePart& part : info.parts) {
    const double layers = part.counted == Counted::once         ? 1
                          : part.counted == Counted::each_layer ? shape[Size::layers]
                                                                : 0;
    count += layers * part.rows(shape) * part.columns(shape);
  }
  return count;
}

std::span<const SchemeInfo> scheme_registry() {
  static constexpr SchemeInfo registry[] = {
      {.id = "none",
       .name = "No position",
       .formula = R"(q_i^\top k_j/\sqrt{d_h})",
       .parameters = "0",
       .source = "Haviv et al. 2022, arXiv 2203.16634",
       .parts = {},
       .terms = {"content-content"},
       .divisor = {kHead},
       .build = [](const Input& in) { return none(content(in), in.scale); }},
      {.id = "add",
       .name = "Added",
       .formula = R"((W_Q(x_i+p_i))^\top W_K(x_j+p_j)/\sqrt{d_h})",
       .parameters = "Ld",
       .source = "Vaswani et al. 2017, section 3.5; Devlin et al. 2018",
       .parts = {position_table(kModel)},
       .terms = {"content-content", "content-position", "position-content", "position-position"},
       .divisor = {kHead},
       .build =
           [](const Input& in) {
             return add(in.content, position(in), in.query, in.key, in.heads, in.scale);
           },
       .options = {"positionScale"},
       .work = [](const Shape& s) { return joined(s, kAllHeads(s), s[Size::d_model]); }},
      {.id = "concat-raw",
       .name = "Concatenated, no weights",
       .formula = R"(x_i^\top x_j+\rho^2p_i^\top p_j)",
       .parameters = "Ld_p",
       .source = "the definition",
       .parts = {position_table(kTable)},
       .terms = {"content-content", "position-position"},
       .divisor = {kOne},
       .build = [](const Input& in) { return concat_raw(in.content, position(in), in.heads, in.scale); },
       .options = {"positionScale", "d_position"},
       .work =
           [](const Shape& s) {
             const double width = s[Size::d_position];
             return joined(s, s[Size::heads] * (s[Size::d_model] + width), width);
           }},
      {.id = "concat-full",
       .name = "Concatenated, full weights",
       .formula = R"((W_Q[x_i;p_i])^\top W_K[x_j;p_j]/\sqrt{d_h})",
       .parameters = R"(Ld_p+2Nd_pHd_h)",
       .source = "the definition",
       .parts = with_position_queries(position_table(kTable), Kind::weight, kAllHeads, kTable,
                                      Counted::each_layer),
       .terms = {"content-content", "content-position", "position-content", "position-position"},
       .divisor = {kHead},
       .build =
           [](const Input& in) {
             return concat_full(in.content, position(in), in.query, in.key, in.position_query.weight,
                                in.position_key.weight, in.heads, in.scale);
           },
       .options = {"positionScale", "d_position"},
       .work = [](const Shape& s) { return joined(s, kAllHeads(s), s[Size::d_position]); }},
      {.id = "concat-block-diagonal",
       .name = "Concatenated, block-diagonal",
       .formula = R"(((W_Qx_i)^\top W_Kx_j+(U_Qp_i)^\top U_Kp_j)/\sqrt{d_h+d_{hp}})",
       .parameters = R"(Ld_p+2Nd_pHd_{hp})",
       .source = "Kitaev and Klein 2018; Ke et al. 2020, equation 7",
       .parts = with_position_queries(position_table(kTable), Kind::linear, kAllPositionHeads, kTable,
                                      Counted::each_layer),
       .terms = {"content-content", "position-position"},
       .divisor = {kHead, kPositionHead},
       .build =
           [](const Input& in) {
             return concat_block_diagonal(
                 content(in), project_content(position(in), in.position_query, in.position_key, in.heads),
                 in.scale);
           },
       .options = {"positionScale", "d_position", "d_position_head"},
       .work =
           [](const Shape& s) {
             return joined(s, kAllHeads(s) + kAllPositionHeads(s), s[Size::d_position]);
           }},
      {.id = "shaw",
       .name = "Shaw's relative keys",
       .formula = R"(q_i^\top(k_j+a_{\mathrm{clip}(j-i,-k,k)})/\sqrt{d_h})",
       .parameters = "N(2k+1)d_h",
       .source = "Shaw et al. 2018, arXiv 1803.02155, equation 4",
       .parts = {{"offsetKeys", Kind::table, kClipped, kHead, Counted::each_layer}},
       .terms = {"content-content", "content-position"},
       .divisor = {kHead},
       .build = [](const Input& in) { return shaw(content(in), in.offset_keys, in.scale); },
       .options = {"clip"},
       .work = [](const Shape& s) { return kClipped(s) * (s[Size::positions] + kAllHeads(s)); },
       .clip = 16},
      {.id = "transformer-xl",
       .name = "Transformer-XL",
       .formula = R"(((q_i+u)^\top k_j+(q_i+v)^\top W_{k,R}R_{i-j})/\sqrt{d_h})",
       .parameters = R"(NdHd_h+2Hd_h)",
       .source = "Dai et al. 2019, arXiv 1901.02860, section 3.3",
       .parts = {{"offsets",
                  Kind::offsets,
                  {2, Size::positions, Size::one, -1},
                  {1, Size::d_offset},
                  Counted::never},
                 {"offsetKey", Kind::linear, kAllHeads, {1, Size::d_offset}, Counted::each_layer},
                 {"u", Kind::vector, kOne, kAllHeads, Counted::once},
                 {"v", Kind::vector, kOne, kAllHeads, Counted::once}},
       .terms = {"content-content", "content-position", "global-content", "global-position"},
       .divisor = {kHead},
       .build =
           [](const Input& in) {
             return transformer_xl(content(in), in.offsets, in.offset_key, in.u, in.v, in.scale);
           },
       .options = {"d_offset"},
       .work =
           [](const Shape& s) {
             const double n = s[Size::positions], rows = Extent{2, Size::positions, Size::one, -1}(s);
             return rows * (kAllHeads(s) + n) + 6 * n * kAllHeads(s);
           },
       .causal = true},
      {.id = "t5",
       .name = "T5 buckets",
       .formula = R"(q_i^\top k_j+b_{\mathrm{bucket}(j-i)})",
       .parameters = "BH",
       .source = "Raffel et al. 2019, arXiv 1910.10683, section 2.1",
       .parts = {bias({1, Size::buckets}, Counted::once)},
       .terms = {"content-content", "bias"},
       .divisor = {kOne},
       .build = [](const Input& in) { return t5(content(in), in.bias, in.buckets, in.scale); },
       .options = {"buckets", "bidirectional"}},
      {.id = "alibi",
       .name = "ALiBi",
       .formula = R"(q_i^\top k_j/\sqrt{d_h}-m_h(i-j))",
       .parameters = "0",
       .source = "Press et al. 2021, arXiv 2108.12409, section 3",
       .parts = {},
       .terms = {"content-content", "bias"},
       .divisor = {kHead},
       .build = [](const Input& in) { return alibi(content(in), in.scale, in.causal); },
       .causal = true,
       .bidirectional_formula = R"(q_i^\top k_j/\sqrt{d_h}-m_h|i-j|)"},
      {.id = "deberta",
       .name = "DeBERTa",
       .formula = R"((q_i^\top k_j+q_i^\top k^r_{\delta(i,j)}+k_j^\top q^r_{\delta(j,i)})/\sqrt{3d_h})",
       .parameters = R"(2kd+2NdHd_h)",
       .source = "He et al. 2020, arXiv 2006.03654, equation 4",
       .parts = with_position_queries({"distances", Kind::table, {2, Size::clip}, kModel, Counted::once},
                                      Kind::linear, kAllHeads, kModel, Counted::each_layer),
       .terms = {"content-content", "content-position", "position-content"},
       .divisor = {{3, Size::d_head}},
       .build =
           [](const Input& in) {
             return deberta(content(in), in.distances, in.position_query, in.position_key, in.scale);
           },
       .options = {"clip"},
       .work = [](const Shape& s) { return 4 * s[Size::clip] * (kAllHeads(s) + s[Size::positions]); },
       .clip = 512},
      {.id = "tupe-a",
       .name = "TUPE-A",
       .formula = R"((q_i^\top k_j+(U^Qp_i)^\top U^Kp_j)/\sqrt{2d_h},\;\theta_1,\theta_2\text{ for [CLS]})",
       .parameters = R"((L+1)d+2dHd_h)",
       .source = "Ke et al. 2020, arXiv 2006.15595, equations 7 and 9",
       .parts = tupe_parts(),
       .terms = {"content-content", "position-position"},
       .divisor = {{2, Size::d_head}},
       .build = [](const Input& in) { return tupe_with(in, {}); },
       .work = tupe_work},
      {.id = "tupe-r",
       .name = "TUPE-R",
       .formula =
           R"((q_i^\top k_j+(U^Qp_i)^\top U^Kp_j)/\sqrt{2d_h}+b_{j-i},\;\theta_1,\theta_2\text{ for [CLS]})",
       .parameters = R"((L+1)d+2dHd_h+(B+1)H)",
       .source = "Ke et al. 2020, arXiv 2006.15595, equations 8 and 9",
       .parts = {tupe_parts()[0], tupe_parts()[1], tupe_parts()[2],
                 bias({1, Size::buckets, Size::one, 1}, Counted::once)},
       .terms = {"content-content", "position-position", "bias"},
       .divisor = {{2, Size::d_head}},
       .build = [](const Input& in) { return tupe_with(in, in.bias); },
       .options = {"buckets"},
       .work = tupe_work},
      {.id = "diet-abs",
       .name = "DIET-ABS",
       .formula = R"(q_i^\top k_j/\sqrt{d_h}+p^Q_i{}^\top p^K_j)",
       .parameters = "2NLHd_p",
       .source = "Chen et al. 2021, arXiv 2104.08698",
       .parts = {{"positionQuery", Kind::table, kTokens, kAllTable, Counted::each_layer},
                 {"positionKey", Kind::table, kTokens, kAllTable, Counted::each_layer}},
       .terms = {"content-content", "position-position"},
       .divisor = {kHead},
       .build =
           [](const Input& in) {
             return diet_abs(content(in), in.position_query.weight, in.position_key.weight, in.scale);
           },
       .options = {"d_position"}},
      {.id = "diet-rel",
       .name = "DIET-REL",
       .formula = R"(q_i^\top k_j/\sqrt{d_h}+R_{\mathrm{clip}(i-j,-k,k)})",
       .parameters = "N(2k+1)H",
       .source = "Chen et al. 2021, arXiv 2104.08698",
       .parts = {bias(kClipped, Counted::each_layer)},
       .terms = {"content-content", "bias"},
       .divisor = {kHead},
       .build = [](const Input& in) { return diet_rel(content(in), in.bias, in.scale); },
       .options = {"clip"},
       .clip = 128},
      {.id = "rope",
       .name = "RoPE",
       .formula = R"((R_iq_i)^\top R_jk_j/\sqrt{d_h})",
       .parameters = "0",
       .source = "Su et al. 2021, arXiv 2104.09864",
       .parts = {},
       .terms = {"content-content"},
       .divisor = {kHead},
       .build = [](const Input& in) { return rope(content(in), in.layout, in.base, in.scale); },
       .options = {"evenHead", "rotation"}},
      {.id = "decoupled-rope",
       .name = "Decoupled RoPE",
       .formula = R"([q_i;R_iq^r_i]^\top[k_j;R_jk^r_j]/\sqrt{d_h+d_r})",
       .parameters = "Nd(H+1)d_r",
       .source = "DeepSeek-V2, arXiv 2405.04434, section 2.1.3",
       .parts = {{"rotaryQuery", Kind::linear, kAllTable, kModel, Counted::each_layer},
                 {"rotaryKey", Kind::shared, kTable, kModel, Counted::each_layer}},
       .terms = {"content-content", "rotary-rotary"},
       .divisor = {kHead, kTable},
       .build =
           [](const Input& in) {
             return decoupled_rope(content(in), apply(in.rotary_query, in.content),
                                   apply(in.rotary_key, in.content), in.layout, in.base, in.scale);
           },
       .options = {"rotation", "d_rotary"},
       .work = [](const Shape& s) { return 4 * s[Size::positions] * (kAllHeads(s) + kAllTable(s)); },
       .causal = true},
  };
  return registry;
}

const SchemeInfo* find_scheme(std::string_view id) {
  for (const SchemeInfo& info : scheme_registry()) {
    if (info.id == id) return &info;
  }
  return nullptr;
}

}  // namespace superpose
