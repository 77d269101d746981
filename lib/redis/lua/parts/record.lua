-- Jobs that have ids: those of all queues but Ruby Routemaster's. `routemaster:ids:{q}` has the id
-- of each as its score. `routemaster:job:{q}` has a record of each that is not as a push with the
-- default options leaves it: MessagePack of [attempts, worker or "", attempts_max, timeout or
-- [timeout, metadata] or [timeout, metadata or "", priority] or [timeout, metadata or "", priority,
-- further] or [timeout, metadata or "", priority, further or "", more], expires_at, buried_at, -1,
-- or -2 when it was cancelled, or, while PENDING, minus the time of its lease, then attempt, time
-- and text of each error]. An error of attempt 0 without a text, which is the first, says when the
-- job failed first, if the time that it may go on failing is limited. `further` is MessagePack of a
-- map of options that few jobs have: group, and concurrency unless it is 1. `more` is a map of what
-- few jobs have, and what changes:
--   after  [1 if others wait for it, or did so once, else 0, when it falls due or 0, and the ids of
--          the jobs that it waits for]; see waiting.lua

local never = 9007199254740991

local function has_ids(q) return q ~= 'main' and q ~= 'aux' and q ~= 'main:callbacks' end

local function used_up(record) return record[3] > 0 and record[1] >= record[3] end

-- The record in a value of the hash. One that cannot be read counts as absent.
local function record_in(packed)
    if packed then
        local read, record = pcall(cmsgpack.unpack, packed)
        if read and type(record) == 'table' and #record >= 6 then return record end
    end
    return {0, '', 25, 0, never, -1}
end

local function record_of(q, job)
    return record_in(redis.call('HGET', P .. 'routemaster:job:' .. q, job))
end

local function save(q, job, record)
    local key = P .. 'routemaster:job:' .. q
    local a = record
    if #a == 6 and a[1] == 0 and a[2] == '' and a[3] == 25 and a[4] == 0 and a[5] == never and
        a[6] == -1 then
        redis.call('HDEL', key, job)
    else
        redis.call('HSET', key, job, cmsgpack.pack(record))
    end
end

local function priority_in(record)
    return type(record[4]) == 'table' and record[4][3] or 0
end

-- The ordering group of a job, and how many of that may be under way; nil for most.
local function group_in(record)
    local packed = type(record[4]) == 'table' and record[4][4] or ''
    if packed == '' then return nil end
    local read, further = pcall(cmsgpack.unpack, packed)
    if not read or type(further) ~= 'table' or type(further.group) ~= 'string' then return nil end
    return further.group, tonumber(further.concurrency) or 1
end

-- What few jobs have, and what changes.
local function more_of(record)
    local more = type(record[4]) == 'table' and record[4][5]
    return type(more) == 'table' and more or {}
end

-- What stands in a record as the timeout of a job, which has `more` besides; that may be empty.
local function with_more(timeout, more)
    local parts = type(timeout) == 'table' and timeout or {timeout}
    local metadata, priority, further = parts[2] or '', parts[3] or 0, parts[4] or ''
    if next(more) ~= nil then return {parts[1], metadata, priority, further, more} end
    if further ~= '' then return {parts[1], metadata, priority, further} end
    if priority ~= 0 then return {parts[1], metadata, priority} end
    return metadata ~= '' and {parts[1], metadata} or parts[1]
end

-- Whether a record says since when its job has been failing.
local function is_failing(record) return record[7] == 0 and record[9] == '' end

-- The error of an attempt that its worker never reported on.
local unreported = 'the attempt ended without a report'

-- How many attempts ended so since the job was pushed or kicked: the errors of those before are
-- not followed by later ones.
local function deaths_of(record)
    local last, below, deaths = #record, record[1] + 1, 0
    local first = is_failing(record) and 10 or 7
    while last >= first + 2 and record[last - 2] > 0 and record[last - 2] < below do
        if record[last] == unreported then deaths = deaths + 1 end
        below, last = record[last - 2], last - 3
    end
    return deaths
end

-- Whether it was perhaps the job that ended its workers.
local function needs_isolation(record) return #record > 6 and deaths_of(record) >= 2 end

-- How long a job waits then: a second, twice as long with each, and at most a minute.
local function wait_after_death(record)
    local deaths = deaths_of(record)
    return deaths < 2 and 0 or math.min(60000, 1000 * 2 ^ (deaths - 2))
end

-- Records that a job is with no worker any more, and, unless its attempt counts, that it never
-- began. Returns whether it was cancelled, and the record. Does nothing where jobs have no records.
-- `known` is the record, where somebody has read it.
local function end_attempt(q, job, counts, known)
    if not has_ids(q) then return end
    local record = known or record_of(q, job)
    record[2] = ''
    if record[6] < -2 then record[6] = -1 end
    if not counts then record[1] = math.max(record[1] - 1, 0) end
    save(q, job, record)
    return record[6] == -2, record
end

-- The id of a job.
local function id_of(q, job)
    return tonumber(redis.call('ZSCORE', P .. 'routemaster:ids:' .. q, job) or 0)
end

-- The job of that id; nil when there is none.
local function job_of(q, id)
    return redis.call('ZRANGE', P .. 'routemaster:ids:' .. q, id, id, 'BYSCORE')[1]
end
