-- DropDeadTimers: removes DEAD timers.
-- KEYS  1 {namespace}:routemaster:dead
-- ARGV  1 prefix, 2 now, 3 fleet, 4 namespace, 5 id or "" for all
-- Reply: the number of timers removed.
expect_timers()
return each_dead(function(id) redis.call('HDEL', confirm, id) end)
