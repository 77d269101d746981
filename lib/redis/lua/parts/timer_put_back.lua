-- Retries FIRED timers without a confirmation in time, or makes them DEAD. Handles at most 1,000
-- timers with at most 4 MiB of events; see timer_slice.lua.

-- Makes a timer DEAD, with an optional reason. The caller drops the oldest DEAD timers if there are
-- too many.
local function bury(id, event, reason)
    redis.call('HDEL', events, id)
    redis.call('ZADD', dead, now, id)
    redis.call('HSET', dead_events, id, event)
    if reason and reason ~= '' then redis.call('HSET', dead_events, '\0' .. id, reason) end
end

local function forget_oldest_dead()
    local excess = redis.call('ZCARD', dead) - 1000
    if excess <= 0 then return end
    local popped = redis.call('ZPOPMIN', dead, excess)
    for i = 1, #popped, 2 do
        redis.call('HDEL', dead_events, popped[i], '\0' .. popped[i])
        redis.call('HDEL', confirm, popped[i])
    end
    -- Ignores errors. In a cluster, a namespace with its own hash tag may be in another slot than
    -- the counters.
    pcall(tally, '\146' .. str('timers.forgotten') .. '\145\146' .. str('namespace') ..
        str(space), excess)
end

local function put_back()
    local over = redis.call('ZRANGE', fired, '-inf', now, 'BYSCORE', 'LIMIT', 0, 1000,
        'WITHSCORES')
    if #over == 0 then return end
    local ids = {}
    for i = 1, #over, 2 do ids[#ids + 1] = over[i] end
    local slice, texts = slice_of(ids)
    ids = slice
    redis.call('ZREM', fired, unpack(ids))
    local posted = redis.call('ZMSCORE', pending, unpack(ids))
    local died = false
    for i, id in ipairs(ids) do
        local event = texts[i]
        -- If Node's dtimer posted the timer again meanwhile, the PENDING timer is a new timer and
        -- is not changed.
        if event and not posted[i] then
            local count, max = retries_in(event)
            if count < max then
                redis.call('HSET', events, id, with_count(event, count + 1))
                redis.call('ZADD', pending, over[2 * i], id)
            else
                bury(id, event)
                died = true
            end
        end
    end
    if died then forget_oldest_dead() end
end
