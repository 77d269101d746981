-- AcquireJobs for a queue whose jobs have ids: makes up to 1,000 due jobs READY, then leases READY
-- jobs to a worker. For `main` and `aux` see acquire_ruby_jobs.lua.
-- KEYS  1 jobs:instant:{q}
-- ARGV  1 prefix, 2 now, 3 fleet, 4 queue, 5 worker, 6 limit, 7 the newest fence known to the
--       worker, or 0 to get all its leases again, 8 the newest fence the worker ever got, 9 the
--       process of the worker, 10 "1" to explain the first job
-- Parts: rate_limits() defines the functions for a queue with rate limits, explanations() the
--        functions to explain a job.
-- Effect: also a heartbeat. Counts the attempts. Drops expired jobs, and buries jobs without
--         attempts left. A process has at most one job in need of isolation; further such jobs are
--         delayed by up to a second. In a paused queue, no job becomes READY or is leased. Leases
--         no more jobs than the rate limits have tokens. Leases at most 4 MiB of jobs, and drops or
--         buries at most 4 MiB of jobs with their errors; the first job of each kind is always
--         accepted.
-- Reply: when the next job is due, or nil; to explain a job, a list of this time, job_status(), and
--        queue_status() before the acquisition. Then for each lease: fence, job, id, attempts, and
--        timeout or [timeout, metadata]. First the leases whose reply was lost, then the new
--        leases. A lease already received by the worker has its fence and four nils.
local q, worker, limit, known = ARGV[4], ARGV[5], tonumber(ARGV[6]), tonumber(ARGV[7])
local leases = P .. 'routemaster:leases:' .. worker
local newest = tonumber(redis.call('HGET', leases, 'newest') or 0)
local fence = tonumber(redis.call('GET', P .. 'routemaster:fence') or 0)
if not newest or not fence then return redis.error_reply('ERR a fence is no number') end
-- A server that lost its newest data, for example in a failover, must not assign a fence twice.
fence = math.max(fence, tonumber(ARGV[8]))
local waiting = expect_queue(q)
-- Whether a process already has a job that needs isolation. The key `isolated` contains the last
-- lease of such a job.
local isolated = P .. 'routemaster:isolated:' .. ARGV[9]
local holder, held = string.match(redis.call('GET', isolated) or '', '^(%S+) (%d+)$')
local isolates = holder ~= nil and
    redis.call('HEXISTS', P .. 'routemaster:leases:' .. holder, held) == 1
local flags = redis.call('SMISMEMBER', P .. 'routemaster:paused', q, ':' .. q)
local paused = flags[1] == 1
local rates = flags[2] == 1 and not paused and rate_limits()(q) or nil
-- Whether jobs may have a priority, a group or rate limits. If so, their records must be read.
local has_ranks = waiting > 0 or rates ~= nil
local explains, before, explained = ARGV[10] == '1', nil, nil
expect('HLEN', 'counters')
expect('LLEN', 'jobs:pending:' .. q .. ':' .. worker)
expect('SCARD', 'jobs:pending:index:' .. q, 'routemaster:queues')
if redis.call('HSET', P .. 'workers', worker, now) == 1 then note_name('workers', worker) end

if rates then rates.begin() end

-- Sorts jobs with equal due times by their ids, which is the order of the pushes. The jobs are
-- already sorted by due time.
local function sort_by_ids(all)
    local together, jobs = false, {}
    for i, one in ipairs(all) do
        together = together or (i > 1 and all[i - 1][2] == one[2])
        jobs[i] = one[1]
    end
    if not together then return end
    for i, id in ipairs(redis.call('ZMSCORE', P .. 'routemaster:ids:' .. q, unpack(jobs))) do
        all[i][3] = tonumber(id) or 0
    end
    table.sort(all, function(a, b)
        if a[2] ~= b[2] then return a[2] < b[2] end
        return a[3] < b[3]
    end)
end

if not paused then
    local all, scheduled = {}, P .. 'jobs:scheduled:' .. q
    local due = redis.call('ZRANGE', scheduled, '-inf', now, 'BYSCORE', 'LIMIT', 0, 1000,
        'WITHSCORES')
    local jobs = {}
    for i = 1, #due, 2 do
        jobs[#jobs + 1] = due[i]
        all[#all + 1] = {due[i], tonumber(due[i + 1])}
    end
    if #jobs > 0 then redis.call('ZREM', scheduled, unpack(jobs)) end
    sort_by_ids(all)
    for _, one in ipairs(all) do
        if has_ranks then
            place_by(q, one[1], one[2], record_of(q, one[1]))
        else
            add_ready(q, one[1], one[2])
        end
    end
end

-- The number of reply elements for each lease.
local width = 5
local reply, slice, ends = {false}, new_slice(), new_slice()
local function add_attempt(at, id, record)
    reply[at + 1], reply[at + 2], reply[at + 3] = id, record[1], record[4]
end
if known < newest then
    local lost = {}
    for _, field in ipairs(redis.call('HKEYS', leases)) do
        local fence = tonumber(field)
        if fence and fence > known then lost[#lost + 1] = fence end
    end
    table.sort(lost)
    for _, fence in ipairs(lost) do
        local queue, job = string.match(redis.call('HGET', leases, fence), '^(%Z+)%z(.*)$')
        if queue == q then
            reply[#reply + 1] = fence
            if fence <= tonumber(ARGV[8]) then
                for _ = 2, width do reply[#reply + 1] = false end
            else
                reply[#reply + 1] = pushed_as(q, job)
                slice.add(#reply[#reply])
                add_attempt(#reply, id_of(q, job), record_of(q, job))
            end
        end
    end
end

-- The worker is not recorded as idle, because resuming the queue wakes all workers.
if paused then return reply end

if explains then
    local queue_status = explanations()
    before = queue_status(q)
end

-- Leases jobs to the worker. `taken` has the jobs with their ids and records, `texts` the jobs as
-- they were pushed.
local function give(taken, texts)
    local format, prefix, jobs = string.format, q .. '\0', taken.jobs
    local fields = {'newest', format('%d', fence + #jobs)}
    local at = #reply
    if taken.isolated then
        isolates = true
        redis.call('SET', isolated, format('%s %d', worker, fence + taken.isolated), 'EX', 172800)
    end
    for i = 1, #jobs do
        fence = fence + 1
        -- Formatted here, because Redis formats numbers slowly.
        fields[2 * i + 1], fields[2 * i + 2] = format('%d', fence), prefix .. jobs[i]
        reply[at + 1], reply[at + 2] = fence, texts[i]
        add_attempt(at + 2, taken.ids[i], taken.records[i])
        at = at + width
    end
    redis.call('SET', P .. 'routemaster:fence', fence)
    redis.call('LPUSH', P .. 'jobs:pending:' .. q .. ':' .. worker, unpack(jobs))
    set_fields(leases, fields)
    if newest == 0 then redis.call('EXPIRE', leases, 86400) end
    redis.call('SADD', P .. 'jobs:pending:index:' .. q, worker)
    redis.call('SADD', P .. 'routemaster:queues', q)
end

local room = limit - (#reply - 1) / width
if room > 0 and rates then room = rates.room(room) end
for _ = 1, room > 0 and 10 or 0 do
    -- At most 1,000, because Lua limits the arguments of `unpack`.
    local taken = take_own(q, math.min(room, 1000), has_ranks, rates, slice, ends, isolates)
    local got = #taken.jobs
    if explains and not explained and got > 0 then
        explained = select(2, explanations())(q, taken.jobs[1], taken.ids[1], taken.records[1], 1)
    end
    if got > 0 then give(taken, begin_attempts(q, taken, worker)) end
    if rates then rates.take(got) end
    room = room - got
    if got < 1000 or room <= 0 then break end
end
-- Whether the next acquisition could lease more jobs at once.
local more = redis.call('EXISTS', KEYS[1]) == 1
if has_ranks and not more then
    local first = redis.call('ZRANGE', P .. 'routemaster:ranks:' .. q, 0, 0, 'WITHSCORES')[2]
    more = first and tonumber(first) < math.huge
end

local opens_at = rates and rates.opens_at()
if rates then
    local opened = opens_at ~= nil and opens_at <= now
    -- Another worker is woken, which may have free slots for the remaining jobs.
    if opened and rates.room(1) > 0 then wake(q, -1) end
    more = more or opened or rates.goes_on()
    rates.save()
end
if more then
    -- The worker polls again when the queue has a token. It needs no wake-up.
    reply[1] = rates and rates.next() or now
else
    local first = redis.call('ZRANGE', P .. 'jobs:scheduled:' .. q, 0, 0, 'WITHSCORES')[2]
    if first then reply[1] = math.max(tonumber(first), now) end
    if opens_at and (not reply[1] or opens_at < reply[1]) then reply[1] = opens_at end
    if rates and reply[1] then reply[1] = math.max(reply[1], rates.next()) end
    -- The key of an unused queue expires after two days. Workers poll at least once a day and renew
    -- it.
    redis.call('SET', P .. 'routemaster:waiting:' .. q, reply[1] or 9007199254740991, 'EX', 172800)
end
if explained then reply[1] = {reply[1], explained, before} end
if ARGV.batches then settle_batches() end
return reply
