#include "client/command/show.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <vector>

#include "client/command/element.h"

namespace trelu::command {
namespace {

constexpr std::size_t kColumns = 80;

class Printer {
 public:
  Printer(std::span<const std::int64_t> dims, std::vector<std::string> elements)
      : dims_(dims), elements_(std::move(elements)) {
    for (const std::string& element : elements_) width_ = std::max(width_, element.size());
  }

  std::string Print() {
    if (dims_.empty()) return elements_[0] + "\n";
    Level(0);
    return text_ + "\n";
  }

 private:
  void Level(std::size_t depth) {
    text_ += '[';
    const bool innermost = depth + 1 == dims_.size();
    for (std::int64_t i = 0; i < dims_[depth]; ++i) {
      if (innermost) {
        Element(i > 0, depth + 1);
      } else {
        // A line of their own between matrices, two between stacks of matrices, and so on.
        if (i > 0) {
          text_ += ',';
          text_.append(dims_.size() - 1 - depth, '\n');
          text_.append(depth + 1, ' ');
        }
        Level(depth + 1);
      }
    }
    text_ += ']';
  }

  void Element(bool separate, std::size_t indent) {
    if (separate) text_ += ',';
    const std::size_t line_begin = text_.rfind('\n') + 1;  // 0 without one
    if (separate && text_.size() - line_begin + width_ + 3 > kColumns) {
      text_ += '\n';
      text_.append(indent, ' ');
    } else if (separate) {
      text_ += ' ';
    }
    const std::string& element = elements_[next_++];
    text_.append(width_ - element.size(), ' ');
    text_ += element;
  }

  std::span<const std::int64_t> dims_;
  std::vector<std::string> elements_;
  std::size_t width_ = 0;
  std::size_t next_ = 0;
  std::string text_;
};

}  // namespace

std::string SpecText(const TensorSpec& spec) {
  const std::span<const std::int64_t> dims = spec.shape().dims();
  return absl::StrCat(std::string(Name(spec.dtype())), " [",
                      absl::StrJoin(dims.begin(), dims.end(), ", "), "]");
}

std::string ShowTensor(const TensorSpec& spec, std::span<const std::byte> elements) {
  // Without elements there may still be very many brackets.
  if (elements.empty()) return "[]\n";
  std::vector<std::string> texts;
  const std::size_t element_bytes = ElementBytes(spec.dtype());
  for (; !elements.empty(); elements = elements.subspan(element_bytes)) {
    texts.push_back(ElementText(spec.dtype(), elements.data()));
  }
  return Printer(spec.shape().dims(), std::move(texts)).Print();
}

}  // namespace trelu::command
