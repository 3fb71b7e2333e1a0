// A directory of model files, NAME/VERSION/model.onnx, as the disk has it now.
#ifndef TRELU_SERVER_MODELS_MODEL_FILES_H_
#define TRELU_SERVER_MODELS_MODEL_FILES_H_

#include <absl/status/statusor.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/descriptor.h"

namespace trelu::server {

// Tells whether a file is still the one that was read.
struct FileStamp {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t size = 0;
  std::chrono::sys_time<std::chrono::nanoseconds> modified;

  friend bool operator==(const FileStamp&, const FileStamp&) = default;

  // Whether it was last modified a second ago or longer. Before that it may be half written, and
  // another write may leave the same stamp: file systems count in ticks (of much less than a
  // second, but for FAT), and a write's time is that of its begin. A time that lies further ahead
  // than that, by somebody else's clock, tells nothing, and counts as rest.
  bool rests() const;
};

struct ModelFile {
  std::int64_t version = 1;
  // Nothing: it cannot be looked at, and reading it will tell why.
  std::optional<FileStamp> stamp;
};

struct FileContent {
  std::string bytes;
  FileStamp stamp;
};

// All that follows may wait for the disk and follows symbolic links. Errors say what the system
// said, without paths. Any thread.

// Of printable ASCII: what every client can send and show.
bool IsModelName(const std::string& name);

// NAME as it was found, though the name may since mean another directory: what was listed is what
// is read.
class ModelFolder {
 public:
  // Entries that are a positive number, written without leading zeros, and have a model.onnx.
  // Ascending by version.
  const std::vector<ModelFile>& files() const { return files_; }
  bool Has(std::int64_t version) const;

  // The whole of one of them. INVALID_ARGUMENT when it is empty, has more than `max_bytes` or is no
  // regular file, which is never waited for; NOT_FOUND when it has gone since; UNAVAILABLE when it
  // cannot be read, or changes meanwhile.
  absl::StatusOr<FileContent> Read(const ModelFile& file, std::size_t max_bytes) const;

 private:
  friend class ModelTree;
  ModelFolder(std::string name, Descriptor directory, std::vector<ModelFile> files)
      : name_(std::move(name)), directory_(std::move(directory)), files_(std::move(files)) {}

  std::string name_;
  Descriptor directory_;  // none: there was none
  std::vector<ModelFile> files_;
};

// The directory above, held in the same way.
class ModelTree {
 public:
  static absl::StatusOr<ModelTree> Open(const std::string& directory);

  // The entries that are not hidden by a leading ".", whether they can name a model or not.
  // Ascending.
  const std::vector<std::string>& names() const { return names_; }
  bool Has(std::string_view name) const;

  // Without files, and without an error, when `name` is no directory (any more). It is one of
  // names(), and a model's.
  absl::StatusOr<ModelFolder> Folder(const std::string& name) const;

  // Whether the path still means this tree, and the tree's name that folder. If so, what was not
  // found was not there; if not, it may have been deleted after another came in its place.
  bool IsCurrent() const;
  bool IsCurrent(const ModelFolder& folder) const;

 private:
  ModelTree(std::string path, Descriptor directory, std::vector<std::string> names)
      : path_(std::move(path)), directory_(std::move(directory)), names_(std::move(names)) {}

  std::string path_;
  Descriptor directory_;
  std::vector<std::string> names_;
};

}  // namespace trelu::server

#endif  // TRELU_SERVER_MODELS_MODEL_FILES_H_
