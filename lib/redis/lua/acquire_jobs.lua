-- AcquireJobs: promotes what is due, at most 1,000 jobs, then gives READY jobs to a worker.
-- KEYS  1 jobs:instant:{q}
-- ARGV  1 prefix, 2 now, 3 fleet, 4 queue, 5 worker, 6 limit, 7 the newest fence the worker knows
-- Parts: turns() gives those that only a mixed fleet needs.
-- Effect: also a heartbeat. A delivery job whose group is closed is blocked instead of given. In a
--         mixed fleet, what is blocked comes back, and jobs wait for their turn where they are.
-- Reply: when the next job falls due or nil, then for each lease its fence and its job: first those
--       whose reply was lost, then the new ones.
local q, worker, limit, known = ARGV[4], ARGV[5], tonumber(ARGV[6]), tonumber(ARGV[7])
local scheduled = P .. 'jobs:scheduled:' .. q
local pending = P .. 'jobs:pending:' .. q .. ':' .. worker
local leases = P .. 'routemaster:leases:' .. worker
local newest = tonumber(redis.call('HGET', leases, 'newest') or 0)
local fence = tonumber(redis.call('GET', P .. 'routemaster:fence') or 0)
if not newest or not fence then return redis.error_reply('ERR a fence is no number') end
expect_queue(q)
expect('LLEN', 'jobs:pending:' .. q .. ':' .. worker)
expect('SCARD', 'jobs:pending:index:' .. q, 'routemaster:queues')
redis.call('HSET', P .. 'workers', worker, now)

-- Whether there is more to do at once.
local more = false
local in_turns = mixed and q == 'main'
local take_turns, take_turn, release
if in_turns then
    take_turns, take_turn, release = turns()
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

-- What comes back is promoted when all of it has, and so in order.
if not more or not in_turns then
    local due = redis.call('ZRANGE', scheduled, '-inf', now, 'BYSCORE', 'LIMIT', 0, 1000)
    if #due > 0 then
        redis.call('ZREM', scheduled, unpack(due))
        for _, job in ipairs(due) do make_ready(q, job) end
    end
end

local reply = {false}
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
            reply[#reply + 1] = job
        end
    end
end

-- Gives jobs to the worker.
local function give(jobs)
    local fields = {'newest', fence + #jobs}
    for _, job in ipairs(jobs) do
        fence = fence + 1
        fields[#fields + 1] = fence
        fields[#fields + 1] = q .. '\0' .. job
        reply[#reply + 1] = fence
        reply[#reply + 1] = job
        if in_turns then take_turn(job, fence, worker) end
    end
    redis.call('SET', P .. 'routemaster:fence', fence)
    redis.call('LPUSH', pending, unpack(jobs))
    redis.call('HSET', leases, unpack(fields))
    redis.call('SADD', P .. 'jobs:pending:index:' .. q, worker)
    redis.call('SADD', P .. 'routemaster:queues', q)
end

local wanted = limit - (#reply - 1) / 2
if in_turns and wanted > 0 then
    local jobs, rest = take_turns(wanted)
    if #jobs > 0 then give(jobs) end
    more = more or rest
elseif not in_turns then
    local rounds = 0
    while wanted > 0 and rounds < 10 do
        rounds = rounds + 1
        local jobs = redis.call('RPOP', KEYS[1], math.min(wanted, 1000))
        if not jobs then break end
        local given = {}
        for _, job in ipairs(jobs) do
            local uid = batch_of(q, job)
            local token = uid and subscriber_of(uid)
            if token and not may_run(token, uid) then
                redis.call('SADD', P .. 'routemaster:blocked:' .. q, job)
            else
                given[#given + 1] = job
            end
        end
        if #given > 0 then
            give(given)
            wanted = wanted - #given
        end
    end
    more = more or redis.call('LLEN', KEYS[1]) > 0
end

if more then
    reply[1] = now
else
    local next = redis.call('ZRANGE', scheduled, 0, 0, 'WITHSCORES')[2]
    if next then reply[1] = math.max(tonumber(next), now) end
    redis.call('SET', P .. 'routemaster:waiting:' .. q, reply[1] or 9007199254740991)
end
return reply
