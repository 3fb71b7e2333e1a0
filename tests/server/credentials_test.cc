#include "server/credentials.h"

#include <gmock/gmock.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace trelu::server {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Free {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509_EXTENSION* extension) const { X509_EXTENSION_free(extension); }
};

std::string Text(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<std::size_t>(size)};
}

struct Identity {
  std::string cert;
  std::string key;
  std::string encrypted_key;
};

constexpr long kDay = 24 * 60 * 60;

// A self-signed certificate for 127.0.0.1.
Identity MakeIdentity(long valid_from = -kDay, long valid_to = kDay) {
  const std::unique_ptr<EVP_PKEY, Free> key(EVP_EC_gen("P-256"));
  const std::unique_ptr<X509, Free> cert(X509_new());
  X509_set_version(cert.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(cert.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(cert.get()), valid_from);
  X509_gmtime_adj(X509_getm_notAfter(cert.get()), valid_to);
  X509_set_pubkey(cert.get(), key.get());
  X509_NAME* name = X509_get_subject_name(cert.get());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("localhost"), -1, -1, 0);
  X509_set_issuer_name(cert.get(), name);
  const std::unique_ptr<X509_EXTENSION, Free> names(
      X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "IP:127.0.0.1"));
  X509_add_ext(cert.get(), names.get(), -1);
  X509_sign(cert.get(), key.get(), EVP_sha256());
  const auto write = [](const std::function<int(BIO*)>& print) {
    const std::unique_ptr<BIO, Free> bio(BIO_new(BIO_s_mem()));
    EXPECT_EQ(print(bio.get()), 1);
    return Text(bio.get());
  };
  const auto key_text = [&](const EVP_CIPHER* cipher) {
    return write([&](BIO* bio) {
      const auto* password = reinterpret_cast<const unsigned char*>("password");
      return PEM_write_bio_PrivateKey(bio, key.get(), cipher, password, cipher ? 8 : 0, nullptr,
                                      nullptr);
    });
  };
  return {write([&](BIO* bio) { return PEM_write_bio_X509(bio, cert.get()); }), key_text(nullptr),
          key_text(EVP_aes_128_cbc())};
}

class CredentialsTest : public testing::Test {
 protected:
  CredentialsTest() {
    std::string name = testing::TempDir() + "credentials_test_XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~CredentialsTest() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& content) const {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  Options TlsOptions(const Identity& identity) const {
    Options options;
    options.tls_cert = Write("cert.pem", identity.cert);
    options.tls_key = Write("key.pem", identity.key);
    return options;
  }
  const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
};

// Whether a client with `client` can talk to a server with `options`.
bool CanConnect(const Options& options, const std::shared_ptr<grpc::ChannelCredentials>& client) {
  const auto credentials = MakeCredentials(options);
  EXPECT_TRUE(credentials.ok()) << credentials.status();
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", *credentials, &port);
  grpc::AsyncGenericService service;
  builder.RegisterAsyncGenericService(&service);
  const auto queue = builder.AddCompletionQueue();
  const auto server = builder.BuildAndStart();
  const auto channel = grpc::CreateChannel("127.0.0.1:" + std::to_string(port), client);
  bool connected = false;
  for (auto state = channel->GetState(true);; state = channel->GetState(true)) {
    connected = state == GRPC_CHANNEL_READY;
    if (connected || state == GRPC_CHANNEL_TRANSIENT_FAILURE) break;
    channel->WaitForStateChange(state, std::chrono::system_clock::now() + std::chrono::minutes(1));
  }
  server->Shutdown(std::chrono::system_clock::now());
  queue->Shutdown();
  void* tag = nullptr;
  for (bool ok = false; queue->Next(&tag, &ok);) {
  }
  return connected;
}

TEST_F(CredentialsTest, AreInsecureWithoutFiles) {
  EXPECT_TRUE(CanConnect({}, grpc::InsecureChannelCredentials()));
}

TEST_F(CredentialsTest, AreTlsWithCertificateAndKey) {
  const Identity identity = MakeIdentity();
  const Options options = TlsOptions(identity);
  grpc::SslCredentialsOptions client;
  client.pem_root_certs = identity.cert;
  EXPECT_TRUE(CanConnect(options, grpc::SslCredentials(client)));
  EXPECT_FALSE(CanConnect(options, grpc::InsecureChannelCredentials()));
}

TEST_F(CredentialsTest, AskClientsForACertificateWithAClientCa) {
  const Identity identity = MakeIdentity();
  const Identity caller = MakeIdentity();
  const Identity stranger = MakeIdentity();
  Options options = TlsOptions(identity);
  options.tls_client_ca = Write("ca.pem", caller.cert);
  grpc::SslCredentialsOptions client;
  client.pem_root_certs = identity.cert;
  EXPECT_FALSE(CanConnect(options, grpc::SslCredentials(client)));
  client.pem_cert_chain = stranger.cert;
  client.pem_private_key = stranger.key;
  EXPECT_FALSE(CanConnect(options, grpc::SslCredentials(client)));
  client.pem_cert_chain = caller.cert;
  client.pem_private_key = caller.key;
  EXPECT_TRUE(CanConnect(options, grpc::SslCredentials(client)));
}

struct BadFile {
  const char* name;
  std::string Options::*which;
  std::function<std::string(const Identity&)> content;
  const char* reason;
};
void PrintTo(const BadFile& row, std::ostream* out) { *out << row.name; }

class BadFileTest : public CredentialsTest, public testing::WithParamInterface<BadFile> {};

TEST_P(BadFileTest, IsNamedWithAReasonAndNothingOfItsContent) {
  const Identity identity = MakeIdentity();
  Options options = TlsOptions(identity);
  options.tls_client_ca = Write("ca.pem", identity.cert);
  const std::string path = Write("bad.pem", GetParam().content(identity));
  options.*GetParam().which = path;
  const absl::Status status = MakeCredentials(options).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  const std::string message(status.message());
  EXPECT_THAT(message, HasSubstr(path));
  EXPECT_THAT(message, HasSubstr(GetParam().reason));
  EXPECT_THAT(message, Not(HasSubstr("secret")));
}

std::string Expired(const Identity&) { return MakeIdentity(-2 * kDay, -kDay).cert; }
std::string NotYet(const Identity&) { return MakeIdentity(kDay, 2 * kDay).cert; }
std::string Nothing(const Identity&) { return ""; }
std::string NotPem(const Identity&) { return "secret\n"; }
std::string Damaged(const Identity& identity) {
  std::string text = identity.cert;
  return text.replace(text.find('\n') + 1, 8, "AAAAAAAA");
}

INSTANTIATE_TEST_SUITE_P(
    Files, BadFileTest,
    testing::Values(
        BadFile{"EmptyCert", &Options::tls_cert, Nothing, "empty"},
        BadFile{"CertNotPem", &Options::tls_cert, NotPem, "no PEM certificate"},
        BadFile{"DamagedCert", &Options::tls_cert, Damaged, "cannot be parsed"},
        BadFile{"KeyAsCert", &Options::tls_cert, [](const Identity& i) { return i.key; },
                "no PEM certificate"},
        BadFile{"ExpiredCert", &Options::tls_cert, Expired, "has expired"},
        BadFile{"CertNotYetValid", &Options::tls_cert, NotYet, "not valid yet"},
        BadFile{"ExpiredChain", &Options::tls_cert,
                [](const Identity& i) { return i.cert + Expired(i); }, "has expired"},
        BadFile{"DamagedChain", &Options::tls_cert,
                [](const Identity& i) { return i.cert + Damaged(i); }, "cannot be parsed"},
        BadFile{"HugeCert", &Options::tls_cert,
                [](const Identity&) { return std::string(5 << 20, 'a'); }, "too large"},
        BadFile{"EmptyKey", &Options::tls_key, Nothing, "empty"},
        BadFile{"KeyNotPem", &Options::tls_key, NotPem, "no unencrypted PEM private key"},
        BadFile{"CertAsKey", &Options::tls_key, [](const Identity& i) { return i.cert; },
                "no unencrypted PEM private key"},
        BadFile{"EncryptedKey", &Options::tls_key,
                [](const Identity& i) { return i.encrypted_key; },
                "no unencrypted PEM private key"},
        BadFile{"AnothersKey", &Options::tls_key,
                [](const Identity&) { return MakeIdentity().key; }, "is not the key"},
        BadFile{"EmptyClientCa", &Options::tls_client_ca, Nothing, "empty"},
        BadFile{"ClientCaNotPem", &Options::tls_client_ca, NotPem, "no PEM certificate"},
        BadFile{"ExpiredClientCa", &Options::tls_client_ca, Expired, "out of its time"}),
    [](const auto& row) { return row.param.name; });

TEST_F(CredentialsTest, TakeAClientCaBundleWithOneGoodCertificate) {
  const Identity identity = MakeIdentity();
  Options options = TlsOptions(identity);
  options.tls_client_ca = Write("ca.pem", Expired(identity) + identity.cert);
  EXPECT_TRUE(MakeCredentials(options).ok());
}

TEST_F(CredentialsTest, NameAFileThatCannotBeRead) {
  Options options = TlsOptions(MakeIdentity());
  for (const std::string& path : {folder() + "/missing.pem", folder()}) {
    options.tls_cert = path;
    const absl::Status status = MakeCredentials(options).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(status.message()), HasSubstr(path + ": cannot be read: "));
  }
}

}  // namespace
}  // namespace trelu::server
