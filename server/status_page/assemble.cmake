# Puts page.html, the style and the scripts together into one page, embedded in a C++ source file.
#
#   cmake -DOUTPUT=status_page.cc -DSCRIPTS=a.js:b.js -P assemble.cmake    (script files beside this one, in their order)
#
# The page's policy names the SHA-256 of the style and of the script as the browser sees them: all that stands
# between the tags.
cmake_minimum_required(VERSION 3.25)
set(here ${CMAKE_CURRENT_LIST_DIR})

# Sets `result` to the SHA-256 of `text` in base64. file(SHA256) speaks hexadecimal: three of its digits are two of
# base64's. A byte of zeros makes the 32 bytes 33, divisible by three, and its digit becomes the padding.
function(sha256_base64 text result)
  set(digits ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
  string(SHA256 hex "${text}")
  string(APPEND hex 00)
  set(base64 "")
  foreach(at RANGE 0 63 3)
    string(SUBSTRING ${hex} ${at} 3 three)
    math(EXPR high "0x${three} >> 6")
    math(EXPR low "0x${three} & 63")
    foreach(value ${high} ${low})
      string(SUBSTRING ${digits} ${value} 1 digit)
      string(APPEND base64 ${digit})
    endforeach()
  endforeach()
  string(REGEX REPLACE "A$" "=" base64 "${base64}")
  set(${result} "${base64}" PARENT_SCOPE)
endfunction()

file(READ ${here}/page.html page)
file(READ ${here}/page.css style)
set(script "")
string(REPLACE ":" ";" SCRIPTS "${SCRIPTS}")
foreach(name IN LISTS SCRIPTS)
  file(READ ${here}/${name} text)
  string(APPEND script "${text}")
endforeach()
# What would end the element or the C++ literal; and plain ASCII, so that no step can take a byte for another.
string(REPLACE "</style>" "" frame "${page}")
string(REPLACE "</script>" "" frame "${frame}")
foreach(part frame style script)
  if(${part} MATCHES "<!--|</s[ct]|[)]trelu\"|[^\n -~]")
    message(FATAL_ERROR "status page: the ${part} holds '${CMAKE_MATCH_0}', which cannot be embedded")
  endif()
endforeach()
sha256_base64("${style}" style_hash)
sha256_base64("${script}" script_hash)
string(REPLACE "@STYLE@" "${style}" page "${page}")
string(REPLACE "@SCRIPT@" "${script}" page "${page}")
string(CONCAT policy
  "default-src 'none'; script-src 'sha256-${script_hash}'; style-src 'sha256-${style_hash}'; connect-src 'self'; "
  "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
  "require-trusted-types-for 'script'; trusted-types 'none'")
file(WRITE ${OUTPUT} "// Written by assemble.cmake.
#include \"server/status_page/status_page.h\"

namespace trelu::server {

const std::string_view kStatusPage = R\"trelu(${page})trelu\";

const std::string_view kStatusPagePolicy =
    \"${policy}\";

}  // namespace trelu::server
")
