-- PushJob: puts a job into a queue, once.
-- KEYS  1 jobs:index:{q}
-- ARGV  1 prefix, 2 now, 3 fleet, 4 queue, 5 job, 6 run_at, and, unless they are the defaults,
--       7 attempts_max, 8 timeout, 9 expires_at, and with a key or metadata, 10 key or "",
--       11 scope, 12 until, 13 "1" to replace the job that has the key, "2" to put that off, or
--       "0", 14 metadata or "", 15 priority, 16 MessagePack of a map of options that few jobs have,
--       or "", and 17 MessagePack of the ids of jobs that it waits for, in their order, each once,
--       if there are such
-- Parts: ruby_pushes() gives what only the queues of Ruby Routemaster need, keyed_pushes() what
--        only a job with a key needs, records() what one with options needs, job_groups() what one
--        with an ordering group needs, afters() what one that waits for others needs,
--        batches() what one of a batch needs, queue_names() what only the first job of a queue
--        needs,
--        checks() what only a key of another type needs.
-- Reply: 1, or 0 for a duplicate, or 2 when the other job was replaced; then the id of the job, or
--        0 where jobs have none, and when only its key is kept.
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

-- When a key has another type, what was done before is undone: that costs less than to look at each
-- key first. The job gets its place last.
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
