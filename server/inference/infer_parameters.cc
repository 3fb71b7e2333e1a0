#include "server/inference/infer_parameters.h"

#include <absl/strings/str_cat.h>

#include <array>
#include <cmath>
#include <limits>

#include "server/log.h"

namespace trelu::server {
namespace {

using inference::InferParameter;
using Choice = InferParameter::ParameterChoiceCase;

const char* NameOf(Choice choice) {
  switch (choice) {
    case InferParameter::kBoolParam:
      return "bool";
    case InferParameter::kInt64Param:
      return "int64";
    case InferParameter::kStringParam:
      return "string";
    case InferParameter::kDoubleParam:
      return "double";
    case InferParameter::kUint64Param:
      return "uint64";
    case InferParameter::PARAMETER_CHOICE_NOT_SET:
      return "no value";
  }
  return "no value";
}

absl::Status Wrong(const std::string& name, Choice got, std::string_view expected) {
  return absl::InvalidArgumentError(
      absl::StrCat("parameters[", Quoted(name), "]: got ", NameOf(got), ", expected ",
                   absl::string_view(expected.data(), expected.size())));
}

// Parameters that Triton knows and that change nothing here, with the types that they may have.
struct Accepted {
  std::string_view name;
  std::array<Choice, 2> types;
  std::string_view expected;
};
constexpr std::array<Accepted, 5> kAccepted = {{
    {"priority", {InferParameter::kInt64Param, InferParameter::kUint64Param}, "int64 or uint64"},
    {"sequence_id", {InferParameter::kInt64Param, InferParameter::kStringParam}, "int64 or string"},
    {"sequence_start", {InferParameter::kBoolParam, InferParameter::kBoolParam}, "bool"},
    {"sequence_end", {InferParameter::kBoolParam, InferParameter::kBoolParam}, "bool"},
    // One answer a request: there is never an empty one to ask for.
    {"triton_enable_empty_final_response",
     {InferParameter::kBoolParam, InferParameter::kBoolParam},
     "bool"},
}};

absl::Status CheckOther(const std::string& name, const InferParameter& parameter) {
  const Choice type = parameter.parameter_choice_case();
  for (const Accepted& accepted : kAccepted) {
    if (name != accepted.name) continue;
    if (type != accepted.types[0] && type != accepted.types[1]) {
      return Wrong(name, type, accepted.expected);
    }
    if (type == InferParameter::kInt64Param && name == "priority" && parameter.int64_param() < 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "parameters['priority'] = ", parameter.int64_param(), ": expected 0 or more"));
    }
    return absl::OkStatus();
  }
  if (name.starts_with("triton_")) {
    return absl::InvalidArgumentError(
        absl::StrCat("parameters[", Quoted(name), "]: unknown, and triton_ is reserved"));
  }
  if (type == InferParameter::kUint64Param || type == InferParameter::PARAMETER_CHOICE_NOT_SET) {
    return Wrong(name, type, "bool, int64, string or double");
  }
  return absl::OkStatus();
}

// To nearest, ties to even, too large becomes infinity: a plain cast of such a number is undefined.
float RoundToFloat(double value) {
  constexpr double kFirstInfinity = 0x1.ffffffp127;
  if (std::fabs(value) >= kFirstInfinity) {
    return std::copysign(std::numeric_limits<float>::infinity(), value < 0 ? -1.0F : 1.0F);
  }
  return static_cast<float>(value);
}

absl::StatusOr<std::uint64_t> ReadSize(std::string_view tensor, const std::string& name,
                                       const InferParameter& parameter) {
  const absl::string_view shown(tensor.data(), tensor.size());
  if (parameter.parameter_choice_case() != InferParameter::kInt64Param) {
    const absl::Status wrong = Wrong(name, parameter.parameter_choice_case(), "int64");
    return absl::InvalidArgumentError(absl::StrCat(shown, ": ", wrong.message()));
  }
  if (parameter.int64_param() < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        shown, ": parameters['", name, "'] = ", parameter.int64_param(), ": expected 0 or more"));
  }
  return static_cast<std::uint64_t>(parameter.int64_param());
}

}  // namespace

absl::StatusOr<RequestParameters> ReadRequestParameters(const InferParameters& parameters) {
  RequestParameters result;
  for (const auto& [name, parameter] : parameters) {
    const Choice type = parameter.parameter_choice_case();
    if (name == "alpha") {
      if (type == InferParameter::kDoubleParam) {
        result.alpha = RoundToFloat(parameter.double_param());
      } else if (type == InferParameter::kInt64Param) {
        result.alpha = static_cast<float>(parameter.int64_param());
      } else {
        return Wrong(name, type, "double or int64");
      }
    } else if (name == "timeout") {
      if (type != InferParameter::kInt64Param) return Wrong(name, type, "int64");
      const std::int64_t microseconds = parameter.int64_param();
      if (microseconds < 0) {
        return absl::InvalidArgumentError(
            absl::StrCat("parameters['timeout'] = ", microseconds, ": expected 0 or more"));
      }
      if (microseconds > 0) result.timeout = std::chrono::microseconds(microseconds);
    } else if (absl::Status other = CheckOther(name, parameter); !other.ok()) {
      return other;
    }
  }
  return result;
}

absl::StatusOr<std::optional<Placement>> ReadPlacement(std::string_view tensor,
                                                       const InferParameters& parameters) {
  const absl::string_view shown(tensor.data(), tensor.size());
  Placement placement;
  bool has_region = false;
  bool has_size = false;
  bool has_offset = false;
  for (const auto& [name, parameter] : parameters) {
    if (name == "shared_memory_region") {
      if (parameter.parameter_choice_case() != InferParameter::kStringParam) {
        const absl::Status wrong = Wrong(name, parameter.parameter_choice_case(), "string");
        return absl::InvalidArgumentError(absl::StrCat(shown, ": ", wrong.message()));
      }
      placement.region = parameter.string_param();
      has_region = true;
    } else if (name == "shared_memory_byte_size" || name == "shared_memory_offset") {
      const auto size = ReadSize(tensor, name, parameter);
      if (!size.ok()) return size.status();
      (name == "shared_memory_offset" ? placement.offset : placement.byte_size) = *size;
      (name == "shared_memory_offset" ? has_offset : has_size) = true;
    } else if (name == "classification") {
      return absl::InvalidArgumentError(
          absl::StrCat(shown, ": parameters['classification']: not supported"));
    }
  }
  if (has_region && !has_size) {
    return absl::InvalidArgumentError(
        absl::StrCat(shown, ": parameters['shared_memory_byte_size']: missing"));
  }
  if (!has_region && (has_size || has_offset)) {
    return absl::InvalidArgumentError(
        absl::StrCat(shown, ": parameters['shared_memory_region']: missing"));
  }
  if (!has_region) return std::optional<Placement>();
  return placement;
}

}  // namespace trelu::server
