-- DropDeadTimers: forgets DEAD timers.
-- KEYS  1 {space}:routemaster:dead
-- ARGV  1 prefix, 2 now, 3 fleet, 4 space, 5 id or "" for all
-- Reply: how many.
expect_timers()
return each_dead(function(id) redis.call('HDEL', confirm, id) end)
