// Memory of the client's that the server knows by a name, and the account of such names.
#ifndef TRELU_CLIENT_SHARED_MEMORY_SHARED_REGION_H_
#define TRELU_CLIENT_SHARED_MEMORY_SHARED_REGION_H_

#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "client/shared_memory/memory_object.h"

namespace trelu {

// The names that a client has, or may have, registered at its server. Any thread.
class Registrations {
 public:
  // Begins to unregister a name; Gone is called when the server has confirmed it.
  using Unregister = std::function<void(const std::string& name)>;
  explicit Registrations(Unregister unregister) : unregister_(std::move(unregister)) {}

  // Before the server is asked to register it.
  void Add(const std::string& name);
  // Nobody here uses it any more. Does nothing in a child process, whose parent may still use it.
  void Drop(const std::string& name);
  void Gone(const std::string& name);

  // From now on `unregister` is not called.
  void Close();
  // What the server was not seen to have given up.
  std::vector<std::string> names() const;

 private:
  const pid_t process_ = getpid();
  mutable std::mutex mutex_;  // held while unregister_ is called, which must not come back here
  Unregister unregister_;
  std::set<std::string> names_;
};

// One object, all of it one region. Unregistered and unmapped with its last user; the server keeps
// its own mapping as long as it works on it.
class SharedRegion {
 public:
  SharedRegion(std::unique_ptr<MemoryObject> object, std::shared_ptr<Registrations> registrations);
  ~SharedRegion();
  SharedRegion(const SharedRegion&) = delete;
  SharedRegion& operator=(const SharedRegion&) = delete;

  const std::string& name() const { return name_; }
  const std::string& key() const { return object_->key(); }
  std::span<std::byte> bytes() const { return object_->bytes(); }

  // Once, when the server was asked to register it.
  void Unlink() { object_->Unlink(); }

  // Whether the server is believed to know it. An object without a name cannot be registered again.
  bool known() const { return known_; }
  void set_known(bool known) { known_ = known; }

 private:
  const std::unique_ptr<MemoryObject> object_;
  const std::shared_ptr<Registrations> registrations_;
  const std::string name_;
  std::atomic<bool> known_ = false;
};

// Where in a region a tensor begins.
struct SharedPlace {
  std::shared_ptr<SharedRegion> region;
  std::uint64_t offset = 0;
};

}  // namespace trelu

#endif  // TRELU_CLIENT_SHARED_MEMORY_SHARED_REGION_H_
