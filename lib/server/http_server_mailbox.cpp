#include "http_server_mailbox.hpp"

#include <sys/eventfd.h>

#include <utility>

#include "http_server_connection.hpp"
#include "routemaster/error.hpp"

namespace routemaster::detail {

Mailbox::Mailbox() : wake_{eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)} {
    if (!wake_) throw Failure{{Errc::unavailable, "http server: no file descriptor left"}};
}

template <class Put>
void Mailbox::post_with(Put put) {
    {
        const std::lock_guard lock{mutex_};
        if (closed_) return;
        put(mail_);
        if (std::exchange(has_mail_, true)) return;
    }
    eventfd_write(wake_.get(), 1);
}

void Mailbox::post(Answer answer) {
    post_with([&](Mail& mail) { mail.answers.push_back(std::move(answer)); });
}

void Mailbox::post(FileDescriptor client) {
    post_with([&](Mail& mail) { mail.clients.push_back(std::move(client)); });
}

void Mailbox::evict() {
    post_with([](Mail& mail) { ++mail.evictions; });
}

void Mailbox::stop(std::chrono::steady_clock::time_point deadline) {
    post_with([&](Mail& mail) { mail.stop_at = deadline; });
}

void Mailbox::take(Mail& mail) {
    const std::lock_guard lock{mutex_};
    std::swap(mail, mail_);
    has_mail_ = false;
}

void Mailbox::close(Mail& mail) {
    const std::lock_guard lock{mutex_};
    std::swap(mail, mail_);
    closed_ = true;
}

Ticket::~Ticket() {
    if (used_.load(std::memory_order_acquire)) return;
    deliver({connection_, {}, true});
}

void Ticket::answer(HttpResponse response) {
    if (used_.exchange(true, std::memory_order_acq_rel)) return;
    deliver({connection_, std::move(response)});
}

void Ticket::deliver(Answer answer) {
    // Inside the handler of this very request, so on the loop's own thread: nothing waits yet,
    // and nothing needs to be posted.
    if (Connection::handled_here == connection_) {
        connection_->take(std::move(answer));
    } else {
        mailbox_->post(std::move(answer));
    }
}

}  // namespace routemaster::detail
