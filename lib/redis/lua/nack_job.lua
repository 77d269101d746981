-- NackJob: releases a job, to run again at an instant.
-- KEYS  1 jobs:index:{q}
-- ARGV  1 prefix, 2 now, 3 fleet, 4 queue, 5 job, 6 worker, 7 fence, 8 run_at
-- Reply: 1, or 0 when the lease is lost.
local job = ARGV[5]
local q = held_in(ARGV[4], job, ARGV[6], ARGV[7])
if not q then return 0 end
expect_queue(ARGV[4])
expect('LLEN', 'jobs:pending:' .. q .. ':' .. ARGV[6])
if not end_lease(q, job, ARGV[6], ARGV[7]) then return 0 end
redis.call('SADD', KEYS[1], job)
place(q, job, tonumber(ARGV[8]))
return 1
