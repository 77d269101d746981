-- Removes a completed job from the lists of its waiting jobs. If a job then waits for no further
-- job, it becomes READY or SCHEDULED. At most 1,000 jobs can wait for a job.
local function release_dependents(q, id)
    for _, job in ipairs(take_dependents(q, id)) do
        local record = record_of(q, job)
        local before = after_of(record)
        local after = {before[1], before[2]}
        for i = 3, #before do
            if before[i] ~= id then after[#after + 1] = before[i] end
        end
        if #after == 2 then after[2] = 0 end
        set_after(record, after)
        save(q, job, record)
        if #after == 2 then
            redis.call('ZREM', P .. 'jobs:scheduled:' .. q, job)
            place_by(q, job, math.max(before[2], now), record)
        end
    end
end
