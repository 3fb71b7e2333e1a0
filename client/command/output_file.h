// A file that appears whole or not at all.
#ifndef TRELU_CLIENT_COMMAND_OUTPUT_FILE_H_
#define TRELU_CLIENT_COMMAND_OUTPUT_FILE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace trelu::command {

// Bytes go to an unnamed file (a named one beside the target where the file system has no unnamed
// ones), which takes the target's name in Commit; until then whatever the name held stays as it
// was. Standard output ("-"), pipes and devices are written directly. Owns the descriptor; one
// thread.
class OutputFile {
 public:
  // Errors carry the system's words.
  static absl::StatusOr<std::shared_ptr<OutputFile>> Create(const std::string& name);
  // Without a Commit that succeeded, nothing is left behind.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // All of `bytes`, or an error.
  absl::Status Write(std::span<const std::byte> bytes);

  // Puts the file in place. Call once, after the last Write.
  absl::Status Commit();

 private:
  OutputFile() = default;

  int descriptor_ = -1;
  std::string target_;     // empty: written directly
  std::string temporary_;  // the file's name until Commit; empty while it has none
};

}  // namespace trelu::command

#endif  // TRELU_CLIENT_COMMAND_OUTPUT_FILE_H_
