/// @file
/// The store on a Redis server, in the layout of Ruby Routemaster: many processes, one bus.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "routemaster/log.hpp"
#include "routemaster/publication.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store.hpp"
#include "routemaster/time.hpp"

namespace routemaster {

/// The address of a server.
struct RedisAddress {
    std::string host = "localhost";
    std::uint16_t port = 6'379;
    friend bool operator==(const RedisAddress&, const RedisAddress&) = default;
};

/// Settings of a `RedisStore`.
struct RedisOptions {
    /// The server, or any nodes of the cluster, or the sentinels: tried in turn. At least one.
    std::vector<RedisAddress> addresses{RedisAddress{}};
    std::string sentinel_master{};  ///< Not empty: `addresses` are sentinels watching this master.
    /// Empty: the server's default user. One with restricted permissions needs AUTH, INFO, ROLE,
    /// TIME, SELECT where there is a database, SCRIPT LOAD, EVALSHA, SUBSCRIBE, PUBLISH, and all
    /// commands on keys; its keys and channels begin with the prefix.
    std::string user{};
    std::string password{};  ///< Empty: no AUTH.
    std::uint32_t database = 0;
    bool tls = false;           ///< Verified against the system's authorities, or `tls_ca_file`.
    std::string tls_ca_file{};  ///< Authorities to trust instead of the system's.
    /// Prefix of every key. With a hash tag, as in `{bus}:`, all are in one slot of a cluster.
    std::string prefix{};
    /// Ruby processes share the server: every READY job stays where their workers find it.
    /// docs/redis-keys.md says how much of the order that leaves. What would crash those workers is
    /// `invalid`: topics and URLs of events must follow the rules of Ruby Routemaster, callbacks
    /// the grammar of URLs, and jobs of `aux` be among those that Ruby workers know. Ruby processes
    /// send no wake-ups: let a `Dispatcher` poll often.
    bool mixed_fleet = false;
    /// Bytes of MessagePack that the data of an event may take in a mixed fleet; more is `invalid`.
    std::size_t event_data_max = event_data_max_ruby;
    /// How long a step may wait for its reply. A server that is silent for longer counts as lost.
    Duration timeout{5'000};
    /// Steps that may wait for a reply; further ones are `unavailable` at once.
    std::size_t waiting_max = 100'000;
    std::string client_name = "routemaster";  ///< As CLIENT LIST shows it.
    Log log{};
};

/// Parses a URL: `redis://[[user]:password@]host[:port][,host[:port]...][/database][?setting&...]`,
/// `rediss://...` for TLS, `redis+sentinel://host[:port],.../master[/database]` for the master that
/// sentinels watch (default port 26379), `rediss+sentinel://...` for the same over TLS. Settings:
/// `prefix`, `mixed_fleet=yes`, `timeout=MS`, `ca_file`. Names and values may be percent-encoded.
/// `invalid`, naming what is wrong, for anything else.
[[nodiscard]] Result<RedisOptions> parse_redis_url(std::string_view url);

/// Keeps the bus on a Redis server, 7.0 or newer, under the keys that docs/redis-keys.md describes.
/// Any number of processes may share it, including those of Ruby Routemaster.
///
/// A step is one script and so atomic. Steps that wait at the same time are sent together. A step
/// is as durable as the server makes it (appendonly, replicas). A step that could not be done is
/// `unavailable`; one whose reply was lost is `timed_out`, and its own description says what
/// repeating it does. The store reconnects by itself: after a restart, a failover, a moved slot.
///
/// All times are the server's: the store measures the offset of the caller's clock and corrects for
/// it.
///
/// Jobs that fall due in the same millisecond are acquired in the order of their bytes.
///
/// Thread safety: all members may be called from any thread. It has one thread of its own, on which
/// completions are called.
class RedisStore final : public Store {
public:
    /// Starts to connect, and waits for it no longer than `options.timeout`. Throws `Failure`:
    /// `unavailable` when no server was found; `invalid` when the options are inconsistent or the
    /// server is too old.
    explicit RedisStore(RedisOptions options);

    /// Ends without waiting for replies: open steps become `cancelled` or `timed_out`.
    ~RedisStore() override;

    void submit(std::span<Step> steps, TimePoint now, Completion done) override;
    /// As `Store` says. A watch for timers waits, for no longer than `options.timeout`, until the
    /// server tells this process of them; it does not wait inside a completion, nor while there is
    /// no connection.
    [[nodiscard]] Watch watch(const std::string& queue, std::function<void()> wake) override;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
