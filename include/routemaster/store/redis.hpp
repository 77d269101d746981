/// @file
/// `RedisStore`: a store on a Redis server, shared by many processes, with the keys of Ruby
/// Routemaster.

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
    /// The server, or some nodes of the cluster, or the sentinels. They are tried in order. At
    /// least one address.
    std::vector<RedisAddress> addresses{RedisAddress{}};
    /// If not empty, `addresses` are sentinels, and this is the name of the master.
    std::string sentinel_master{};
    /// Empty: the server's default user. A user with restricted permissions needs AUTH, INFO, ROLE,
    /// TIME, SELECT if `database` is set, SCRIPT LOAD, EVALSHA, SUBSCRIBE, PUBLISH, and all
    /// commands on keys. Keys and channels begin with `prefix`.
    std::string user{};
    std::string password{};  ///< Empty: no AUTH.
    std::uint32_t database = 0;
    /// Whether to use TLS. The system's CA certificates are trusted, or those in `tls_ca_file`.
    bool tls = false;
    std::string tls_ca_file{};  ///< CA certificates to trust instead of the system's.
    /// Prefix of every key. With a hash tag, as in `{bus}:`, all keys are in one slot of a cluster.
    std::string prefix{};
    /// Whether this is a mixed deployment: Ruby processes share the server. READY jobs then remain
    /// in the keys that Ruby workers read. docs/redis-keys.md describes how this affects the order
    /// of jobs. Data that would crash Ruby workers are `invalid`: topics and URLs of events must
    /// satisfy the rules of Ruby Routemaster, callbacks must satisfy the grammar of URLs, and Ruby
    /// workers must know the jobs of `aux`. Ruby processes send no wake-ups, so a `Dispatcher`
    /// needs a short `poll_interval`.
    bool mixed_fleet = false;
    /// Maximum size of an event's data in a mixed deployment, in bytes of MessagePack; larger data
    /// are `invalid`.
    std::size_t event_data_max = event_data_max_ruby;
    /// Timeout of a step. If no reply arrives for this long, the connection to the server counts as
    /// lost.
    Duration timeout{5'000};
    /// Maximum number of steps that wait for a reply. Further steps are `unavailable` at once.
    std::size_t waiting_max = 100'000;
    std::string client_name = "routemaster";  ///< Name of the connections in CLIENT LIST.
    Log log{};
};

/// Parses a URL: `redis://[[user]:password@]host[:port][,host[:port]...][/database][?setting&...]`,
/// `rediss://...` for TLS, `redis+sentinel://host[:port],.../master[/database]` for the master that
/// sentinels watch (default port 26379), `rediss+sentinel://...` for sentinels with TLS. Settings:
/// `prefix`, `mixed_fleet=yes`, `timeout=MS`, `ca_file`. Names and values may be percent-encoded.
/// Any other text is `invalid`; the error names the cause.
[[nodiscard]] Result<RedisOptions> parse_redis_url(std::string_view url);

/// Store on a Redis server, version 7.0 or newer, with the keys that docs/redis-keys.md
/// describes. Any number of processes may share the server, including processes of Ruby
/// Routemaster.
///
/// **Steps.** Each step is one Lua script, and therefore atomic. Steps that wait at the same time
/// are pipelined. A step is as durable as the server's configuration makes it (appendonly,
/// replicas). A step that could not be performed is `unavailable`. A step whose reply was lost is
/// `timed_out`; the comment of the step documents a repetition. The store reconnects by itself
/// after a restart, a failover, or the move of a slot.
///
/// **Time.** All times refer to the server's clock: the store measures the offset of the caller's
/// clock and corrects for it. Jobs due in one millisecond are acquired in the order of their bytes.
///
/// Thread safety: all members may be called from any thread. The store has one thread, which calls
/// the completions.
class RedisStore final : public Store {
public:
    /// Connects, and waits for the connection up to `options.timeout`. Throws `Failure`:
    /// `unavailable` if no server was found; `invalid` if the options are inconsistent or the
    /// server is too old.
    explicit RedisStore(RedisOptions options);

    /// Does not wait for replies: unfinished steps return `cancelled` or `timed_out`.
    ~RedisStore() override;

    void submit(std::span<Step> steps, TimePoint now, Completion done) override;
    /// See `Store::watch`. For timers, blocks up to `options.timeout` until the server
    /// has confirmed the subscription, except inside a completion, or without a
    /// connection.
    [[nodiscard]] Watch watch(const std::string& queue, std::function<void()> wake) override;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
