-- RetireWorker: gives back at once what a worker holds, and forgets it.
-- KEYS  1 workers
-- ARGV  1 prefix, 2 now, 3 mixed, 4 worker
-- Effect: gives back at most 1,000 jobs, so that the server is not kept long.
-- Reply: the number of jobs given back.
expect('HLEN', 'workers')
return (retire(ARGV[4], 1000, function() end))
