-- Where delivery jobs are stored. This decides which workers may acquire a job.
--   to a URL            In the queue `main`, from which Ruby workers also acquire jobs.
--   to a callback       READY in `routemaster:callback:NAME`, and in the set
--                       `routemaster:callbacks`. SCHEDULED in the queue `main:callbacks`, and in a
--                       mixed deployment also PENDING there, so Ruby workers never see the job. The
--                       callback is a function in a process; its address is `local:NAME`.
--   subscriber removed  READY in `routemaster:callback:` (empty name), where any worker of
--                       routemaster completes the job. In a mixed deployment READY in `main`.
-- Whenever a SCHEDULED job becomes READY, its destination is determined again.
--
-- An event that violates Ruby's rules crashes a Ruby worker. A batch with such an event has the
-- mark `routemaster:unreadable:{uid}`. The delivery of a marked batch to a URL is treated as a
-- delivery to a callback named `unreadable`: READY in `routemaster:unreadable`, SCHEDULED and
-- PENDING in the queue `main:callbacks`. Every worker of routemaster for URLs serves this callback,
-- with or without Ruby workers on the server.

local unreadable = true

local function callback_key(name)
    if name == unreadable then return P .. 'routemaster:unreadable' end
    return P .. 'routemaster:callback:' .. name
end

local function unreadable_key(uid) return P .. 'routemaster:unreadable:' .. uid end
local function is_unreadable(uid) return redis.call('EXISTS', unreadable_key(uid)) == 1 end

-- Returns the name of the callback for the batches of a subscriber; nil for a URL. If the
-- subscriber was removed, returns '', or nil in a mixed deployment. Also returns nil for an
-- unreadable value; the delivery then fails when it begins.
local function callback_in(callback, uuid)
    if not uuid then return not mixed and '' or nil end
    return callback and string.match(callback, '^local:(.+)$') or nil
end
local function callback_of(token)
    local known = redis.pcall('HMGET', P .. 'subscriber:' .. token, 'callback', 'uuid')
    return not known.err and callback_in(known[1], known[2]) or nil
end

-- Returns the callback for a batch of the subscriber. If the subscriber has a URL, a batch that is
-- marked as unreadable has the callback `unreadable`.
local function destination_of(token, uid)
    return callback_of(token) or (is_unreadable(uid) and unreadable) or nil
end

-- Makes a READY job available at its destination. Waiting workers are woken only if the list was
-- empty. In a mixed deployment, workers are always woken, because Ruby workers do not announce that
-- they wait. If the key of the list has a wrong type, the job is retried in a minute.
local function offer_to(name, q, job)
    if not name then
        if redis.call('LPUSH', P .. 'jobs:instant:' .. q, job) == 1 or mixed then wake(q, -1) end
        return
    end
    if type(redis.pcall('LPUSH', callback_key(name), job)) == 'table' then
        redis.call('ZADD', P .. 'jobs:scheduled:' .. to_callbacks, now + 60000, job)
        return
    end
    redis.call('SADD', P .. 'routemaster:callbacks', job)
    if name ~= unreadable then wake(to_callbacks, -1) end
    if name == '' or name == unreadable then wake('main', -1) end
end
local function offer(q, job, token)
    return offer_to(token and destination_of(token, batch_of('main', job)), q, job)
end

-- Undoes `offer` for a delivery to the callback `name`, or to a URL if `name` is nil. Returns false
-- if the job is not in the list.
local function withdraw(job, name)
    if not name then return redis.call('LREM', P .. 'jobs:instant:main', -1, job) > 0 end
    if redis.pcall('LREM', callback_key(name), -1, job) ~= 1 then return false end
    redis.call('SREM', P .. 'routemaster:callbacks', job)
    return true
end
