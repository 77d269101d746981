-- BURIED jobs. `routemaster:buried:{q}` has the id of each as its score, for pages;
-- `routemaster:burials:{q}` their ids, all of 16 digits, by the time of their burial.

local function burial_of(id) return string.format('%016.0f', id) end

-- Undoes `bury`, without its record.
local function exhume(q, job, id)
    redis.call('ZREM', P .. 'routemaster:buried:' .. q, job)
    redis.call('ZREM', P .. 'routemaster:burials:' .. q, burial_of(id))
end

-- Keeps the error of the latest attempt, and the last ten.
local function add_error(record, text)
    local size = #record
    record[size + 1], record[size + 2], record[size + 3] = record[1], now, text
    local first = record[7] == 0 and 10 or 7
    if #record >= first + 3 * 10 then
        for _ = 1, 3 do table.remove(record, first) end
    end
end

local function used_up(record) return record[3] > 0 and record[1] >= record[3] end

-- Makes a job that is nowhere BURIED, and drops the one that was buried first beyond 10,000.
-- `in_hand`: see job_group.lua.
local function bury(q, job, record, in_hand)
    local id = id_of(q, job)
    select(2, job_groups())(q, id, record, in_hand)
    local burials = P .. 'routemaster:burials:' .. q
    record[2], record[6] = '', now
    save(q, job, record)
    redis.call('ZADD', P .. 'routemaster:buried:' .. q, id, job)
    redis.call('ZADD', burials, now, burial_of(id))
    if redis.call('ZCARD', burials) <= 10000 then return end
    local first = redis.call('ZRANGE', burials, 0, 0)[1]
    local gone = job_of(q, tonumber(first))
    redis.call('ZREM', burials, first)
    if not gone then return end
    redis.call('ZREM', P .. 'routemaster:buried:' .. q, gone)
    forget(q, gone)
    count('jobs.forgotten', q, 1)
end
