// The page for people at / of the admin address: one document with its style and script within.
#ifndef TRELU_SERVER_STATUS_PAGE_STATUS_PAGE_H_
#define TRELU_SERVER_STATUS_PAGE_STATUS_PAGE_H_

#include <string_view>

namespace trelu::server {

// Both are put together by assemble.cmake from the files beside this one.
extern const std::string_view kStatusPage;  // HTML, UTF-8

// The header Content-Security-Policy of that page (W3C, Content Security Policy Level 3): nothing
// runs but the script and the style whose SHA-256 it names, nothing is fetched but from this
// address, and no other page may frame it. Pictures are data within the page: its icon.
extern const std::string_view kStatusPagePolicy;

}  // namespace trelu::server

#endif  // TRELU_SERVER_STATUS_PAGE_STATUS_PAGE_H_
