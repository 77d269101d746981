-- Delivery jobs: the jobs of `main` that name a batch.

local delivery_prefix = '\146\165batch\145\180'

-- The queue in which deliveries to callbacks in processes are SCHEDULED, and in a mixed deployment
-- PENDING; see callback.lua. The leases in replies say `main` instead.
local to_callbacks = 'main:callbacks'

-- Returns the batch that a job of a queue is to deliver; nil for a job without a batch.
local function batch_of(q, job)
    if (q == 'main' or q == to_callbacks) and #job == 29 and
        string.sub(job, 1, 9) == delivery_prefix then
        return string.sub(job, 10)
    end
end

local function is_known_to_ruby(job)
    local known = ' \146\167monitor\144 \146\168autodrop\144 \146\172scrub_queues\144 ' ..
        '\146\173scrub_workers\144 '
    return string.find(known, ' ' .. job .. ' ', 1, true) ~= nil
end

-- Returns the subscriber of a batch; false when the batch is gone or its key has another type.
local function subscriber_of(uid)
    local token = redis.pcall('LINDEX', P .. 'batches:' .. uid, 0)
    return type(token) == 'string' and token
end
