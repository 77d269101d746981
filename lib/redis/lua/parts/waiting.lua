-- Jobs that wait for others. Such a job is SCHEDULED at `never`, and its record says which jobs it
-- waits for, and when it falls due by itself. `routemaster:dependents:{q}` has an entry for each
-- job that waits for another: both ids, of 16 digits, at the id of the other. The record of the
-- other says that there is one, or was, so that nobody has to look there when another job is done.

local function pair_of(awaited, waiting)
    return string.format('%016.0f:%016.0f', awaited, waiting)
end

-- What a record says about others: see record.lua.
local function after_of(record) return more_of(record).after or {0, 0} end
local function is_waiting(record) return #after_of(record) > 2 end

local function set_after(record, after)
    local more = more_of(record)
    more.after = (after[1] ~= 0 or #after > 2) and after or nil
    record[4] = with_more(record[4], more)
end

-- A job that waits is about to end, or to be BURIED.
local function stop_waiting(q, id, record)
    local after = after_of(record)
    if #after == 2 then return end
    for i = 3, #after do
        redis.call('ZREM', P .. 'routemaster:dependents:' .. q, pair_of(after[i], id))
    end
    set_after(record, {after[1], 0})
end

-- Those that wait for a job, which is gone, and their ids. A version that does not know of them may
-- have ended some.
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
