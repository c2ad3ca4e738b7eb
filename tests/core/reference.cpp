#include "reference.h"

#include <rapidjson/istreamwrapper.h>

#include <fstream>

namespace superpose {

rapidjson::Document reference(const std::string& name) {
  std::ifstream file(SUPERPOSE_REFERENCE "/" + name);
  rapidjson::IStreamWrapper stream(file);
  rapidjson::Document document;
  document.ParseStream<rapidjson::kParseFullPrecisionFlag>(stream);
  return document;
}

}  // namespace superpose
