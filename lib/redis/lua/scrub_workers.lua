-- ScrubWorkers: takes silent workers for dead and gives back what they held.
-- KEYS  1 workers
-- ARGV  1 prefix, 2 now, 3 mixed, 4 silence
-- Effect: gives back at most 1,000 jobs, so that the server is not kept long. Also looks at a few
--         held jobs whose lane may have been opened by another program.
-- Reply: the number of jobs given back.
expect('HLEN', 'counters')
expect_queue('main')
local silence = tonumber(ARGV[4])
local total = 0
local workers = redis.call('HKEYS', KEYS[1])
table.sort(workers)
for _, worker in ipairs(workers) do
    local seen = tonumber(redis.call('HGET', KEYS[1], worker))
    if not seen or seen > now then
        -- When the clock was set back, the silence of the dead counts from now.
        seen = now
        redis.call('HSET', KEYS[1], worker, now)
    end
    if seen + silence <= now then
        local jobs, gone = retire(worker, 1000 - total,
            function(q, jobs) count('jobs.scrubbed', q, jobs) end)
        total = total + jobs
        if not gone then break end
        add(P .. 'counters', '\146\176workers.scrubbed\144', 1)
    end
end
for _, job in ipairs(redis.call('SRANDMEMBER', P .. 'routemaster:held:main', 16)) do
    local uid = batch_of('main', job)
    local token = subscriber_of(uid)
    -- Looking may have admitted it already.
    if (not token or may_run(token, uid)) and
        redis.call('SREM', P .. 'routemaster:held:main', job) == 1 then
        if redis.call('LPUSH', P .. 'jobs:instant:main', job) == 1 then wake('main', -1) end
    end
end
return total
