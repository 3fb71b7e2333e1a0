#include "client/command/apply.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <memory>
#include <utility>
#include <vector>

#include "client/command/checksum.h"
#include "client/command/progress.h"
#include "client/command/show.h"
#include "client/command/summary.h"
#include "client/command/terminal.h"
#include "client/command/verification.h"
#include "core/thresholded_relu.h"

namespace trelu::command {
namespace {

constexpr const char* kChecksum = "checksum:";

using Seconds = std::chrono::duration<double>;

// Where the result goes, and what is printed once it is there.
struct Destination {
  Client::Sink sink;
  std::function<absl::Status()> commit;
  std::function<std::string(Seconds)> text;
};

Destination Shown(const TensorSpec& spec) {
  const auto result = std::make_shared<std::vector<std::byte>>();
  return {[result](std::span<const std::byte> bytes) {
            result->insert(result->end(), bytes.begin(), bytes.end());
            return absl::OkStatus();
          },
          [] { return absl::OkStatus(); },
          [result, spec](Seconds) { return SpecText(spec) + "\n" + ShowTensor(spec, *result); }};
}

Destination Summarised(const TensorInput& input) {
  const auto summary = std::make_shared<Summary>(input.spec);
  const std::string order = input.fortran_order ? ", in Fortran order" : "";
  return {[summary](std::span<const std::byte> bytes) {
            summary->Add(bytes);
            return absl::OkStatus();
          },
          [] { return absl::OkStatus(); },
          [summary, order, spec = input.spec](Seconds) {
            return absl::StrCat(SpecText(spec), ", ", BytesText(spec.bytes()), order, "\n",
                                summary->Text());
          }};
}

Destination Checksummed(const TensorSpec& spec) {
  const auto checksum = std::make_shared<Crc32c>();
  return {[checksum](std::span<const std::byte> bytes) {
            checksum->Add(bytes);
            return absl::OkStatus();
          },
          [] { return absl::OkStatus(); },
          [checksum, spec](Seconds time) {
            return absl::StrFormat("%s, %s\ncrc32c    %s\ntime      %.3f s, %s each way\n",
                                   SpecText(spec), BytesText(spec.bytes()), checksum->Hex(),
                                   time.count(), RateText(spec.bytes(), time));
          }};
}

absl::StatusOr<Destination> MakeDestination(const ApplyRequest& request, FileFormat format,
                                            const TensorInput& input) {
  if (request.output == kChecksum) return Checksummed(input.spec);
  if (request.output.empty()) {
    const bool small = input.spec.shape().element_count() <= kMaxShownElements;
    return small ? Shown(input.spec) : Summarised(input);
  }
  absl::StatusOr<TensorOutput> output = CreateTensor(request.output, format, input);
  if (!output.ok()) return output.status();
  return Destination{std::move(output->sink), std::move(output->commit),
                     [](Seconds) { return std::string(); }};
}

// Whether the result may stay in Fortran order: when nobody sees it, or the file can say so.
bool KeepsOrder(const ApplyRequest& request, FileFormat format, const TensorSpec& spec) {
  if (request.output == kChecksum) return true;
  if (request.output.empty()) return spec.shape().element_count() > kMaxShownElements;
  return format == FileFormat::kNpy;
}

// Runs the tensor through the client and remembers whose fault a failure is.
class Transfer {
 public:
  Transfer(const ApplyRequest& request, TensorInput input, Destination& destination)
      : request_(request),
        input_(std::move(input)),
        destination_(destination),
        progress_(std::in_place, input_.spec.bytes(), TerminalWidth(stderr), UseColor(stderr),
                  IsTerminal(stderr) ? Draw : Progress::Draw()) {
    if (request.verify) {
      verification_.emplace(input_.spec.dtype(), request.alpha.value_or(kDefaultAlpha));
    }
  }

  ExitCode Run(Client& client) {
    const absl::Status call =
        input_.spec.bytes() > request_.stream_above_bytes ? Stream(client) : Unary(client);
    progress_.reset();  // its line makes room for an error's
    if (!source_status_.ok()) {
      return Fail(kBadInput, request_.input, std::string(source_status_.message()));
    }
    if (!sink_status_.ok()) {
      return Fail(kBadOutput, request_.output, std::string(sink_status_.message()));
    }
    if (!call.ok()) return FailCall(request_.target, call);
    if (!verification_) return kOk;
    const absl::Status verified = verification_->Check();
    return verified.ok() ? kOk : FailCall(request_.target, verified);
  }

 private:
  static void Draw(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
  }

  absl::Status Unary(Client& client) {
    std::vector<std::byte> tensor(input_.spec.bytes());
    if (absl::Status status = Read(tensor); !status.ok()) return status;
    ApplyOptions options{request_.alpha, request_.timeout};
    if (absl::Status status = client.Apply(input_.spec, tensor, tensor, options); !status.ok()) {
      return status;
    }
    return Write(tensor);
  }

  absl::Status Stream(Client& client) {
    const ApplyOptions options{request_.alpha, request_.stream_timeout};
    return client.ApplyStream(
        input_.spec, [this](std::span<std::byte> buffer) { return Read(buffer); },
        [this](std::span<const std::byte> bytes) { return Write(bytes); }, options);
  }

  absl::Status Read(std::span<std::byte> buffer) {
    source_status_ = input_.source(buffer);
    if (source_status_.ok() && verification_) verification_->AddInput(buffer);
    return source_status_;
  }

  absl::Status Write(std::span<const std::byte> bytes) {
    if (verification_) verification_->AddResult(bytes);
    sink_status_ = destination_.sink(bytes);
    progress_->Add(bytes.size());
    return sink_status_;
  }

  const ApplyRequest& request_;
  TensorInput input_;
  Destination& destination_;
  std::optional<Progress> progress_;
  std::optional<Verification> verification_;
  absl::Status source_status_;
  absl::Status sink_status_;
};

}  // namespace

ExitCode Apply(const ApplyRequest& request, Client& client, std::FILE* out) {
  absl::StatusOr<OpenedTensor> opened = OpenTensor(request.input, request.flags);
  if (!opened.ok()) {
    const bool flags = opened.status().code() == absl::StatusCode::kFailedPrecondition;
    return Fail(flags ? kUsage : kBadInput, request.input, std::string(opened.status().message()));
  }
  const FileFormat format = OutputFormat(request.output, request.output_format, opened->format);
  absl::StatusOr<TensorInput> input = std::move(opened->tensor);
  if (!KeepsOrder(request, format, input->spec)) input = InRowMajor(*std::move(input));
  if (!input.ok()) return Fail(kBadInput, request.input, std::string(input.status().message()));

  absl::StatusOr<Destination> destination = MakeDestination(request, format, *input);
  if (!destination.ok()) {
    return Fail(kBadOutput, request.output, std::string(destination.status().message()));
  }
  const auto begin = std::chrono::steady_clock::now();
  const ExitCode code = Transfer(request, *std::move(input), *destination).Run(client);
  if (code != kOk) return code;
  const Seconds time = std::chrono::steady_clock::now() - begin;
  if (const absl::Status status = destination->commit(); !status.ok()) {
    return Fail(kBadOutput, request.output, std::string(status.message()));
  }
  const std::string text =
      destination->text(time) + (request.verify ? "verified  as computed here\n" : "");
  // Where the tensor itself goes to standard output, what is said of it does not.
  std::FILE* const told = request.output == "-" ? stderr : out;
  if (std::fwrite(text.data(), 1, text.size(), told) != text.size() || std::fflush(told) != 0) {
    return Fail(kBadOutput, "standard output", "cannot be written");
  }
  return kOk;
}

}  // namespace trelu::command
