-- Who may acquire a delivery. Those to a URL are in the queue `main`, where Ruby workers
-- take them, too. Those to a callback in a process, `local:NAME`, are READY in
-- `routemaster:callback:NAME`, and all that are in such a list also in the set
-- `routemaster:callbacks`; SCHEDULED, in the queue `main:callbacks`, and in a mixed fleet PENDING
-- as well, so that Ruby workers never see them. Those of a subscriber that is gone are
-- READY in `routemaster:callback:`, for any worker of ours to end; in a mixed fleet in `main`.
-- Whoever promotes a job finds out anew where it goes.
--
-- A Ruby worker ends at an event that its own rules forbid. A batch with such an event has the mark
-- `routemaster:unreadable:{uid}`, and its delivery to a URL is treated as one to a callback of the
-- name `unreadable`, which any worker of ours that delivers to URLs serves, in a mixed fleet or
-- not: READY in `routemaster:unreadable`, SCHEDULED and PENDING in the queue `main:callbacks`.

local unreadable = true

local function callback_key(name)
    if name == unreadable then return P .. 'routemaster:unreadable' end
    return P .. 'routemaster:callback:' .. name
end

local function unreadable_key(uid) return P .. 'routemaster:unreadable:' .. uid end
local function is_unreadable(uid) return redis.call('EXISTS', unreadable_key(uid)) == 1 end

-- The callback that batches of a subscriber go to: its name, or '' when the subscriber is gone; nil
-- for a URL, and for what cannot be read: that fails when the delivery begins.
local function callback_in(callback, uuid)
    if not uuid then return not mixed and '' or nil end
    return callback and string.match(callback, '^local:(.+)$') or nil
end
local function callback_of(token)
    local known = redis.pcall('HMGET', P .. 'subscriber:' .. token, 'callback', 'uuid')
    return not known.err and callback_in(known[1], known[2]) or nil
end

-- The same for one batch of the subscriber: `unreadable` for a URL that only ours deliver it to.
local function destination_of(token, uid)
    return callback_of(token) or (is_unreadable(uid) and unreadable) or nil
end

-- Lets a READY job be acquired by those who may. Workers wait only while there is nothing; those of
-- Ruby Routemaster do not say that they do. A list that somebody spoilt is tried again in a minute.
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

-- Undoes `offer` for deliveries to a callback, or to a URL for nil; false when it is not there.
local function withdraw(job, name)
    if not name then return redis.call('LREM', P .. 'jobs:instant:main', -1, job) > 0 end
    if redis.pcall('LREM', callback_key(name), -1, job) ~= 1 then return false end
    redis.call('SREM', P .. 'routemaster:callbacks', job)
    return true
end
