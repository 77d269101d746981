-- RemoveJobBatch: removes a batch of jobs, but not its jobs.
-- KEYS  1 routemaster:job_batches
-- ARGV  1 prefix, 2 now, 3 fleet, 4 id
-- Reply: 1, or 0 when the batch does not exist.
expect('HLEN', 'routemaster:job_batch:' .. ARGV[4], batch_names)
expect('ZCARD', batches_open, batches_ended, batch_ends_at)
if redis.call('EXISTS', P .. 'routemaster:job_batch:' .. ARGV[4]) == 0 then return 0 end
forget_batch(ARGV[4])
return 1
