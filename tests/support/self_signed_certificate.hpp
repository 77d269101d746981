/// @file
/// `SelfSignedCertificate`: a certificate without a certificate authority, for TLS servers.

#pragma once

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "support/temporary_folder.hpp"

namespace routemaster::test {

/// The files of a new certificate for `localhost`, and of its key.
class SelfSignedCertificate {
public:
    SelfSignedCertificate() {
        const auto make =
            "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 "
            "-subj /CN=localhost -keyout '" +
            key() + "' -out '" + certificate() + "' 2>/dev/null";
        if (std::system(make.c_str()) != 0) throw std::runtime_error{"cannot make a certificate"};
    }

    [[nodiscard]] std::string key() const { return (folder_.path() / "key.pem").string(); }
    [[nodiscard]] std::string certificate() const {
        return (folder_.path() / "certificate.pem").string();
    }

private:
    TemporaryFolder folder_;
};

}  // namespace routemaster::test
