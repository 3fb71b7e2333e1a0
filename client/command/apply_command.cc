#include "client/command/apply_command.h"

#include <malloc.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/command/apply.h"
#include "client/command/exit_codes.h"
#include "client/command/number_arguments.h"
#include "client/command/terminal.h"

namespace trelu::command {
namespace {

constexpr const char* kHelp = R"(
IN is a file, - for standard input, or made on the spot:
  x.npy            NumPy, versions 1.0 to 3.0; f2, f4, f8; bfloat16 (V2) with --dtype bfloat16
  x.pb             one ONNX TensorProto, as in the test data of models
  x.raw, x.bin     row-major little-endian elements, with --dtype and --shape
  random:SEED      random elements of both signs, from 0.25 to 4 in size, with --dtype and --shape
  zeros:           zeros, with --dtype and --shape
OUT is written in the format of its extension, else in that of IN, and appears only when it is complete:
always little-endian; .npy keeps the order of IN (C or Fortran), .pb is written with raw_data.
Without -o a result of up to 100 elements is shown and a larger one summarised.

Examples:
  trelu apply x.npy                                      show the result
  trelu apply --alpha 0.5 x.npy -o y.npy                 keep it
  trelu apply --dtype float16 --shape 2,3 x.bin -o y.npy
  cat x.npy | trelu apply - -o - > y.npy                 in a pipe
  trelu apply --dtype float32 --shape 8589934592 random:42 -o checksum: --verify
                                                         32 GiB, through constant memory
)";

// What CLI11 fills.
struct ApplyArguments {
  ApplyRequest request;
  std::optional<std::string> alpha;
  std::optional<std::string> shape;
  std::string dtype;
  std::string format;
  std::string output_format;
};

std::optional<FileFormat> FormatFromName(const std::string& name) {
  if (name == "npy") return FileFormat::kNpy;
  if (name == "pb") return FileFormat::kPb;
  if (name == "raw") return FileFormat::kRaw;
  return std::nullopt;
}

// The names stand in the option's description.
CLI::Validator OneOf(const std::vector<std::string>& names) {
  return CLI::IsMember(names).description("");
}

// A stream's messages are allocated on one thread and freed on another. With an arena for each
// thread glibc keeps several times of what is in use, and with its usual thresholds it gives pages
// back and faults them in again for every message.
void BoundMemory() {
  // NOLINTBEGIN(concurrency-mt-unsafe): no other thread runs yet
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  // NOLINTEND(concurrency-mt-unsafe)
}

int RunApply(ApplyArguments& arguments, const ConnectionOptions& connection) {
  ApplyRequest& request = arguments.request;
  request.target = connection.target;
  request.flags.dtype = DTypeFromName(arguments.dtype);
  request.flags.format = FormatFromName(arguments.format);
  request.output_format = FormatFromName(arguments.output_format);
  if (arguments.alpha) {
    const absl::StatusOr<float> alpha = ParseAlpha(*arguments.alpha);
    if (!alpha.ok()) return Fail(kUsage, "--alpha", std::string(alpha.status().message()));
    request.alpha = *alpha;
  }
  if (arguments.shape) {
    absl::StatusOr<std::vector<std::int64_t>> shape = ParseShape(*arguments.shape);
    if (!shape.ok()) return Fail(kUsage, "--shape", std::string(shape.status().message()));
    request.flags.shape = *std::move(shape);
  }
  if (request.output == "-" && IsTerminal(stdout)) {
    return Fail(kUsage, "-o -", "standard output is a terminal: expected a file or a pipe");
  }
  request.timeout = connection.Timeout(request.timeout);
  request.stream_timeout = connection.Timeout(request.stream_timeout);
  const ClientOptions options = connection.ToClientOptions();
  request.stream_above_bytes = options.stream_above_bytes;
  BoundMemory();
  const absl::StatusOr<std::unique_ptr<Client>> client = Client::Create(options);
  if (!client.ok()) return Fail(kUsage, connection.target, std::string(client.status().message()));
  return Apply(request, **client, stdout);
}

}  // namespace

void AddApplyCommand(CLI::App& app, const ConnectionOptions& connection, int& exit_code) {
  const auto arguments = std::make_shared<ApplyArguments>();
  CLI::App* command = app.add_subcommand("apply", "One tensor through the server");
  command->footer(kHelp);
  command->add_option("IN", arguments->request.input, "The tensor")->required()->type_name("");
  command
      ->add_option("-o,--output", arguments->request.output,
                   "Where the result goes; - for standard output, checksum: for its checksum alone")
      ->type_name("OUT");
  command
      ->add_option("-a,--alpha", arguments->alpha,
                   "The threshold, rounded to float32: 0.1, 0x1.8p+1, -inf, nan; left out: 1")
      ->type_name("A");
  command->add_option("--dtype", arguments->dtype, "float16, bfloat16, float32 or float64")
      ->type_name("T")
      ->check(OneOf({"float16", "bfloat16", "float32", "float64"}));
  command->add_option("--shape", arguments->shape, "Dimensions, such as 2,3; \"\" for a scalar")
      ->type_name("D,D");
  command->add_option("--format", arguments->format, "What IN is: npy, pb or raw")
      ->type_name("F")
      ->check(OneOf({"npy", "pb", "raw"}));
  command->add_option("--output-format", arguments->output_format, "What OUT is: npy, pb or raw")
      ->type_name("F")
      ->check(OneOf({"npy", "pb", "raw"}));
  command->add_flag("--verify", arguments->request.verify,
                    "Compute the result here, too, and compare the checksums");
  command->callback(
      [arguments, &connection, &exit_code] { exit_code = RunApply(*arguments, connection); });
}

}  // namespace trelu::command
