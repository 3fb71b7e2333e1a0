#include "tests/support/conformance.h"

#include <openssl/evp.h>

#include <array>
#include <bit>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

namespace trelu::testing {
namespace {

std::ifstream Open(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot open " + path);
  return file;
}

// "0x3f800000"
float FloatFromBits(const std::string& text) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(std::stoul(text, nullptr, 16)));
}

std::vector<std::byte> BytesFromHex(const std::string& hex) {
  std::vector<std::byte> bytes;
  bytes.reserve(hex.size() / 2);
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

}  // namespace

std::vector<ConformanceCase> LoadEdgeCases() {
  return LoadEdgeCases(TRELU_CONFORMANCE_DIR "/edge_cases.jsonl");
}

std::vector<ConformanceCase> LoadEdgeCases(const std::string& path) {
  std::ifstream file = Open(path);
  std::vector<ConformanceCase> cases;
  for (std::string line; std::getline(file, line);) {
    const nlohmann::json json = nlohmann::json::parse(line);
    ConformanceCase one;
    one.name = json.at("name");
    one.dtype = DTypeFromName(json.at("dtype").get<std::string>()).value();
    one.opsets = json.at("opsets").get<std::vector<std::int64_t>>();
    one.shape = json.at("shape").get<std::vector<std::int64_t>>();
    if (json.at("alpha_given").get<bool>()) one.alpha = FloatFromBits(json.at("alpha_bits"));
    one.passed = json.at("passed");
    one.input = BytesFromHex(json.at("input_hex"));
    one.output = BytesFromHex(json.at("output_hex"));
    cases.push_back(std::move(one));
  }
  return cases;
}

std::vector<ExhaustiveCase> LoadExhaustiveCases(DType dtype) {
  const std::string name = dtype == DType::kFloat16 ? "exhaustive_f16.tsv" : "exhaustive_bf16.tsv";
  std::ifstream file = Open(TRELU_CONFORMANCE_DIR "/" + name);
  std::vector<ExhaustiveCase> cases;
  std::string line;
  std::getline(file, line);  // the head
  while (std::getline(file, line)) {
    std::istringstream columns(line);
    std::string alpha_bits;
    std::string alpha_decimal;
    std::string alpha_as_dtype_bits;
    ExhaustiveCase one;
    columns >> alpha_bits >> alpha_decimal >> alpha_as_dtype_bits >> one.passed >> one.sha256;
    if (!columns) throw std::runtime_error(name + ": malformed line: " + line);
    one.alpha = FloatFromBits(alpha_bits);
    cases.push_back(std::move(one));
  }
  return cases;
}

std::vector<std::byte> AllBitPatterns16() {
  constexpr std::size_t kPatterns = 65536;
  std::vector<std::byte> bytes(kPatterns * sizeof(std::uint16_t));
  for (std::size_t i = 0; i < kPatterns; ++i) {
    const auto pattern = static_cast<std::uint16_t>(i);
    std::memcpy(bytes.data() + i * sizeof(pattern), &pattern, sizeof(pattern));
  }
  return bytes;
}

std::string Sha256(const std::vector<std::byte>& bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1) {
    throw std::runtime_error("SHA-256 failed");
  }
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (unsigned int i = 0; i < size; ++i) {
    hex.push_back(kDigits[digest.at(i) >> 4]);
    hex.push_back(kDigits[digest.at(i) & 15]);
  }
  return hex;
}

}  // namespace trelu::testing
