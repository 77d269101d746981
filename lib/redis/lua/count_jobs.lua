-- CountJobs: counts the jobs of a queue by state.
-- KEYS  1 jobs:index:{q}
-- ARGV  1 prefix, 2 now, 3 fleet, 4 queue
-- Reply: queue_status().
return queue_status(ARGV[4])
