-- LeaveTimers: removes a listener.
-- KEYS  1 {namespace}:ch
-- ARGV  1 prefix, 2 now, 3 fleet, 4 namespace, 5 listener
-- Reply: 1.
expect_timers()
leave(T .. 'ch:' .. ARGV[5])
tell()
return 1
