-- BURIED jobs. `routemaster:buried:{q}` has the jobs, sorted by id for paging.
-- `routemaster:burials:{q}` has their ids, in 16 digits, sorted by the time of burial.

local function burial_of(id) return string.format('%016.0f', id) end

-- Undoes `bury`, but does not change the record.
local function exhume(q, job, id)
    redis.call('ZREM', P .. 'routemaster:buried:' .. q, job)
    redis.call('ZREM', P .. 'routemaster:burials:' .. q, burial_of(id))
end

-- Appends the error of the latest attempt. The record retains the last ten errors.
local function add_error(record, text)
    local size = #record
    record[size + 1], record[size + 2], record[size + 3] = record[1], now, text
    local first = is_failing(record) and 10 or 7
    if #record >= first + 3 * 10 then
        for _ = 1, 3 do table.remove(record, first) end
    end
end

-- Adds a job, which must be in no list, to the BURIED jobs. `in_hand`: see job_group.lua.
local function lay(q, job, id, record, in_hand)
    select(2, job_groups())(q, id, record, in_hand)
    leave_batch(record, 'buried')
    note_throughput(q, 'b')
    record[2], record[6] = '', now
    save(q, job, record)
    redis.call('ZADD', P .. 'routemaster:buried:' .. q, id, job)
    redis.call('ZADD', P .. 'routemaster:burials:' .. q, now, burial_of(id))
end

-- Buries the dependents of the job `gone`, which was removed without success. `fate` says why, for
-- their errors. Does not enforce the limit of 10,000 BURIED jobs, because dropping a job would bury
-- its own dependents, and so on without a bound. Returns how many jobs were buried, at most 1,000.
local function bury_dependents(q, gone, fate)
    local jobs, ids = take_dependents(q, gone)
    for i, job in ipairs(jobs) do
        local record = record_of(q, job)
        stop_waiting(q, ids[i], record)
        redis.call('ZREM', P .. 'jobs:scheduled:' .. q, job)
        unrank(q, ids[i], record)
        add_error(record, string.format('job %.0f, which it waited for, %s', gone, fate))
        lay(q, job, ids[i], record)
    end
    return #jobs
end

-- Buries a job, which must be in no list. Then drops the oldest BURIED jobs beyond 10,000, at most
-- two: one for this job, and one for a job added by bury_dependents(). Dropping a job buries its
-- dependents. Returns how many dependents were buried. `in_hand`: see job_group.lua.
local function bury(q, job, record, in_hand)
    lay(q, job, id_of(q, job), record, in_hand)
    local burials, others = P .. 'routemaster:burials:' .. q, 0
    for _ = 1, 2 do
        if redis.call('ZCARD', burials) <= 10000 then break end
        local first = redis.call('ZRANGE', burials, 0, 0)[1]
        local gone = job_of(q, tonumber(first))
        redis.call('ZREM', burials, first)
        if gone then
            redis.call('ZREM', P .. 'routemaster:buried:' .. q, gone)
            leave_batch(record_of(q, gone), 'forgotten')
            forget(q, gone)
            count('jobs.forgotten', q, 1)
            others = others + bury_dependents(q, tonumber(first), 'was forgotten')
        end
    end
    return others
end

local function bury_unreported(q, job, record, in_hand)
    add_error(record, unreported)
    return bury(q, job, record, in_hand)
end
