-- RetireWorker: gives back at once what a worker holds, and forgets it.
-- KEYS  1 workers
-- ARGV  1 prefix, 2 now, 3 mixed, 4 worker
-- Reply: the number of jobs given back.
return retire(ARGV[4], function() end)
