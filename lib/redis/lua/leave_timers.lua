-- LeaveTimers: a listener leaves.
-- KEYS  1 {space}:ch
-- ARGV  1 prefix, 2 now, 3 fleet, 4 space, 5 listener
-- Reply: 1.
expect_timers()
leave(T .. 'ch:' .. ARGV[5])
tell()
return 1
