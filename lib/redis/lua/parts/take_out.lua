-- Removes a job, which must not be leased, from its list. `state` is numbered as in job_status().
local function take_out(q, job, id, state, record)
    if state == 3 then return exhume(q, job, id) end
    stop_waiting(q, id, record)
    local had_rank = unrank(q, id, record)
    local was_held = false
    if group_in(record) then
        local _, _, _, is_held, _, stop_throttling = job_groups()
        was_held = is_held(q, id) or stop_throttling(q, id, record)
    end
    if redis.call('ZREM', P .. 'jobs:scheduled:' .. q, job) == 0 and not had_rank and
        not was_held then
        note_deleted(q, job)
    end
end
