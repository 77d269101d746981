-- DeleteJob: deletes a job that is not leased.
-- KEYS  1 jobs:index:{q}
-- ARGV  1 prefix, 2 now, 3 fleet, 4 queue, 5 id
-- Reply: 1, or 0 when the job does not exist, or 2 when it is PENDING.
local q = ARGV[4]
expect_queue(q)
local id = tonumber(ARGV[5])
local job = job_of(q, id)
if not job then return 0 end
local record = record_of(q, job)
local state = state_of(q, job, record)
if state == 2 then return 2 end
take_out(q, job, id, state, record)
leave_batch(record, 'cancelled')
forget(q, job)
bury_dependents(q, id, 'was deleted')
select(2, queue_names())(q)
settle_batches()
return 1
