-- FindJobBatch: returns a batch of jobs.
-- KEYS  1 routemaster:job_batches
-- ARGV  1 prefix, 2 now, 3 fleet, 4 id
-- Reply: job_batch_reply(), or nil.
return job_batch_reply(ARGV[4])
