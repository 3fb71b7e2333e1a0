#include "proto/slice_stream.h"

#include <algorithm>

namespace trelu {

bool SliceStream::Next(const void** data, int* size) {
  while (!slices_.empty() && offset_ == slices_[0].size()) {
    slices_ = slices_.subspan(1);
    offset_ = 0;
  }
  if (slices_.empty()) return false;
  *data = slices_[0].begin() + offset_;
  // Slices may be larger than the interface can say.
  *size = static_cast<int>(std::min<std::size_t>(slices_[0].size() - offset_, 1 << 30));
  offset_ += static_cast<std::size_t>(*size);
  read_ += *size;
  return true;
}

void SliceStream::BackUp(int count) {
  const std::size_t back = std::min(static_cast<std::size_t>(count), offset_);
  offset_ -= back;
  read_ -= static_cast<std::int64_t>(back);
}

bool SliceStream::Skip(int count) {
  const void* data = nullptr;
  int size = 0;
  while (count > 0) {
    if (!Next(&data, &size)) return false;
    if (size > count) BackUp(size - count);
    count -= size;
  }
  return true;
}

}  // namespace trelu
