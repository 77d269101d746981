#include "stream.hpp"

#include <poll.h>

#include <utility>

namespace routemaster::redis {

namespace {

bool is_for_now(int code) { return code == EAGAIN || code == EWOULDBLOCK || code == EINTR; }

class PlainStream final : public Stream {
public:
    explicit PlainStream(Socket socket) : socket_{std::move(socket)} {}

    Result<bool> begin() override { return true; }

    Result<std::size_t> read(std::span<char> buffer) override {
        const auto size = ::recv(socket_.descriptor(), buffer.data(), buffer.size(), 0);
        if (size == 0) return Error{Errc::unavailable, "closed by the server"};
        return moved(size);
    }

    Result<std::size_t> write(std::string_view bytes) override {
        return moved(::send(socket_.descriptor(), bytes.data(), bytes.size(), MSG_NOSIGNAL));
    }

    [[nodiscard]] short poll_events(bool writing) const override {
        return writing ? POLLIN | POLLOUT : POLLIN;
    }

    [[nodiscard]] int descriptor() const override { return socket_.descriptor(); }

private:
    static Result<std::size_t> moved(ssize_t size) {
        if (size >= 0) return static_cast<std::size_t>(size);
        if (is_for_now(errno)) return std::size_t{0};
        return Error{Errc::unavailable, errno_text()};
    }

    Socket socket_;
};

}  // namespace

std::unique_ptr<Stream> plain_stream(Socket socket) {
    return std::make_unique<PlainStream>(std::move(socket));
}

}  // namespace routemaster::redis
