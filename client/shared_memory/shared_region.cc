#include "client/shared_memory/shared_region.h"

namespace trelu {

void Registrations::Add(const std::string& name) {
  const std::lock_guard lock(mutex_);
  names_.insert(name);
}

void Registrations::Drop(const std::string& name) {
  if (getpid() != process_) return;
  const std::lock_guard lock(mutex_);
  if (unregister_) unregister_(name);
}

void Registrations::Gone(const std::string& name) {
  const std::lock_guard lock(mutex_);
  names_.erase(name);
}

void Registrations::Close() {
  const std::lock_guard lock(mutex_);
  unregister_ = nullptr;
}

std::vector<std::string> Registrations::names() const {
  const std::lock_guard lock(mutex_);
  return {names_.begin(), names_.end()};
}

SharedRegion::SharedRegion(std::unique_ptr<MemoryObject> object,
                           std::shared_ptr<Registrations> registrations)
    : object_(std::move(object)),
      registrations_(std::move(registrations)),
      name_(object_->key().substr(1)) {
  registrations_->Add(name_);
}

SharedRegion::~SharedRegion() { registrations_->Drop(name_); }

}  // namespace trelu
