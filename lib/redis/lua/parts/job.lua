-- Prefix of delivery jobs: the jobs in the queue `main` that deliver a batch.

local delivery_prefix = '\146\165batch\145\180'

-- The queue in which deliveries to callbacks are SCHEDULED and, in a mixed deployment, PENDING; see
-- callback.lua. Replies contain `main` instead.
local to_callbacks = 'main:callbacks'

-- Returns the uid of the batch delivered by a job; nil if the job is no delivery job.
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

-- Returns the subscriber of a batch. Returns false if the batch does not exist or its key has a
-- wrong type.
local function subscriber_of(uid)
    local token = redis.pcall('LINDEX', P .. 'batches:' .. uid, 0)
    return type(token) == 'string' and token
end
