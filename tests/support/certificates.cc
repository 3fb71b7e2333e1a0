#include "tests/support/certificates.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>

namespace trelu::testing {
namespace {

constexpr const char* kScript = R"(
  cd "$0"
  key="-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
  openssl req -x509 $key -keyout ca.key -out ca.crt -subj "/CN=test authority"
  for name in server client; do
    openssl req $key -keyout $name.key -out $name.csr -subj "/CN=$name"
    echo "subjectAltName=DNS:localhost" > $name.ext
    openssl x509 -req -in $name.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 \
      -extfile $name.ext -out $name.crt
  done
)";

}  // namespace

Certificates::Certificates() {
  std::string name =
      (std::filesystem::temp_directory_path() / "trelu_certificates_XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    std::perror("mkdtemp");
    std::abort();
  }
  folder_ = name;
  std::string shell = "sh";
  std::string options = "-ec";
  std::string script =
      std::string("{") + kScript + R"(} > "$0/log" 2>&1 || { cat "$0/log"; exit 1; })";
  std::array<char*, 5> arguments = {shell.data(), options.data(), script.data(), name.data(),
                                    nullptr};
  pid_t child = 0;
  int status = -1;
  if (posix_spawnp(&child, "sh", nullptr, nullptr, arguments.data(), environ) != 0 ||
      waitpid(child, &status, 0) != child || status != 0) {
    std::fputs("openssl made no certificates\n", stderr);
    std::abort();
  }
}

Certificates::~Certificates() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

}  // namespace trelu::testing
