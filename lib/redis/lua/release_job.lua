-- ReleaseJob: releases a job without counting its attempt. The job is due again at run_at.
-- KEYS  1 jobs:index:{q}
-- ARGV  1 prefix, 2 now, 3 fleet, 4 queue, 5 job, 6 worker, 7 fence, 8 id or 0, 9 run_at
-- Reply: 1, or 0 when the lease is lost.
return put_back(false)
