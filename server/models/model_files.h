// A directory of model files, NAME/VERSION/model.onnx, as the disk has it now.
#ifndef TRELU_SERVER_MODELS_MODEL_FILES_H_
#define TRELU_SERVER_MODELS_MODEL_FILES_H_

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trelu::server {

// Tells whether a file is still the one that was read.
struct FileStamp {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t size = 0;
  std::int64_t modified_ns = 0;  // since the epoch

  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

struct ModelFile {
  std::int64_t version = 1;
  std::string path;
  // Nothing: it cannot be looked at, and reading it will tell why.
  std::optional<FileStamp> stamp;
};

struct FileContent {
  std::string bytes;
  FileStamp stamp;  // of before it was read
};

// All of these may wait for the disk and follow symbolic links. Errors say what the system said,
// without paths. Any thread.

// Of printable ASCII: what every client can send and show.
bool IsModelName(const std::string& name);

// The entries of `directory` that are not hidden by a leading ".", whether they can name a model or
// not. Ascending.
absl::StatusOr<std::vector<std::string>> ListModelNames(const std::string& directory);

// The versions below `directory`/`name`: entries that are a positive number, written without
// leading zeros, and have a model.onnx. Ascending. None, and no error, when that is no directory.
// `name` must come from ListModelNames and be a model's.
absl::StatusOr<std::vector<ModelFile>> ListModelFiles(const std::string& directory,
                                                      const std::string& name);

// A whole file. INVALID_ARGUMENT when it has more than `max_bytes` or is no regular file, which is
// never waited for.
absl::StatusOr<FileContent> ReadModelFile(const std::string& path, std::size_t max_bytes);

}  // namespace trelu::server

#endif  // TRELU_SERVER_MODELS_MODEL_FILES_H_
