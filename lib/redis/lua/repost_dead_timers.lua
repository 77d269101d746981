-- RepostDeadTimers: makes DEAD timers PENDING again, and resets their retries.
-- KEYS  1 {namespace}:routemaster:dead
-- ARGV  1 prefix, 2 now, 3 fleet, 4 namespace, 5 id or "" for all, 6 due_at
-- Reply: the number of timers posted.
expect_timers()
local total = each_dead(function(id, event)
    redis.call('ZADD', pending, ARGV[6], id)
    redis.call('HSET', events, id, with_count(event))
end)
if total > 0 then tell_of(tonumber(ARGV[6])) end
return total
