#include "scores/scheme_registry.h"

#include <limits>

namespace superpose {

const std::vector<SchemeInfo>& scheme_registry() {
  static const std::vector<SchemeInfo> registry = {
      {"none", "No position", R"(q_i^\top k_j/\sqrt{d_h})", "0", "Haviv et al. 2022, arXiv 2203.16634"},
      {"added", "Added", R"((W_Q(x_i+p_i))^\top W_K(x_j+p_j)/\sqrt{d_h})", "Ld",
       "Vaswani et al. 2017, section 3.5; Devlin et al. 2018"},
      {"concatenated-raw", "Concatenated, no weights", R"(x_i^\top x_j+\rho^2p_i^\top p_j)", "Ld_p",
       "the definition"},
      {"concatenated-full", "Concatenated, full weights", R"((W_Q[x_i;p_i])^\top W_K[x_j;p_j]/\sqrt{d_h})",
       R"(Ld_p+2Nd_pHd_h)", "the definition"},
      {"concatenated-block-diagonal", "Concatenated, block-diagonal",
       R"(((W_Qx_i)^\top W_Kx_j+(U_Qp_i)^\top U_Kp_j)/\sqrt{d_h+d_{hp}})", R"(Ld_p+2Nd_pHd_{hp})",
       "Kitaev and Klein 2018; Ke et al. 2020, equation 7"},
      {"shaw", "Shaw's relative keys", R"(q_i^\top(k_j+a_{\mathrm{clip}(j-i,-k,k)})/\sqrt{d_h})",
       "N(2k+1)d_h", "Shaw et al. 2018, arXiv 1803.02155, equation 4"},
      {"transformer-xl", "Transformer-XL", R"(((q_i+u)^\top k_j+(q_i+v)^\top W_{k,R}R_{i-j})/\sqrt{d_h})",
       R"(NdHd_h+2Hd_h)", "Dai et al. 2019, arXiv 1901.02860, section 3.3"},
      {"t5", "T5 buckets", R"(q_i^\top k_j+b_{\mathrm{bucket}(j-i)})", "BH",
       "Raffel et al. 2019, arXiv 1910.10683, section 2.1"},
      {"alibi", "ALiBi", R"(q_i^\top k_j/\sqrt{d_h}-m_h(i-j))", "0",
       "Press et al. 2021, arXiv 2108.12409, section 3"},
      {"deberta", "DeBERTa",
       R"((q_i^\top k_j+q_i^\top k^r_{\delta(i,j)}+k_j^\top q^r_{\delta(j,i)})/\sqrt{3d_h})",
       R"(2kd+2NdHd_h)", "He et al. 2020, arXiv 2006.03654, equation 4"},
      {"tupe-a", "TUPE-A",
       R"((q_i^\top k_j+(U^Qp_i)^\top U^Kp_j)/\sqrt{2d_h},\;\theta_1,\theta_2\text{ for [CLS]})",
       R"((L+1)d+2dHd_h)", "Ke et al. 2020, arXiv 2006.15595, equations 7 and 9"},
      {"tupe-r", "TUPE-R",
       R"((q_i^\top k_j+(U^Qp_i)^\top U^Kp_j)/\sqrt{2d_h}+b_{j-i},\;\theta_1,\theta_2\text{ for [CLS]})",
       R"((L+1)d+2dHd_h+(B+1)H)", "Ke et al. 2020, arXiv 2006.15595, equations 8 and 9"},
      {"diet-abs", "DIET-ABS", R"(q_i^\top k_j/\sqrt{d_h}+p^Q_i{}^\top p^K_j)", "2NLHd_p",
       "Chen et al. 2021, arXiv 2104.08698"},
      {"diet-rel", "DIET-REL", R"(q_i^\top k_j/\sqrt{d_h}+R_{\mathrm{clip}(i-j,-k,k)})", "N(2k+1)H",
       "Chen et al. 2021, arXiv 2104.08698"},
      {"rope", "RoPE", R"((R_iq_i)^\top R_jk_j/\sqrt{d_h})", "0", "Su et al. 2021, arXiv 2104.09864"},
      {"decoupled-rope", "Decoupled RoPE", R"([q_i;R_iq^r_i]^\top[k_j;R_jk^r_j]/\sqrt{d_h+d_r})",
       "Nd(H+1)d_r", "DeepSeek-V2, arXiv 2405.04434, section 2.1.3"},
  };
  return registry;
}

double scheme_parameters(const std::string& id, const SchemeShape& s) {
  const double projections = 2 * s.d_model * s.heads * s.d_head;  // one for queries, one for keys
  const double tupe = (s.positions + 1) * s.d_model + projections;
  const double offsets = 2 * s.clip + 1;
  if (id == "none" || id == "alibi" || id == "rope") return 0;
  if (id == "added") return s.positions * s.d_model;
  if (id == "concatenated-raw") return s.positions * s.d_position;
  if (id == "concatenated-full") {
    return s.positions * s.d_position + 2 * s.layers * s.d_position * s.heads * s.d_head;
  }
  if (id == "concatenated-block-diagonal") {
    return s.positions * s.d_position + 2 * s.layers * s.d_position * s.heads * s.d_position_head;
  }
  if (id == "shaw") return s.layers * offsets * s.d_head;
  if (id == "transformer-xl") return s.layers * projections / 2 + 2 * s.heads * s.d_head;
  if (id == "t5") return s.buckets * s.heads;
  if (id == "deberta") return 2 * s.clip * s.d_model + s.layers * projections;
  if (id == "tupe-a") return tupe;
  if (id == "tupe-r") return tupe + (s.buckets + 1) * s.heads;
  if (id == "diet-abs") return 2 * s.layers * s.positions * s.heads * s.d_position;
  if (id == "diet-rel") return s.layers * offsets * s.heads;
  if (id == "decoupled-rope") return s.layers * s.d_model * (s.heads + 1) * s.d_position;
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace superpose
