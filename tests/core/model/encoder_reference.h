// The tiny encoders of tests/reference/encoder.json.
#pragma once

#include <string>
#include <vector>

#include "plain_layer.h"
#include "reference.h"

namespace superpose {

inline Vector<double> vector_of(const rapidjson::Value& list) {
  Vector<double> vector(list.Size());
  for (rapidjson::SizeType i = 0; i < list.Size(); ++i) vector[i] = list[i].GetDouble();
  return vector;
}

inline std::vector<int> whole_numbers_of(const rapidjson::Value& list) {
  std::vector<int> numbers;
  for (const auto& number : list.GetArray()) numbers.push_back(number.GetInt());
  return numbers;
}

struct TinyEncoder {
  template <typename Scalar>
  static Linear<Scalar> linear(const rapidjson::Value& from) {
    return {matrix_of(from["weight"]).cast<Scalar>(), vector_of(from["bias"]).cast<Scalar>()};
  }
  template <typename Scalar>
  static Normalization<Scalar> norm(const rapidjson::Value& from, double epsilon) {
    if (from.IsNull()) return {};
    return {Norm::layer_norm, vector_of(from["gamma"]).cast<Scalar>(), vector_of(from["beta"]).cast<Scalar>(),
            static_cast<Scalar>(epsilon)};
  }

  template <typename Scalar>
  static Encoder<Scalar> encoder(const rapidjson::Value& from) {
    const double epsilon = from["eps"].GetDouble();
    EncoderOptions<Scalar> options;
    options.heads = from["heads"].GetInt();
    options.pre_norm = from["norm"].GetString() == std::string("pre");
    options.causal = from["causal"].GetBool();
    options.activation =
        from["activation"].GetString() == std::string("gelu") ? Activation::gelu : Activation::gelu_tanh;
    options.embedding_norm = norm<Scalar>(from["embedding_norm"], epsilon);
    options.final_norm = norm<Scalar>(from["final_norm"], epsilon);
    Encoder<Scalar> encoder(options);
    for (const auto& layer : from["layers"].GetArray()) {
      encoder.add_layer(packed(
          PlainLayer<Scalar>{linear<Scalar>(layer["query"]), linear<Scalar>(layer["key"]),
                             linear<Scalar>(layer["value"]), linear<Scalar>(layer["output"]),
                             norm<Scalar>(layer["attention_norm"], epsilon), linear<Scalar>(layer["up"]),
                             linear<Scalar>(layer["down"]), norm<Scalar>(layer["mlp_norm"], epsilon)}));
    }
    return encoder;
  }

  // Token, position and segment rows of the first `n` ids; without segments these are zeros.
  template <typename Scalar>
  static std::vector<Matrix<Scalar>> summands(const rapidjson::Value& from, Eigen::Index n) {
    const std::vector<int> ids = whole_numbers_of(from["ids"]);
    const Matrix<double> word = matrix_of(from["word"]), position = matrix_of(from["position"]);
    std::vector<Matrix<double>> rows(3, Matrix<double>::Zero(n, word.cols()));
    const int first = from["first_position"].GetInt();
    for (Eigen::Index i = 0; i < n; ++i) {
      rows[0].row(i) = word.row(ids[i]);
      rows[1].row(i) = position.row(first + i);
      if (from["token_type"].IsNull()) continue;
      rows[2].row(i) = matrix_of(from["token_type"]).row(whole_numbers_of(from["token_types"])[i]);
    }
    std::vector<Matrix<Scalar>> result;
    for (const auto& one : rows) result.push_back(one.template cast<Scalar>());
    return result;
  }

  static std::vector<char> attended(const rapidjson::Value& from) {
    std::vector<char> flags;
    for (int flag : whole_numbers_of(from["attended"])) flags.push_back(static_cast<char>(flag));
    return flags;
  }
};

template <typename Scalar>
Matrix<Scalar> sum_of(const std::vector<Matrix<Scalar>>& all) {
  Matrix<Scalar> sum = all[0];
  for (std::size_t s = 1; s < all.size(); ++s) sum += all[s];
  return sum;
}

}  // namespace superpose
