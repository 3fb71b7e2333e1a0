// Certificates for one test, made by openssl.
#ifndef TRELU_TESTS_SUPPORT_CERTIFICATES_H_
#define TRELU_TESTS_SUPPORT_CERTIFICATES_H_

#include <filesystem>
#include <string>

namespace trelu::testing {

// A folder with an authority (ca.crt), what it signed for a server called "localhost" (server.crt,
// server.key) and for a client (client.crt, client.key). Gone with the object. The test aborts when
// openssl does not work.
class Certificates {
 public:
  Certificates();
  ~Certificates();
  Certificates(const Certificates&) = delete;
  Certificates& operator=(const Certificates&) = delete;

  std::string path(const std::string& name) const { return folder_ / name; }

 private:
  std::filesystem::path folder_;
};

}  // namespace trelu::testing

#endif  // TRELU_TESTS_SUPPORT_CERTIFICATES_H_
