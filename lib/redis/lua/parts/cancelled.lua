-- Jobs that were cancelled while a worker had them: their records say -2 for when they were BURIED.

-- Ends a job that was cancelled and is nowhere.
local function drop_cancelled(q, job)
    local id = id_of(q, job)
    count('jobs.cancelled', q, 1)
    leave_batch(record_of(q, job), 'cancelled')
    forget(q, job)
    bury_dependents(q, id, 'was cancelled')
    select(2, queue_names())(q)
end
