-- Jobs that were cancelled while a worker had their lease. Their records have -2 as `buried_at`.

-- Removes a cancelled job, which must be in no list.
local function drop_cancelled(q, job)
    local id = id_of(q, job)
    count('jobs.cancelled', q, 1)
    leave_batch(record_of(q, job), 'cancelled')
    forget(q, job)
    bury_dependents(q, id, 'was cancelled')
    select(2, queue_names())(q)
end
