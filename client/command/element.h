// One element as a number and as text.
#ifndef TRELU_CLIENT_COMMAND_ELEMENT_H_
#define TRELU_CLIENT_COMMAND_ELEMENT_H_

#include <cstddef>
#include <string>

#include "trelu/dtype.h"

namespace trelu::command {

// The value of the ElementBytes(dtype) bytes at `element`, exactly; no alignment needed.
double ElementValue(DType dtype, const std::byte* element);

// The shortest decimal that reads back as the same element of its type: "2.5", "-0", "1e+30",
// "inf",
// "-inf" or "nan".
std::string ElementText(DType dtype, const std::byte* element);

}  // namespace trelu::command

#endif  // TRELU_CLIENT_COMMAND_ELEMENT_H_
