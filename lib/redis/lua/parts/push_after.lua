-- Checks the jobs that a push has to wait for. `ids` are sorted and distinct. Returns the ids of
-- the jobs that still exist in the queue, in order. If the push may not wait for one of them,
-- returns nil and the reason.
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

-- Makes a new job wait for the jobs `others`, which exist. The record then has their ids and `at`,
-- the due time of the new job without the wait. The caller saves the record. Returns the time for
-- which to place the job: `never`, or `at` when `others` is empty.
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
