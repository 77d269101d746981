-- The places of delivery jobs, which decide which workers may acquire a job.
--   to a URL            The queue `main`, where Ruby workers acquire jobs, too.
--   to a callback       READY in `routemaster:callback:NAME`, and in the set
--                       `routemaster:callbacks`. SCHEDULED in the queue `main:callbacks`, and in a
--                       mixed deployment also PENDING there, so Ruby workers never see the job. The
--                       callback is a function in a process; its address is `local:NAME`.
--   subscriber removed  READY in `routemaster:callback:` (empty name), where any worker of
--                       routemaster ends the job. In a mixed deployment READY in `main`.
-- Each promotion from SCHEDULED to READY determines the place of a job again.
--
-- An event that violates Ruby's rules crashes a Ruby worker. A batch with such an event has the
-- mark `routemaster:unreadable:{uid}`. The delivery of a marked batch to a URL is treated as a
-- delivery to a callback named `unreadable`: READY in `routemaster:unreadable`, SCHEDULED and
-- PENDING in the queue `main:callbacks`. Every worker of routemaster for URLs serves this callback,
-- in a mixed deployment or not.

local unreadable = true

local function callback_key(name)
    if name == unreadable then return P .. 'routemaster:unreadable' end
    return P .. 'routemaster:callback:' .. name
end

local function unreadable_key(uid) return P .. 'routemaster:unreadable:' .. uid end
local function is_unreadable(uid) return redis.call('EXISTS', unreadable_key(uid)) == 1 end

-- Returns the name of the callback for the batches of a subscriber; nil for a URL. Returns '' when
-- the subscriber is gone, but nil in a mixed deployment. Also returns nil for an unreadable value:
-- the delivery then fails when it begins.
local function callback_in(callback, uuid)
    if not uuid then return not mixed and '' or nil end
    return callback and string.match(callback, '^local:(.+)$') or nil
end
local function callback_of(token)
    local known = redis.pcall('HMGET', P .. 'subscriber:' .. token, 'callback', 'uuid')
    return not known.err and callback_in(known[1], known[2]) or nil
end

-- Returns the callback for one batch of the subscriber. The result is `unreadable` for a marked
-- batch whose subscriber has a URL.
local function destination_of(token, uid)
    return callback_of(token) or (is_unreadable(uid) and unreadable) or nil
end

-- Lets a READY job be acquired at its destination. Waiting workers are woken only when the list was
-- empty. A mixed deployment always wakes workers, since Ruby workers do not announce that they
-- wait. When the list has another type, the job is retried in a minute.
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

-- Undoes `offer` for a delivery to the callback `name`, or to a URL when `name` is nil. Returns
-- false when the job is not there.
local function withdraw(job, name)
    if not name then return redis.call('LREM', P .. 'jobs:instant:main', -1, job) > 0 end
    if redis.pcall('LREM', callback_key(name), -1, job) ~= 1 then return false end
    redis.call('SREM', P .. 'routemaster:callbacks', job)
    return true
end
