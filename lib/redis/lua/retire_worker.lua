-- RetireWorker: removes a worker and releases its jobs, which are due at once.
-- KEYS  1 workers
-- ARGV  1 prefix, 2 now, 3 fleet, 4 worker
-- Effect: releases at most 1,000 jobs, and at most 4 MiB of jobs or one larger job, so the server
--         is not blocked for long. The attempts do not count. In a mixed deployment, also unblocks
--         jobs, because this may be the last worker of routemaster.
-- Reply: the number of jobs released, and 1 if there is more to do, else 0.
expect('HLEN', 'workers', 'counters', 'routemaster:scrubbed')
local queues = all_queues()
expect_workers(queues, {ARGV[4]})
local total, gone = retire(ARGV[4], queues, 1000, new_slice(), false, function() end)
if mixed then
    total = total + release(1000 - total)
    gone = gone and redis.call('EXISTS', P .. 'routemaster:blocked:main') == 0
end
if ARGV.batches then select(2, cancellations())() end
return {total, gone and 0 or 1}
