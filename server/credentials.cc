#include "server/credentials.h"

#include <absl/status/status.h>
#include <grpcpp/security/server_credentials.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <cerrno>
#include <cstddef>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace trelu::server {
namespace {

struct Free {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
using Certificates = std::vector<std::unique_ptr<X509, Free>>;

// A file of certificates is kilobytes; a device or a mistaken path must not fill the memory.
constexpr std::size_t kMaxFileBytes = std::size_t{4} << 20;

absl::Status Refuse(const std::string& path, const std::string& reason) {
  return absl::FailedPreconditionError(path + ": " + reason);
}

absl::StatusOr<std::string> ReadPem(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string content(kMaxFileBytes + 1, '\0');
  // Opening a directory succeeds; reading it is what fails.
  if (!file ||
      !(file.read(content.data(), static_cast<std::streamsize>(content.size())) || file.eof())) {
    return Refuse(path, "cannot be read: " + std::generic_category().message(errno));
  }
  content.resize(static_cast<std::size_t>(file.gcount()));
  if (content.empty()) return Refuse(path, "is empty");
  if (content.size() > kMaxFileBytes) return Refuse(path, "is too large to be a PEM file");
  return content;
}

std::unique_ptr<BIO, Free> Open(const std::string& pem) {
  return std::unique_ptr<BIO, Free>(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
}

// In the order of the file; at least one.
absl::StatusOr<Certificates> ParseCertificates(const std::string& path, const std::string& pem) {
  const std::unique_ptr<BIO, Free> bio = Open(pem);
  Certificates certificates;
  while (X509* certificate = PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)) {
    certificates.emplace_back(certificate);
  }
  // The end of the file shows as an error, "no start line"; any other is a broken certificate.
  const bool broken = ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE;
  ERR_clear_error();
  if (certificates.empty() && !broken) return Refuse(path, "holds no PEM certificate");
  if (broken) return Refuse(path, "holds a PEM certificate that cannot be parsed");
  return certificates;
}

// Empty when valid now.
std::string WhyNotValidNow(const X509& certificate) {
  if (X509_cmp_current_time(X509_get0_notBefore(&certificate)) > 0) return "is not valid yet";
  if (X509_cmp_current_time(X509_get0_notAfter(&certificate)) < 0) return "has expired";
  return {};
}

absl::Status CheckKeyMatches(const std::string& key_path, const std::string& key_pem,
                             const std::string& cert_path, const X509& certificate) {
  const std::unique_ptr<BIO, Free> bio = Open(key_pem);
  // An encrypted key would otherwise ask for its password on the terminal.
  pem_password_cb* no_password = [](char*, int, int, void*) { return -1; };
  const std::unique_ptr<EVP_PKEY, Free> key(
      PEM_read_bio_PrivateKey(bio.get(), nullptr, no_password, nullptr));
  const bool matches = key != nullptr && X509_check_private_key(&certificate, key.get()) == 1;
  ERR_clear_error();
  if (key == nullptr) return Refuse(key_path, "holds no unencrypted PEM private key");
  if (!matches) return Refuse(key_path, "is not the key of the certificate in " + cert_path);
  return absl::OkStatus();
}

// The leading certificate is the server's own, the rest its chain.
absl::StatusOr<grpc::SslServerCredentialsOptions::PemKeyCertPair> ReadKeyAndCertificate(
    const Options& options) {
  absl::StatusOr<std::string> cert = ReadPem(options.tls_cert);
  if (!cert.ok()) return cert.status();
  const absl::StatusOr<Certificates> chain = ParseCertificates(options.tls_cert, *cert);
  if (!chain.ok()) return chain.status();
  for (const std::unique_ptr<X509, Free>& certificate : *chain) {
    if (const std::string why = WhyNotValidNow(*certificate); !why.empty()) {
      return Refuse(options.tls_cert, "its certificate " + why);
    }
  }
  absl::StatusOr<std::string> key = ReadPem(options.tls_key);
  if (!key.ok()) return key.status();
  if (absl::Status status =
          CheckKeyMatches(options.tls_key, *key, options.tls_cert, *chain->front());
      !status.ok()) {
    return status;
  }
  return grpc::SslServerCredentialsOptions::PemKeyCertPair{*std::move(key), *std::move(cert)};
}

absl::StatusOr<std::string> ReadClientCa(const std::string& path) {
  absl::StatusOr<std::string> pem = ReadPem(path);
  if (!pem.ok()) return pem.status();
  const absl::StatusOr<Certificates> authorities = ParseCertificates(path, *pem);
  if (!authorities.ok()) return authorities.status();
  // A bundle may carry old ones along; one that is good is enough.
  std::string why;
  for (const std::unique_ptr<X509, Free>& authority : *authorities) {
    why = WhyNotValidNow(*authority);
    if (why.empty()) return pem;
  }
  return Refuse(path, "every certificate in it is out of its time; the last " + why);
}

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeCredentials(const Options& options) {
  if (options.tls_cert.empty()) return grpc::InsecureServerCredentials();
  const bool mutual = !options.tls_client_ca.empty();
  grpc::SslServerCredentialsOptions ssl(
      mutual ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
             : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE);
  absl::StatusOr<grpc::SslServerCredentialsOptions::PemKeyCertPair> pair =
      ReadKeyAndCertificate(options);
  if (!pair.ok()) return pair.status();
  ssl.pem_key_cert_pairs.push_back(*std::move(pair));
  if (mutual) {
    absl::StatusOr<std::string> authorities = ReadClientCa(options.tls_client_ca);
    if (!authorities.ok()) return authorities.status();
    ssl.pem_root_certs = *std::move(authorities);
  }
  return grpc::SslServerCredentials(ssl);
}

}  // namespace trelu::server
