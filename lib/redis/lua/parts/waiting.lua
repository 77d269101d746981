-- Jobs that wait for other jobs. A waiting job is SCHEDULED at `never`. Its record has the ids of
-- the awaited jobs and its own due time. `routemaster:dependents:{q}` has an entry for each pair of
-- jobs: the id of the awaited job, colon, the id of the waiting job, both in 16 digits. The score
-- is the id of the awaited job. A flag in the record of the awaited job says whether it ever had a
-- pair. Most jobs thus need no lookup.

local function pair_of(awaited, waiting)
    return string.format('%016.0f:%016.0f', awaited, waiting)
end

-- Returns the element `after` of a record; see record.lua.
local function after_of(record) return more_of(record).after or {0, 0} end
local function is_waiting(record) return #after_of(record) > 2 end

local function set_after(record, after)
    local more = more_of(record)
    more.after = (after[1] ~= 0 or #after > 2) and after or nil
    record[4] = with_more(record[4], more)
end

-- Removes the entries of a waiting job. To be called before the job is removed or BURIED.
local function stop_waiting(q, id, record)
    local after = after_of(record)
    if #after == 2 then return end
    for i = 3, #after do
        redis.call('ZREM', P .. 'routemaster:dependents:' .. q, pair_of(after[i], id))
    end
    set_after(record, {after[1], 0})
end

-- Removes the entries of a removed job. Returns the jobs that waited for the removed job, and their
-- ids. Omits jobs that an older version of routemaster, without dependents, has already removed.
local function take_dependents(q, id)
    local dependents = P .. 'routemaster:dependents:' .. q
    local entries = redis.call('ZRANGE', dependents, id, id, 'BYSCORE')
    if #entries > 0 then redis.call('ZREM', dependents, unpack(entries)) end
    local jobs, ids = {}, {}
    for _, entry in ipairs(entries) do
        local waiting = tonumber(string.sub(entry, 18))
        local job = job_of(q, waiting)
        if job then
            jobs[#jobs + 1], ids[#ids + 1] = job, waiting
        end
    end
    return jobs, ids
end
