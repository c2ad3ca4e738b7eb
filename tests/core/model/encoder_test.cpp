#include "model/encoder.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "encoder_reference.h"
#include "random_shapes.h"

namespace superpose {
namespace {

// The largest error of states, logits, last rows and embedding against the oracle.
template <typename Scalar>
double error_of(const rapidjson::Value& from) {
  const auto encoder = TinyEncoder::encoder<Scalar>(from);
  const auto attended = TinyEncoder::attended(from);
  const Eigen::Index real = std::count(attended.begin(), attended.end(), 1);
  ForwardOptions<Scalar> asked;
  asked.attended = attended;
  asked.scores = true;
  const auto rows = TinyEncoder::summands<Scalar>(from, attended.size());
  const Forward<Scalar> run = encoder.forward(sum_of(rows), asked);
  double worst = 0;
  const auto compare = [&](const auto& found, const Matrix<double>& wanted) {
    const Matrix<double> difference = found.template cast<double>() - wanted;
    worst = std::max(worst, max_abs(difference));
  };
  EXPECT_EQ(run.states.size(), from["states"].Size());
  for (rapidjson::SizeType l = 0; l < from["states"].Size(); ++l)
    compare(run.states[l].topRows(real), matrix_of(from["states"][l]));
  for (rapidjson::SizeType l = 0; l < from["logits"].Size(); ++l) {
    const Eigen::Index n = attended.size();
    for (int h = 0; h < encoder.options().heads; ++h)
      compare(run.logits[l].block(h * n, 0, real, real), matrix_of(from["logits"][l][h]));
  }
  if (!from["last"].IsNull()) compare(run.last.topRows(real), matrix_of(from["last"]));
  const Matrix<double> embedding = vector_of(from["embedding"]).transpose();
  compare(run.pooled.bottomRows(1), embedding);
  return worst;
}

TEST(Encoder, AgreesWithTheOracleForEveryFamily) {
  const auto oracle = reference("encoder.json");
  ASSERT_TRUE(oracle.IsObject());
  for (const auto& from : oracle["cases"].GetArray()) {
    SCOPED_TRACE(from["name"].GetString());
    EXPECT_LT(error_of<double>(from), 1e-11);
    EXPECT_LT(error_of<float>(from), 2e-5);
  }
}

TEST(Activation, IsWhatTheOracleSays) {
  const auto oracle = reference("encoder.json");
  const Vector<double> x = vector_of(oracle["activations"]["x"]);
  for (const auto& [kind, name] :
       {std::pair(Activation::gelu, "gelu"), std::pair(Activation::gelu_tanh, "gelu_tanh"),
        std::pair(Activation::relu, "relu")}) {
    const Vector<double> wanted = vector_of(oracle["activations"][name]);
    Matrix<double> rows = x.transpose();
    activate<double>(kind, {}, rows);
    EXPECT_LT((rows.transpose() - wanted).cwiseAbs().maxCoeff(), 1e-12);
    Matrix<float> singles = x.transpose().cast<float>();
    activate<float>(kind, {}, singles);
    for (Eigen::Index i = 0; i < x.size(); ++i)
      EXPECT_NEAR(singles(i), wanted[i], 2.4e-7 * std::max(1.0, std::abs(x[i])));
  }
}

TEST(Activation, InFloatIsThatInDoubleEverywhere) {
  const int count = 20003;
  Matrix<double> given(1, count);
  for (int i = 0; i < count; ++i) given(i) = -10 + 20.0 * i / count;
  const Matrix<double> x = given.cast<float>().cast<double>();
  const Vector<double> bias = Vector<double>::Zero(count);
  for (const Activation kind :
       {Activation::gelu, Activation::gelu_tanh, Activation::relu, Activation::silu}) {
    Matrix<double> exact = x;
    Matrix<float> single = x.cast<float>();
    activate<double>(kind, bias, exact);
    activate<float>(kind, bias.cast<float>(), single);
    const Matrix<double> error = (single.cast<double>() - exact).cwiseAbs();
    EXPECT_LT(error.cwiseQuotient(x.cwiseAbs().cwiseMax(1)).maxCoeff(), 2.4e-7) << static_cast<int>(kind);
  }
}

// silu is what it is defined as, and far out 0 or x.
TEST(Activation, SiluIsXTimesItsLogistic) {
  Matrix<double> x(1, 5);
  x << -800, -2, 0, 0.7, 800;
  Matrix<double> found = x;
  activate<double>(Activation::silu, {}, found);
  for (Eigen::Index i = 0; i < x.size(); ++i)
    EXPECT_NEAR(found(i), static_cast<double>(x(i) / (1 + std::exp(-static_cast<long double>(x(i))))), 1e-15);
  Matrix<float> single = x.cast<float>();
  activate<float>(Activation::silu, {}, single);
  EXPECT_NEAR(single(0), 0, 1e-30);
  EXPECT_EQ(single(4), 800);
}

}  // namespace
}  // namespace superpose
