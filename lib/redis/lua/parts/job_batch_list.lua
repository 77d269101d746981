-- The lists of batches of jobs.
--   routemaster:job_batches        zset: open batches, by id
--   routemaster:job_batches:ended  zset: batches that have ended, by id
--   routemaster:job_batches:ends   zset: batches that have ended, by the time of their end
--   routemaster:job_batch_names    hash: name -> id

local batches_open = 'routemaster:job_batches'
local batches_ended, batch_ends_at = batches_open .. ':ended', batches_open .. ':ends'
local batch_names = 'routemaster:job_batch_names'

-- Removes a batch. `digits` is its id as text.
local function forget_batch(digits)
    local key = P .. 'routemaster:job_batch:' .. digits
    local name = redis.pcall('HGET', key, 'name')
    if type(name) == 'string' then redis.call('HDEL', P .. batch_names, name) end
    redis.call('UNLINK', key)
    for _, all in ipairs({batches_open, batches_ended, batch_ends_at}) do
        redis.call('ZREM', P .. all, digits)
    end
end

-- Removes up to two of the batches that ended first: batches beyond 10,000, and batches that ended
-- 30 days ago.
local function forget_old_batches()
    for _ = 1, 2 do
        local first = redis.call('ZRANGE', P .. batch_ends_at, 0, 0, 'WITHSCORES')
        if not first[1] then return end
        local many = redis.call('ZCARD', P .. batch_ends_at) > 10000
        if not many and tonumber(first[2]) + 2592000000 > now then return end
        forget_batch(first[1])
        tally('\146\181job_batches.forgotten\144', 1)
    end
end
