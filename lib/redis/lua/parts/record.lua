-- Jobs with ids: the jobs of all queues except `main` and `aux`. `routemaster:ids:{q}` has each job
-- with its id as the score. `routemaster:job:{q}` maps a job to its record in MessagePack. A job as
-- pushed with the default options has no record. A record is a list:
--   1   attempts
--   2   worker, or ""
--   3   attempts_max
--   4   timeout, or a list: [timeout, metadata], [timeout, metadata or "", priority], [timeout,
--       metadata or "", priority, further], or [timeout, metadata or "", priority, further or "",
--       more]
--   5   expires_at; 2^53 - 1 when absent
--   6   buried_at; -1 when the job is not BURIED; -2 when the job was cancelled; minus the time of
--       its lease while PENDING
--   7.. attempt, time and text of each error
-- If the time during which a job may fail is limited, the first error has attempt 0 and an empty
-- text. Its time is that of the first failure. `metadata` and `further` are MessagePack of maps.
-- `further` has rare options: `group`, `concurrency` unless it is 1, and `batch`. `more` is a map
-- of rare and changing values:
--   after  [1 if other jobs wait for this job or ever did, else 0; due time or 0; the ids of the
--          jobs to wait for]; see waiting.lua

local never = 9007199254740991

local function has_ids(q) return q ~= 'main' and q ~= 'aux' and q ~= 'main:callbacks' end

local function used_up(record) return record[3] > 0 and record[1] >= record[3] end

-- Decodes the record in a value of the hash. An unreadable record counts as absent.
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

-- Returns the ordering group of a job and its concurrency; nil for most jobs.
local function group_in(record)
    local packed = type(record[4]) == 'table' and record[4][4] or ''
    if packed == '' then return nil end
    local read, further = pcall(cmsgpack.unpack, packed)
    if not read or type(further) ~= 'table' or type(further.group) ~= 'string' then return nil end
    return further.group, tonumber(further.concurrency) or 1
end

local function more_of(record)
    local more = type(record[4]) == 'table' and record[4][5]
    return type(more) == 'table' and more or {}
end

-- Returns the fourth element of a record, built from `timeout`, as a push passes it, and from the
-- map `more`, which may be empty.
local function with_more(timeout, more)
    local parts = type(timeout) == 'table' and timeout or {timeout}
    local metadata, priority, further = parts[2] or '', parts[3] or 0, parts[4] or ''
    if next(more) ~= nil then return {parts[1], metadata, priority, further, more} end
    if further ~= '' then return {parts[1], metadata, priority, further} end
    if priority ~= 0 then return {parts[1], metadata, priority} end
    return metadata ~= '' and {parts[1], metadata} or parts[1]
end

-- Returns whether a record contains the time of the first failure.
local function is_failing(record) return record[7] == 0 and record[9] == '' end

-- The error of an attempt whose worker reported no result.
local unreported = 'the attempt ended without a report'

-- Counts the attempts that ended without a report since the job was pushed or kicked. Attempt
-- numbers increase from error to error. Where they do not, the job was kicked.
local function deaths_of(record)
    local last, below, deaths = #record, record[1] + 1, 0
    local first = is_failing(record) and 10 or 7
    while last >= first + 2 and record[last - 2] > 0 and record[last - 2] < below do
        if record[last] == unreported then deaths = deaths + 1 end
        below, last = record[last - 2], last - 3
    end
    return deaths
end

-- Returns whether a job must run alone. A job with two unreported attempts may have crashed its
-- workers.
local function needs_isolation(record) return #record > 6 and deaths_of(record) >= 2 end

-- Returns the delay before the next attempt, after unreported attempts: none after one, a second
-- after two, doubled with each further one, at most a minute.
local function wait_after_death(record)
    local deaths = deaths_of(record)
    return deaths < 2 and 0 or math.min(60000, 1000 * 2 ^ (deaths - 2))
end

-- Records that no worker has the job any more. If the attempt does not count, it is subtracted.
-- Returns whether the job was cancelled, and the record. Does nothing in queues without records.
-- `known` is the record, if already read.
local function end_attempt(q, job, counts, known)
    if not has_ids(q) then return end
    local record = known or record_of(q, job)
    record[2] = ''
    if record[6] < -2 then record[6] = -1 end
    if not counts then record[1] = math.max(record[1] - 1, 0) end
    save(q, job, record)
    return record[6] == -2, record
end

-- Returns the id of a job; 0 without an id.
local function id_of(q, job)
    return tonumber(redis.call('ZSCORE', P .. 'routemaster:ids:' .. q, job) or 0)
end

local function job_of(q, id)
    return redis.call('ZRANGE', P .. 'routemaster:ids:' .. q, id, id, 'BYSCORE')[1]
end
