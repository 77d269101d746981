-- Checks the jobs for which a push is to wait. `ids` are sorted and distinct. Returns the ids of
-- jobs that still exist in the queue, in order. Returns nil and the reason if the push may not wait
-- for a job.
local function present(q, ids)
    local last = tonumber(redis.call('GET', P .. 'routemaster:job_id') or 0)
    if not last then error({err = 'ERR routemaster:job_id is no number'}) end
    if ids[#ids] > last then
        return nil, string.format('after: no job has had the id %.0f', ids[#ids])
    end
    local found = {}
    for _, id in ipairs(ids) do
        if job_of(q, id) then
            if redis.call('ZCOUNT', P .. 'routemaster:dependents:' .. q, id, id) >= 1000 then
                return nil, string.format('after: 1000 jobs wait for job %.0f already', id)
            end
            found[#found + 1] = id
        end
    end
    return found
end

-- Makes a new job wait for existing jobs with the ids `others`. Adds these ids and `at` to the
-- record: the due time that the new job has apart from the waiting. The caller stores the record.
-- Returns the due time under which to schedule the job: `never`, or `at` if the list is empty.
local function begin_waiting(q, id, record, others, at)
    if #others == 0 then return at end
    for _, other in ipairs(others) do
        local job = job_of(q, other)
        local awaited = record_of(q, job)
        local after = after_of(awaited)
        if after[1] == 0 then
            after[1] = 1
            set_after(awaited, after)
            save(q, job, awaited)
        end
        redis.call('ZADD', P .. 'routemaster:dependents:' .. q, other, pair_of(other, id))
    end
    set_after(record, {0, at, unpack(others)})
    return never
end
