-- PushJob: adds a job to a queue, unless the queue has an equal job.
-- KEYS  1 jobs:index:{q}
-- ARGV  1 prefix, 2 now, 3 fleet, 4 queue, 5 job, 6 run_at; unless all have their defaults: 7
--       attempts_max, 8 timeout, 9 expires_at; for a key or metadata: 10 key or "", 11 scope, 12
--       until, 13 for the job that has the key: "1" to replace it, "2" to replace and postpone it,
--       "0" to leave it, 14 metadata or "", 15 priority, 16 MessagePack of a map of rarely used
--       options, or "", 17 if the job waits for other jobs: MessagePack of their ids, sorted and
--       distinct
-- Parts: these functions define further functions when needed: ruby_pushes() for `main` and `aux`,
--        keyed_pushes() for a job with a key, records() for options, job_groups() for an ordering
--        group, afters() for a job that waits for other jobs, batches() for a job in a batch,
--        queue_names() for the first job of a queue, checks() for a key of another type.
-- Reply: 1, or 0 for a duplicate, or 2 when another job was replaced; then the id of the job. The
--        id is 0 in a queue without ids, and for a duplicate of a completed job whose key has not
--        expired.
local q, job, run_at = ARGV[4], ARGV[5], tonumber(ARGV[6])
if q == 'main' or q == 'aux' then return ruby_pushes()(q, job, run_at) end
local timeout, priority = tonumber(ARGV[8]), tonumber(ARGV[15])
if priority == 0 then priority = nil end
local further = (ARGV[16] or '') ~= '' and ARGV[16] or nil
if further then
    timeout = {timeout, ARGV[14], priority or 0, further}
elseif priority or (ARGV[14] or '') ~= '' then
    timeout = {timeout, ARGV[14], priority}
end
local others = ARGV[17] and cmsgpack.unpack(ARGV[17])
if ARGV[10] and ARGV[10] ~= '' then return keyed_pushes()(timeout, others) end
local ids, added, id = P .. 'routemaster:ids:' .. q, false, nil
local begin_waiting
local batch, count_in
if others then checks()(q) end
if others and redis.call('SISMEMBER', KEYS[1], job) == 0 then
    local present, why
    present, begin_waiting = afters()
    others, why = present(q, others)
    if why then return redis.error_reply('INVALID ' .. why) end
end
if further and string.find(further, '\165batch', 1, true) and
    redis.call('SISMEMBER', KEYS[1], job) == 0 then
    local _, may_join, batch_in
    _, _, may_join, count_in, batch_in = batches()
    batch = batch_in({[4] = timeout})
    local why = batch and may_join(batch)
    if why then return redis.error_reply('INVALID ' .. why) end
end

local function push()
    added = redis.call('SADD', KEYS[1], job) == 1
    if not added then return {0, tonumber(redis.call('ZSCORE', ids, job) or 0)} end
    id = redis.call('INCR', P .. 'routemaster:job_id')
    redis.call('ZADD', ids, id, job)
    local may_be_first = true
    if ARGV[7] then
        local save, place_ranked, place_by = records()
        local record = {0, '', tonumber(ARGV[7]), timeout, tonumber(ARGV[9]), -1}
        if begin_waiting then run_at = begin_waiting(q, id, record, others, run_at) end
        save(q, job, record)
        if further then
            place_by(q, job, run_at, record)
        elseif priority then
            place_ranked(q, job, id, run_at, priority)
        end
    end
    if not priority and not further then may_be_first = place_own(q, job, run_at) end
    if may_be_first and redis.call('ZCARD', ids) == 1 then queue_names()(q) end
    return {1, id}
end

if further then checks()(q) end

-- If a key has a wrong type, the changes made so far are undone. This takes less time than checking
-- each key before. The job is added to its list last.
local done, reply = pcall(push)
if done and batch and added then count_in(batch, 'total', 1) end
if done then return reply end
if added then redis.call('SREM', KEYS[1], job) end
if id then
    redis.call('DECR', P .. 'routemaster:job_id')
    redis.pcall('ZREM', ids, job)
    redis.pcall('HDEL', P .. 'routemaster:job:' .. q, job)
    redis.pcall('ZREM', P .. 'routemaster:ranks:' .. q, string.format('%016.0f', id))
end
checks()(q)
error({err = reply})
