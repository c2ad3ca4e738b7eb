#include "scores/scheme_registry.h"

namespace superpose {
namespace {

using Shape = SchemeShape;
using Input = SchemeInput;

double nothing(const Shape&) { return 0; }
double table(const Shape& s) { return s.positions * s.d_position; }
double offsets(const Shape& s) { return 2 * s.clip + 1; }
// As many parameters as W_Q and W_K of one layer have.
double projections(const Shape& s) { return 2 * s.d_model * s.heads * s.d_head; }
double tupe_count(const Shape& s) { return (s.positions + 1) * s.d_model + projections(s); }

Content<double> content(const Input& in) { return project_content(in.content, in.query, in.key, in.heads); }
Matrix<double> position(const Input& in) { return in.position_scale * in.position; }
Scheme<double> tupe_with(const Input& in, const Matrix<double>& bias) {
  return tupe(content(in), in.position, in.position_query, in.position_key, in.reset_cls, bias, in.buckets,
              in.scale);
}

}  // namespace

SchemeInput with_mean_token(SchemeInput input) {
  if (input.content.rows() == 0) return input;
  const Matrix<double> mean = input.content.colwise().mean();
  input.content.rowwise() = mean.row(0);
  return input;
}

const std::vector<SchemeInfo>& scheme_registry() {
  static const std::vector<SchemeInfo> registry = {
      {"none", "No position", R"(q_i^\top k_j/\sqrt{d_h})", "0", "Haviv et al. 2022, arXiv 2203.16634",
       nothing, [](const Input& in) { return no_position(content(in), in.scale); }},
      {"added", "Added", R"((W_Q(x_i+p_i))^\top W_K(x_j+p_j)/\sqrt{d_h})", "Ld",
       "Vaswani et al. 2017, section 3.5; Devlin et al. 2018",
       [](const Shape& s) { return s.positions * s.d_model; },
       [](const Input& in) { return added(in.content, position(in), in.query, in.key, in.heads, in.scale); },
       true},
      {"concatenated-raw", "Concatenated, no weights", R"(x_i^\top x_j+\rho^2p_i^\top p_j)", "Ld_p",
       "the definition", table,
       [](const Input& in) { return concatenated_raw(in.content, position(in), in.heads, in.scale); }, true},
      {"concatenated-full", "Concatenated, full weights", R"((W_Q[x_i;p_i])^\top W_K[x_j;p_j]/\sqrt{d_h})",
       R"(Ld_p+2Nd_pHd_h)", "the definition",
       [](const Shape& s) { return table(s) + 2 * s.layers * s.d_position * s.heads * s.d_head; },
       [](const Input& in) {
         return concatenated_full(in.content, position(in), in.query, in.key, in.position_query.weight,
                                  in.position_key.weight, in.heads, in.scale);
       },
       true},
      {"concatenated-block-diagonal", "Concatenated, block-diagonal",
       R"(((W_Qx_i)^\top W_Kx_j+(U_Qp_i)^\top U_Kp_j)/\sqrt{d_h+d_{hp}})", R"(Ld_p+2Nd_pHd_{hp})",
       "Kitaev and Klein 2018; Ke et al. 2020, equation 7",
       [](const Shape& s) { return table(s) + 2 * s.layers * s.d_position * s.heads * s.d_position_head; },
       [](const Input& in) {
         return concatenated_block_diagonal(
             content(in), project_content(position(in), in.position_query, in.position_key, in.heads),
             in.scale);
       },
       true},
      {"shaw", "Shaw's relative keys", R"(q_i^\top(k_j+a_{\mathrm{clip}(j-i,-k,k)})/\sqrt{d_h})",
       "N(2k+1)d_h", "Shaw et al. 2018, arXiv 1803.02155, equation 4",
       [](const Shape& s) { return s.layers * offsets(s) * s.d_head; },
       [](const Input& in) { return shaw(content(in), in.offset_keys, in.scale); }, false, nullptr, 16},
      {"transformer-xl", "Transformer-XL", R"(((q_i+u)^\top k_j+(q_i+v)^\top W_{k,R}R_{i-j})/\sqrt{d_h})",
       R"(NdHd_h+2Hd_h)", "Dai et al. 2019, arXiv 1901.02860, section 3.3",
       [](const Shape& s) { return s.layers * projections(s) / 2 + 2 * s.heads * s.d_head; },
       [](const Input& in) {
         return transformer_xl(content(in), in.offsets, in.offset_key, in.u, in.v, in.scale);
       },
       true},
      {"t5", "T5 buckets", R"(q_i^\top k_j+b_{\mathrm{bucket}(j-i)})", "BH",
       "Raffel et al. 2019, arXiv 1910.10683, section 2.1",
       [](const Shape& s) { return s.buckets * s.heads; },
       [](const Input& in) { return t5(content(in), in.bias, in.buckets, in.scale); }},
      {"alibi", "ALiBi", R"(q_i^\top k_j/\sqrt{d_h}-m_h(i-j))", "0",
       "Press et al. 2021, arXiv 2108.12409, section 3", nothing,
       [](const Input& in) { return alibi(content(in), in.scale, in.causal); }, false,
       R"(q_i^\top k_j/\sqrt{d_h}-m_h|i-j|)"},
      {"deberta", "DeBERTa",
       R"((q_i^\top k_j+q_i^\top k^r_{\delta(i,j)}+k_j^\top q^r_{\delta(j,i)})/\sqrt{3d_h})",
       R"(2kd+2NdHd_h)", "He et al. 2020, arXiv 2006.03654, equation 4",
       [](const Shape& s) { return 2 * s.clip * s.d_model + s.layers * projections(s); },
       [](const Input& in) {
         return deberta(content(in), in.distances, in.position_query, in.position_key, in.convention,
                        in.scale);
       },
       false, nullptr, 512},
      {"tupe-a", "TUPE-A",
       R"((q_i^\top k_j+(U^Qp_i)^\top U^Kp_j)/\sqrt{2d_h},\;\theta_1,\theta_2\text{ for [CLS]})",
       R"((L+1)d+2dHd_h)", "Ke et al. 2020, arXiv 2006.15595, equations 7 and 9", tupe_count,
       [](const Input& in) { return tupe_with(in, {}); }},
      {"tupe-r", "TUPE-R",
       R"((q_i^\top k_j+(U^Qp_i)^\top U^Kp_j)/\sqrt{2d_h}+b_{j-i},\;\theta_1,\theta_2\text{ for [CLS]})",
       R"((L+1)d+2dHd_h+(B+1)H)", "Ke et al. 2020, arXiv 2006.15595, equations 8 and 9",
       [](const Shape& s) { return tupe_count(s) + (s.buckets + 1) * s.heads; },
       [](const Input& in) { return tupe_with(in, in.bias); }},
      {"diet-abs", "DIET-ABS", R"(q_i^\top k_j/\sqrt{d_h}+p^Q_i{}^\top p^K_j)", "2NLHd_p",
       "Chen et al. 2021, arXiv 2104.08698",
       [](const Shape& s) { return 2 * s.layers * s.positions * s.heads * s.d_position; },
       [](const Input& in) {
         return diet_absolute(content(in), in.position_query.weight, in.position_key.weight, in.segments,
                              in.scale);
       }},
      {"diet-rel", "DIET-REL", R"(q_i^\top k_j/\sqrt{d_h}+R_{\mathrm{clip}(i-j,-k,k)})", "N(2k+1)H",
       "Chen et al. 2021, arXiv 2104.08698", [](const Shape& s) { return s.layers * offsets(s) * s.heads; },
       [](const Input& in) { return diet_relative(content(in), in.bias, in.segments, in.scale); }, false,
       nullptr, 128},
      {"rope", "RoPE", R"((R_iq_i)^\top R_jk_j/\sqrt{d_h})", "0", "Su et al. 2021, arXiv 2104.09864", nothing,
       [](const Input& in) { return rope(content(in), in.layout, in.base, in.scale, in.stretch); }},
      {"decoupled-rope", "Decoupled RoPE", R"([q_i;R_iq^r_i]^\top[k_j;R_jk^r_j]/\sqrt{d_h+d_r})",
       "Nd(H+1)d_r", "DeepSeek-V2, arXiv 2405.04434, section 2.1.3",
       [](const Shape& s) { return s.layers * s.d_model * (s.heads + 1) * s.d_position; },
       [](const Input& in) {
         return decoupled_rope(content(in), apply(in.rotary_query, in.content),
                               apply(in.rotary_key, in.content), in.layout, in.base, in.scale, in.stretch);
       },
       true},
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
