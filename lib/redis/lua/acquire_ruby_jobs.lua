-- AcquireJobs for `main` and `aux`: makes up to 1,000 due jobs READY, then leases READY jobs to a
-- worker.
-- KEYS  1 jobs:instant:{q}
-- ARGV  1 prefix, 2 now, 3 fleet, 4 queue, 5 worker, 6 limit, 7 the newest fence known to the
--       worker, or 0 to get all its leases again, 8 the newest fence the worker ever got, 9... the
--       destinations of the worker: "" for URLs, or the name of a callback
-- Parts: deliveries() defines the functions that make jobs READY and lease jobs. Its turns()
--        defines the functions for a mixed deployment; see parts/turn.lua.
-- Effect: also a heartbeat. A delivery delayed beyond the longest allowed delay is due now. If an
--         ordering group is at its limit, its delivery jobs are blocked instead of leased. In a
--         mixed deployment, blocked jobs become READY again, and a READY job stays in its list
--         until its subscriber has a free turn. Leases at most 4 MiB of jobs; the first job is
--         always leased.
-- Reply: when the next job is due, or nil; then for each lease its fence and its job. First the
--        leases whose reply was lost, then the new leases. A lease already received by the worker
--        has its fence and nil.
local q, worker, limit, known = ARGV[4], ARGV[5], tonumber(ARGV[6]), tonumber(ARGV[7])
local leases, newest_given = P .. 'routemaster:leases:' .. worker, tonumber(ARGV[8])
local newest = tonumber(redis.call('HGET', leases, 'newest') or 0)
local fence = tonumber(redis.call('GET', P .. 'routemaster:fence') or 0)
if not newest or not fence then return redis.error_reply('ERR a fence is no number') end
-- A server that lost its newest data, for example in a failover, must not assign a fence twice.
fence = math.max(fence, newest_given)
local is_main = q == 'main'
local in_turns = mixed and is_main
-- The queues that contain the SCHEDULED and PENDING jobs for this worker.
local parts = is_main and {'main', 'main:callbacks'} or {q}

-- The lists of READY jobs for this worker: the list of each callback `name`, and the list of the
-- queue itself, with `name` nil. The first list has deliveries of removed subscribers, which any
-- worker may complete.
local sources = {}
if is_main then sources[1] = {name = '', list = P .. 'routemaster:callback:'} end
for i = 9, is_main and #ARGV or 9 do
    local name = is_main and ARGV[i] ~= '' and ARGV[i] or nil
    sources[#sources + 1] = {name = name, list = name and sources[1].list .. name or KEYS[1]}
    -- Batches that Ruby workers cannot read. Only workers of routemaster deliver them; see
    -- callback.lua.
    if is_main and not name then
        sources[#sources + 1] = {name = true, list = P .. 'routemaster:unreadable'}
    end
end

-- Returns when the first SCHEDULED job of each queue in `parts` is due, or false for a queue
-- without one.
local function first_dues()
    local dues = {}
    for i, part in ipairs(parts) do
        local first = read_key('ZRANGE', 'jobs:scheduled:' .. part, 0, 0, 'WITHSCORES')[2]
        dues[i] = first and tonumber(first) or false
    end
    return dues
end

-- Returns the sources that have jobs. A source whose key cannot be read counts as empty.
local function filled()
    local found = {}
    for _, source in ipairs(sources) do
        local size = redis.pcall('LLEN', source.list)
        if type(size) == 'number' and size > 0 then found[#found + 1] = source end
    end
    return found
end

-- Makes deliveries due now whose delay exceeds the longest allowed delay, because their due time
-- was set while a clock was ahead.
local function hasten(part)
    local latest, scheduled = now + 3660000, P .. 'jobs:scheduled:' .. part
    local late = redis.pcall('ZRANGE', scheduled, '+inf', '(' .. string.format('%d', latest),
        'BYSCORE', 'REV', 'LIMIT', 0, 100)
    if late.err then return end
    for _, job in ipairs(late) do
        if string.sub(job, 1, 9) == '\146\165batch\145\180' then
            redis.call('ZADD', scheduled, 'XX', now, job)
        end
    end
end
if is_main then
    for _, part in ipairs(parts) do hasten(part) end
end

-- All keys are checked before the first change. Most acquisitions find no jobs and skip these
-- checks.
expect('LLEN', 'jobs:instant:' .. q)
local dues, ready = first_dues(), filled()
local untidy = is_main and not mixed and redis.pcall('SRANDMEMBER', P .. 'routemaster:untidy')
untidy = type(untidy) == 'string' and untidy
-- Whether both queues of `parts` may get PENDING jobs.
local in_parts = in_turns or untidy or dues[2]
for _, source in ipairs(ready) do in_parts = in_parts or source.name == true end
local finds_nothing = not in_turns and not untidy and #ready == 0 and
    math.min(dues[1] or math.huge, dues[2] or math.huge) > now
if not finds_nothing then
    if in_turns then expect_queue(q) end
    if is_main then expect('SCARD', 'routemaster:blocked:main', 'routemaster:callbacks') end
    expect('SCARD', 'routemaster:queues')
    for _, part in ipairs(in_parts and parts or {q}) do
        expect('LLEN', 'jobs:pending:' .. part .. ':' .. worker)
        expect('SCARD', 'jobs:pending:index:' .. part)
    end
end
if redis.call('HSET', P .. 'workers', worker, now) == 1 then note_name('workers', worker) end

local reply = {false}
if known < newest then
    local lost = {}
    for _, field in ipairs(redis.call('HKEYS', leases)) do
        local one = tonumber(field)
        if one and one > known then lost[#lost + 1] = one end
    end
    table.sort(lost)
    for _, one in ipairs(lost) do
        local queue, job = string.match(redis.call('HGET', leases, one), '^(%Z+)%z(.*)$')
        if queue == q or (is_main and queue == parts[2]) then
            reply[#reply + 1] = one
            reply[#reply + 1] = one > newest_given and job
        end
    end
end

-- Makes due jobs READY and leases jobs. Returns whether the next acquisition could do more at once.
local function acquire()
    local batch_of, subscriber_of, callback_in, concurrency_in, may_run, offer_to, make_ready, tidy,
        set_fields, new_slice, turns = deliveries()
    -- `is_known`: `dues` and `ready` are still valid. `more`: the next acquisition could do more at
    -- once.
    local is_known, more = not in_turns and not untidy, false
    local take_turns, take_turn, take_called, release
    if in_turns then
        take_turns, take_turn, take_called, release = turns()
        release(1000)
        more = redis.call('EXISTS', P .. 'routemaster:blocked:main') == 1
    elseif untidy then
        -- The error of an unreadable group is ignored, because it must not block the jobs of other
        -- groups.
        local read, done = pcall(tidy, untidy)
        if done or not read then redis.call('SREM', P .. 'routemaster:untidy', untidy) end
    end

    -- Due jobs become READY only after all blocked jobs were unblocked. This preserves their order.
    if not in_turns or not more then
        local due, kinds = {}, 0
        for i, part in ipairs(parts) do
            local scheduled = P .. 'jobs:scheduled:' .. part
            local found = (in_turns or (dues[i] or math.huge) <= now) and redis.call('ZRANGE',
                scheduled, '-inf', now, 'BYSCORE', 'LIMIT', 0, 1000, 'WITHSCORES') or {}
            local jobs = {}
            for at = 1, #found, 2 do
                jobs[#jobs + 1] = found[at]
                due[#due + 1] = {found[at], tonumber(found[at + 1])}
            end
            if #jobs > 0 then
                redis.call('ZREM', scheduled, unpack(jobs))
                kinds = kinds + 1
            end
        end
        if kinds > 1 then table.sort(due, function(a, b) return a[2] < b[2] end) end
        for _, one in ipairs(due) do make_ready(q, one[1], one[2]) end
        is_known = is_known and kinds == 0
    end

    local slice = new_slice()
    for i = 3, #reply, 2 do
        if reply[i] then slice.add(#reply[i]) end
    end

    -- Leases jobs to the worker. The jobs become PENDING in the queue `part`.
    local function give(jobs, part)
        local format, prefix = string.format, part .. '\0'
        local fields = {'newest', format('%d', fence + #jobs)}
        for i, job in ipairs(jobs) do
            fence = fence + 1
            -- Formatted here, because Redis formats numbers slowly.
            fields[2 * i + 1], fields[2 * i + 2] = format('%d', fence), prefix .. job
            reply[#reply + 1] = fence
            reply[#reply + 1] = job
            if in_turns then take_turn(job, fence, worker) end
        end
        redis.call('SET', P .. 'routemaster:fence', fence)
        redis.call('LPUSH', P .. 'jobs:pending:' .. part .. ':' .. worker, unpack(jobs))
        set_fields(leases, fields)
        if newest == 0 then redis.call('EXPIRE', leases, 86400) end
        redis.call('SADD', P .. 'jobs:pending:index:' .. part, worker)
        redis.call('SADD', P .. 'routemaster:queues', q)
    end

    -- The callback and the concurrency of each subscriber. They do not change during this step.
    local subscribers = {}
    local function subscriber(token)
        local found = subscribers[token]
        if not found then
            local stored = redis.pcall('HMGET', P .. 'subscriber:' .. token, 'callback', 'uuid',
                'max_in_flight', 'window')
            found = {}
            if not stored.err then
                found.name = callback_in(stored[1], stored[2])
                found.concurrency = concurrency_in(stored[3], stored[4])
            end
            subscribers[token] = found
        end
        return found
    end

    -- Leases up to `most` READY jobs of a source to the worker. Blocks jobs that are no longer
    -- among the first of their group. Moves jobs for another destination to its list. Sets
    -- `drained` of the source when no job is left.
    local function take(source, most)
        local name, got, popped = source.name, 0, 0
        while got < most and popped < 10000 and not slice.full and not source.drained do
            local asked = slice.next(most - got)
            local jobs = redis.pcall('RPOP', source.list, asked)
            if not jobs or jobs.err then
                source.drained = true
                break
            end
            local last, all = #jobs, #jobs < asked
            for i, job in ipairs(jobs) do
                if not slice.fits(#job) then
                    last, all = i - 1, false
                    break
                end
                slice.add(#job)
            end
            source.drained = all
            for _ = last + 1, #jobs do redis.call('RPUSH', source.list, table.remove(jobs)) end
            popped = popped + last
            if name and last > 0 then
                redis.call('SREM', P .. 'routemaster:callbacks', unpack(jobs))
            end
            local given = {}
            for _, job in ipairs(jobs) do
                local uid = batch_of(q, job)
                local token = uid and subscriber_of(uid)
                local to = token and subscriber(token)
                local may, others = true, false
                if to then may, others = may_run(token, uid, to.concurrency) end
                if others then is_known = false end
                if not may then
                    redis.call('SADD', P .. 'routemaster:blocked:' .. q, job)
                elseif to and to.name ~= name and (to.name or name ~= true) then
                    offer_to(to.name, q, job)
                    is_known = false
                else
                    given[#given + 1] = job
                end
            end
            if #given > 0 then
                give(given, name == true and parts[2] or q)
                got = got + #given
            end
        end
    end

    local function room() return limit - (#reply - 1) / 2 end
    local open = room() > 0 and (is_known and ready or filled()) or {}
    is_known = is_known and room() > 0
    local share = math.max(1, math.floor(room() / math.max(#open, 1)))
    for _, most in ipairs(#open > 1 and {share, limit} or {limit}) do
        for _, source in ipairs(open) do
            local wanted = math.min(most, room())
            if wanted > 0 and in_turns then
                local jobs, rest
                if source.name then
                    jobs, rest = take_called(source.name, wanted), false
                else
                    jobs, rest = take_turns(wanted)
                end
                if #jobs > 0 then give(jobs, source.name and parts[2] or q) end
                more = more or rest
            elseif wanted > 0 then
                take(source, wanted)
            end
        end
    end
    if not is_known then dues = first_dues() end
    for _, source in ipairs(open) do is_known = is_known and source.drained end
    if in_turns or is_known then return more end
    return more or #filled() > 0 or redis.call('EXISTS', P .. 'routemaster:untidy') == 1
end

if not finds_nothing and acquire() then
    reply[1] = now
    return reply
end
for _, due in ipairs(dues) do
    local next = due and math.max(due, now)
    if next and (not reply[1] or next < reply[1]) then reply[1] = next end
end
for _, source in ipairs(sources) do
    if source.name ~= '' and source.name ~= true then
        -- The key of an unused queue expires after two days. Workers poll at least once a day and
        -- renew it.
        redis.call('SET', P .. 'routemaster:waiting:' .. (source.name and parts[2] or q),
            reply[1] or 9007199254740991, 'EX', 172800)
    end
end
return reply
