-- Takes a job that no worker has out of where it stands. `state` is that of job_status().
local function take_out(q, job, id, state)
    if state == 3 then
        exhume(q, job, id)
    elseif redis.call('ZREM', P .. 'jobs:scheduled:' .. q, job) == 0 then
        note_deleted(q, job)
    end
end
