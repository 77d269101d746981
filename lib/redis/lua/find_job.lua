-- FindJob: returns the status of a job.
-- KEYS  1 jobs:index:{q}
-- ARGV  1 prefix, 2 now, 3 fleet, 4 queue, 5 id
-- Reply: job_status(), or nil when the job does not exist.
local q = ARGV[4]
local job = job_of(q, ARGV[5])
if not job then return false end
local record = record_of(q, job)
return job_status(q, job, tonumber(ARGV[5]), record, state_of(q, job, record))
