-- The status of a job, as job_status() replies it: id, state (0 SCHEDULED, 1 READY, 2 PENDING, 3
-- BURIED), job, run_at of a SCHEDULED job or 0, key or "", scope, until, then the elements of its
-- record: attempts, worker or "", attempts_max, timeout, expires_at, buried_at, then attempt, time
-- and text of each error. `timeout` has the form described in record.lua. While the job waits for
-- other jobs, the fifth element of `timeout` is the list of their ids. `buried_at` is -2 for a
-- cancelled job, and another number below 0 for a job that is not BURIED.
local function state_of(q, job, record)
    if record[2] ~= '' then return 2 end
    if record[6] >= 0 then return 3 end
    local run_at = tonumber(redis.call('ZSCORE', P .. 'jobs:scheduled:' .. q, job))
    if run_at and run_at > now then
        return 0, is_waiting(record) and after_of(record)[2] or run_at
    end
    return 1
end

local function job_status(q, job, id, record, state, run_at)
    local keyed = is_keyed(job) and keyed_of(q, job) or {job, '', 0, 0}
    local status = {id, state, keyed[1], run_at or 0, keyed[2], keyed[3], keyed[4]}
    for i = 1, #record do status[7 + i] = record[i] end
    if is_waiting(record) then
        local timeout, after = record[4], after_of(record)
        status[11] = {timeout[1], timeout[2], timeout[3], timeout[4], {unpack(after, 3)}}
    end
    return status
end
