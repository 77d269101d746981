-- PushJob: puts a job into a queue, once.
-- KEYS  1 jobs:index:{q}
-- ARGV  1 prefix, 2 now, 3 fleet, 4 queue, 5 job, 6 run_at, and, unless they are the defaults,
--       7 attempts_max, 8 timeout, 9 expires_at, and with a key or metadata, 10 key or "",
--       11 scope, 12 until, 13 "1" to replace the job that has the key, "2" to put that off, or
--       "0", 14 metadata or "", and 15 priority, if there are such
-- Parts: keyed_pushes() gives what only a job with a key needs, queue_names() what only the first
--        job of a queue needs.
-- Reply: 1, or 0 for a duplicate, or 2 when the other job was replaced; then the id of the job, or
--        0 where jobs have none, and when only its key is kept.
-- Placed before it enters the index: if placing fails, the job can be pushed again.
local timeout, priority = tonumber(ARGV[8]), tonumber(ARGV[15])
if ARGV[14] then timeout = {timeout, ARGV[14], priority} end
if ARGV[10] and ARGV[10] ~= '' then return keyed_pushes()(timeout) end
local q, job = ARGV[4], ARGV[5]
local own = has_ids(q)
local ids = P .. 'routemaster:ids:' .. q
if redis.call('SISMEMBER', KEYS[1], job) == 1 then
    return {0, own and tonumber(redis.call('ZSCORE', ids, job) or 0) or 0}
end
local id, is_first = 0, false
if own then
    is_first = redis.call('ZCARD', ids) == 0
    redis.call('HLEN', P .. 'routemaster:job:' .. q)
    if tonumber(ARGV[6]) <= now then
        redis.call('LLEN', P .. 'jobs:instant:' .. q)
    else
        redis.call('ZCARD', P .. 'jobs:scheduled:' .. q)
    end
    if priority then redis.call('ZCARD', P .. 'routemaster:ranks:' .. q) end
    id = redis.call('INCR', P .. 'routemaster:job_id')
elseif batch_of(q, job) then
    -- Without a group, placing either fails or is the first change.
    redis.call('SCARD', P .. 'routemaster:blocked:main')
    redis.call('LLEN', P .. 'jobs:instant:main')
    redis.call('ZCARD', P .. 'jobs:scheduled:main')
    redis.call('ZCARD', P .. 'jobs:scheduled:main:callbacks')
    redis.call('SCARD', P .. 'routemaster:callbacks')
end
if priority then
    place_ranked(q, job, id, tonumber(ARGV[6]), priority)
else
    place(q, job, tonumber(ARGV[6]))
end
if own then redis.call('ZADD', ids, id, job) end
if ARGV[7] then
    save(q, job, {0, '', tonumber(ARGV[7]), timeout, tonumber(ARGV[9]), -1})
end
redis.call('SADD', KEYS[1], job)
if is_first then queue_names()(q) end
return {1, id}
