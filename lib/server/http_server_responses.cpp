#include "http_server_responses.hpp"

#include <new>
#include <string>

namespace routemaster::detail {
namespace {

constexpr int no_content = MHD_HTTP_NO_CONTENT;

/// libmicrohttpd only reads a persistent buffer, whatever its signature says.
MHD_Response* make(const std::string& body) {
    MHD_Response* response = MHD_create_response_from_buffer(
        body.size(), const_cast<char*>(body.data()), MHD_RESPMEM_PERSISTENT);
    if (response == nullptr) throw std::bad_alloc{};
    return response;
}

bool add(MHD_Response* response, const char* name, const std::string& value) {
    return MHD_add_response_header(response, name, value.c_str()) == MHD_YES;
}

const std::string nothing;

}  // namespace

Responses::Responses() : empty_{make(nothing)}, empty_last_{make(nothing)} {
    add(empty_last_.get(), MHD_HTTP_HEADER_CONNECTION, "close");
}

bool Responses::queue(MHD_Connection* connection, const HttpResponse& response, bool last) {
    if (response.status < 200) return false;
    const auto status = static_cast<unsigned>(response.status);
    // RFC 9110 §15.3.5: a 204 has no content, so nothing describes it either.
    const bool bare = response.status == no_content;
    const bool typed = !bare && !response.content_type.empty();
    if ((bare || response.body.empty()) && !typed && response.headers.empty()) {
        return MHD_queue_response(connection, status, (last ? empty_last_ : empty_).get()) ==
               MHD_YES;
    }
    const Owned made{make(bare ? nothing : response.body)};
    bool valid = !typed || add(made.get(), MHD_HTTP_HEADER_CONTENT_TYPE, response.content_type);
    for (const auto& [name, value] : response.headers) {
        valid = valid && add(made.get(), name.c_str(), value);
    }
    if (last) valid = valid && add(made.get(), MHD_HTTP_HEADER_CONNECTION, "close");
    return valid && MHD_queue_response(connection, status, made.get()) == MHD_YES;
}

}  // namespace routemaster::detail
