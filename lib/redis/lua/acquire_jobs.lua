-- AcquireJobs: promotes what is due, at most 1,000 jobs, then gives READY jobs to a worker.
-- KEYS  1 jobs:instant:{q}
-- ARGV  1 prefix, 2 now, 3 fleet, 4 queue, 5 worker, 6 limit, 7 the newest fence the worker knows,
--       or 0 when it asks for all of its leases, 8 the newest fence it ever got,
--       9... where it can deliver to: "" for URLs, or the name of a callback; but of jobs with ids,
--       9 the process of the worker, 10 "1" if the first one is to be explained
-- Parts: turns() gives those that only a mixed fleet needs, own_jobs() those for jobs with ids,
--        rate_limits() those for a queue with rate limits, explanations() those that explain a job.
-- Effect: also a heartbeat. A delivery job whose group is closed is blocked instead of given. In a
--         mixed fleet, what is blocked comes back, and jobs wait for their turn where they are.
--         Of jobs with ids it counts the attempt, and ends those that have expired, or whose
--         attempts are used up. A process has one at most that needs isolation; others are put off
--         for up to a second. Nothing is promoted or given while the queue is paused, and no more
--         is given than there are tokens. No more than 4 MiB are given, nor do more end, with their
--         errors, but for the first one.
-- Reply: when the next job falls due or nil, or, when it explains a job, a list of that,
--        job_status() and queue_status() of before; then for each lease its fence and its job, and,
--        where jobs have ids, its id, attempts, and timeout or [timeout, metadata]: first those
--        whose reply was lost, then the new ones. Of those that it got before, its fence alone
--        among as many parts.
local q, worker, limit, known = ARGV[4], ARGV[5], tonumber(ARGV[6]), tonumber(ARGV[7])
local leases = P .. 'routemaster:leases:' .. worker
local newest = tonumber(redis.call('HGET', leases, 'newest') or 0)
local fence = tonumber(redis.call('GET', P .. 'routemaster:fence') or 0)
if not newest or not fence then return redis.error_reply('ERR a fence is no number') end
-- A server that lost its newest data gives no fence to a worker again.
fence = math.max(fence, tonumber(ARGV[8]))
local waiting = expect_queue(q) or 0
local own = q ~= 'main' and q ~= 'aux'
-- Whether a worker of the process has a job that needs isolation: `isolated` has the last one.
local isolated = own and P .. 'routemaster:isolated:' .. ARGV[9]
local holder, held = string.match(own and redis.call('GET', isolated) or '', '^(%S+) (%d+)$')
local isolates = holder ~= nil and
    redis.call('HEXISTS', P .. 'routemaster:leases:' .. holder, held) == 1
local flags = own and redis.call('SMISMEMBER', P .. 'routemaster:paused', q, ':' .. q) or {}
local paused = flags[1] == 1
local rates = flags[2] == 1 and not paused and rate_limits()(q) or nil
-- Whether jobs have to be placed, and taken, as their records say.
local has_ranks = waiting > 0 or rates ~= nil
local take_own, begin_attempts, id_of, record_of, pushed_as, place_by, settle_batches
if own then
    expect('HLEN', 'counters')
    take_own, begin_attempts, id_of, record_of, pushed_as, place_by, settle_batches = own_jobs()
end
-- Parts of the reply for each lease.
local width = own and 5 or 2
local explains, before, explained = own and ARGV[10] == '1', nil, nil
-- Queues in which jobs are SCHEDULED and PENDING.
local parts = q == 'main' and {q, to_callbacks} or {q}
for _, part in ipairs(parts) do
    expect('LLEN', 'jobs:pending:' .. part .. ':' .. worker)
    expect('SCARD', 'jobs:pending:index:' .. part)
end
expect('SCARD', 'routemaster:queues')
if redis.call('HSET', P .. 'workers', worker, now) == 1 then note_name('workers', worker) end

-- Whether there is more to do at once.
local more = false
local in_turns = mixed and q == 'main'
local take_turns, take_turn, take_called, release
if in_turns then
    take_turns, take_turn, take_called, release = turns()
    release(1000)
    more = redis.call('EXISTS', P .. 'routemaster:blocked:main') == 1
elseif q == 'main' then
    local token = redis.pcall('SRANDMEMBER', P .. 'routemaster:untidy')
    if type(token) == 'string' then
        -- A group that cannot be read holds nobody back.
        local read, done = pcall(tidy, token)
        if done or not read then redis.call('SREM', P .. 'routemaster:untidy', token) end
        more = redis.call('EXISTS', P .. 'routemaster:untidy') == 1
    end
end

if rates then rates.begin() end

-- Sorts jobs, each with when it falls due, in whose order they are already: of those that fall due
-- together the one that was pushed first goes first.
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

-- What comes back is promoted when all of it has, and so in order.
if not paused and (not more or not in_turns) then
    local all, kinds = {}, 0
    for _, part in ipairs(parts) do
        local scheduled = P .. 'jobs:scheduled:' .. part
        local due = redis.call('ZRANGE', scheduled, '-inf', now, 'BYSCORE', 'LIMIT', 0, 1000,
            'WITHSCORES')
        local jobs = {}
        for i = 1, #due, 2 do
            jobs[#jobs + 1] = due[i]
            all[#all + 1] = {due[i], tonumber(due[i + 1])}
        end
        if #jobs > 0 then
            redis.call('ZREM', scheduled, unpack(jobs))
            kinds = kinds + 1
        end
    end
    if kinds > 1 then
        table.sort(all, function(a, b) return a[2] < b[2] end)
    elseif own then
        sort_by_ids(all)
    end
    for _, one in ipairs(all) do
        if has_ranks then
            place_by(q, one[1], one[2], record_of(q, one[1]))
        else
            make_ready(q, one[1], one[2])
        end
    end
end

local reply, slice, ends = {false}, new_slice(), new_slice()
-- Adds id, attempt and timeout to the lease of a job that has them.
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
        if queue == q or (q == 'main' and queue == to_callbacks) then
            reply[#reply + 1] = fence
            if fence <= tonumber(ARGV[8]) then
                for _ = 2, width do reply[#reply + 1] = false end
            else
                reply[#reply + 1] = own and pushed_as(q, job) or job
                slice.add(#reply[#reply])
                if own then add_attempt(#reply, id_of(q, job), record_of(q, job)) end
            end
        end
    end
end

-- Nobody waits: whoever resumes the queue wakes all.
if paused then return reply end

if explains then
    local queue_status = explanations()
    before = queue_status(q)
end

-- Gives jobs to the worker, PENDING in a queue. Of those with ids `taken` has the ids and records,
-- and `texts` what they are to do.
local function give(jobs, part, taken, texts)
    local format, prefix = string.format, part .. '\0'
    local fields = {'newest', format('%d', fence + #jobs)}
    local at = #reply
    local ids, records = taken and taken.ids, taken and taken.records
    if taken and taken.isolated then
        isolates = true
        redis.call('SET', isolated, format('%s %d', worker, fence + taken.isolated), 'EX', 172800)
    end
    for i = 1, #jobs do
        local job = jobs[i]
        fence = fence + 1
        -- As a text: Redis formats numbers slowly.
        fields[2 * i + 1], fields[2 * i + 2] = format('%d', fence), prefix .. job
        reply[at + 1], reply[at + 2] = fence, taken and texts[i] or job
        if taken then add_attempt(at + 2, ids[i], records[i]) end
        at = at + width
        if in_turns then take_turn(job, fence, worker) end
    end
    redis.call('SET', P .. 'routemaster:fence', fence)
    redis.call('LPUSH', P .. 'jobs:pending:' .. part .. ':' .. worker, unpack(jobs))
    set_fields(leases, fields)
    redis.call('SADD', P .. 'jobs:pending:index:' .. part, worker)
    redis.call('SADD', P .. 'routemaster:queues', q)
end

-- Gives the worker up to `most` READY jobs that are for a callback, or, for nil, for all. What is
-- not among the first of its group any more is blocked, and what is for somebody else goes there.
local function take(name, most)
    local list = name and callback_key(name) or KEYS[1]
    local got, popped = 0, 0
    while got < most and popped < 10000 and not slice.full do
        local jobs = redis.pcall('RPOP', list, slice.next(most - got))
        if not jobs or jobs.err then break end
        local last = #jobs
        for i, job in ipairs(jobs) do
            if not slice.fits(#job) then
                last = i - 1
                break
            end
            slice.add(#job)
        end
        for i = #jobs, last + 1, -1 do redis.call('RPUSH', list, table.remove(jobs)) end
        popped = popped + last
        if name and last > 0 then
            redis.call('SREM', P .. 'routemaster:callbacks', unpack(jobs))
        end
        local given = {}
        for _, job in ipairs(jobs) do
            local uid = batch_of(q, job)
            local token = uid and subscriber_of(uid)
            if token and not may_run(token, uid) then
                redis.call('SADD', P .. 'routemaster:blocked:' .. q, job)
            elseif token and callback_of(token) ~= name then
                offer(q, job, token)
            else
                given[#given + 1] = job
            end
        end
        if #given > 0 then
            give(given, q)
            got = got + #given
        end
    end
    return got
end

-- Whose jobs the worker may take: those for the callback `name`, or, without one, for all; first
-- those that anybody may end.
local served = {}
if q == 'main' then
    served[1] = {name = ''}
    for i = 9, #ARGV do served[#served + 1] = {name = ARGV[i] ~= '' and ARGV[i] or nil} end
else
    served[1] = {}
end

-- Those of whom something is READY.
local function filled()
    local found = {}
    for _, one in ipairs(served) do
        local size = redis.pcall('LLEN', one.name and callback_key(one.name) or KEYS[1])
        if type(size) == 'number' and size > 0 then found[#found + 1] = one end
    end
    return found
end

local wanted = limit - (#reply - 1) / width
local sources = wanted > 0 and (own and served or filled()) or {}
local share = math.max(1, math.floor(wanted / math.max(#sources, 1)))
for _, most in ipairs(#sources > 1 and {share, wanted} or {wanted}) do
    for _, one in ipairs(sources) do
        local room = math.min(most, limit - (#reply - 1) / width)
        if room > 0 and own then
            if rates then room = rates.room(room) end
            for _ = 1, room > 0 and 10 or 0 do
                -- `unpack` takes no more at once.
                local taken = take_own(q, math.min(room, 1000), has_ranks, rates, slice, ends,
                    isolates)
                local got = #taken.jobs
                if explains and not explained and got > 0 then
                    explained = select(2, explanations())(q, taken.jobs[1], taken.ids[1],
                        taken.records[1], 1)
                end
                if got > 0 then give(taken.jobs, q, taken, begin_attempts(q, taken, worker)) end
                if rates then rates.take(got) end
                room = room - got
                if got < 1000 or room <= 0 then break end
            end
        elseif room > 0 and in_turns then
            local jobs, rest
            if one.name then
                jobs, rest = take_called(one.name, room), false
            else
                jobs, rest = take_turns(room)
            end
            if #jobs > 0 then give(jobs, one.name and to_callbacks or q) end
            more = more or rest
        elseif room > 0 then
            take(one.name, room)
        end
    end
end
if not in_turns then more = more or #filled() > 0 end
if has_ranks and not more then
    local first = redis.call('ZRANGE', P .. 'routemaster:ranks:' .. q, 0, 0, 'WITHSCORES')[2]
    more = first and tonumber(first) < math.huge
end

local opens_at = rates and rates.opens_at()
if rates then
    local opened = opens_at ~= nil and opens_at <= now
    -- Another worker may have room for what this one has none for.
    if opened and rates.room(1) > 0 then wake(q, -1) end
    more = more or opened or rates.goes_on()
    rates.save()
end
if more then
    -- Who is told of a token comes by itself.
    reply[1] = rates and rates.next() or now
else
    for _, part in ipairs(parts) do
        local first = redis.call('ZRANGE', P .. 'jobs:scheduled:' .. part, 0, 0, 'WITHSCORES')[2]
        local next = first and math.max(tonumber(first), now)
        if next and (not reply[1] or next < reply[1]) then reply[1] = next end
    end
    if opens_at and (not reply[1] or opens_at < reply[1]) then reply[1] = opens_at end
    if rates and reply[1] then reply[1] = math.max(reply[1], rates.next()) end
    for _, one in ipairs(served) do
        if one.name ~= '' then
            -- Workers poll once a day at least; of a queue that nobody uses any more nothing stays.
            redis.call('SET', P .. 'routemaster:waiting:' .. (one.name and to_callbacks or q),
                reply[1] or 9007199254740991, 'EX', 172800)
        end
    end
end
if explained then reply[1] = {reply[1], explained, before} end
if ARGV.batches then settle_batches() end
return reply
