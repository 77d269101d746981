-- RetireWorker: gives back at once what a worker holds, and forgets it.
-- KEYS  1 workers
-- ARGV  1 prefix, 2 now, 3 fleet, 4 worker
-- Effect: gives back at most 1,000 jobs, so that the server is not kept long. In a mixed fleet also
--         what is blocked, since this may be the last worker that knows of it.
-- Reply: the number of jobs given back.
expect('HLEN', 'workers')
local queues = all_queues()
expect_workers(queues, {ARGV[4]})
local total = retire(ARGV[4], queues, 1000, function() end)
if mixed then total = total + release(1000 - total) end
return total
