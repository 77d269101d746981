-- PushJob for several jobs with the default options, in order.
-- KEYS  1 jobs:index:{q}
-- ARGV  1 prefix, 2 now, 3 fleet, 4 queue, not `main` or `aux`; then for each job: job, run_at
-- Parts: queue_names() defines functions for the first job of a queue, checks() for a key of
--        another type.
-- Reply: a list with the reply of push_job.lua for each job.
local q = ARGV[4]
local ids, instant = P .. 'routemaster:ids:' .. q, P .. 'jobs:instant:' .. q
local scheduled = P .. 'jobs:scheduled:' .. q
local jobs = {}
for i = 5, #ARGV, 2 do jobs[#jobs + 1] = ARGV[i] end

-- Each key is read here, because a key of a wrong type must stop the script before any change.
local function look()
    redis.call('LLEN', instant)
    redis.call('ZCARD', scheduled)
    return redis.call('ZCARD', ids), redis.call('SMISMEMBER', KEYS[1], unpack(jobs))
end
local done, size, known = pcall(look)
if not done then
    checks()(q)
    error(size)
end

-- The new jobs, each once.
local added, place_of = {}, {}
for i, job in ipairs(jobs) do
    if known[i] == 0 and not place_of[job] then
        added[#added + 1] = job
        place_of[job] = i
    end
end
local replies = {}
if #added > 0 then
    local id = redis.call('INCRBY', P .. 'routemaster:job_id', #added) - #added
    local numbered, ready, dues, later, first = {}, {}, {}, {}, math.huge
    -- Formatted times are cached, because most jobs have the same due time and Redis converts
    -- numbers slowly.
    local times = {}
    for i = 1, #added do
        local job = added[i]
        local place = place_of[job]
        local due = ARGV[4 + 2 * place]
        local run_at = times[due] or tonumber(due)
        times[due] = run_at
        id = id + 1
        numbered[2 * i - 1], numbered[2 * i] = string.format('%d', id), job
        replies[place] = {1, id}
        if run_at <= now then
            ready[#ready + 1], dues[#dues + 1] = job, due
        else
            later[#later + 1], later[#later + 2] = run_at, job
            first = math.min(first, run_at)
        end
    end
    redis.call('SADD', KEYS[1], unpack(added))
    redis.call('ZADD', ids, unpack(numbered))
    if #ready > 0 then add_all_ready(q, ready, dues) end
    if #later > 0 then
        redis.call('ZADD', scheduled, unpack(later))
        wake(q, first)
    end
    if size == 0 then queue_names()(q) end
end
if #added < #jobs then
    local numbers = redis.call('ZMSCORE', ids, unpack(jobs))
    for i = 1, #jobs do replies[i] = replies[i] or {0, tonumber(numbers[i] or 0)} end
end
return replies
