-- PublishEvent for several events of one topic, in order.
-- KEYS  1 topic:{topic}
-- ARGV  1 prefix, 2 now, 3 fleet, 4 topic, 5 publisher or "", 6 and 7 the fields of the counters
--       events.published and events.bytes, 8 how many topics the publisher may claim, 9 "1" if the
--       publisher must be a valid token, 10 bytes that fill a batch, 11 ""; then for each event:
--       message, timestamp, the first 17 characters of new batch ids, "1" for an event that no Ruby
--       worker can read
-- Parts: publish_event() is the script for one event, as a function of KEYS and ARGV.
-- Reply: a list with the reply of publish_event.lua for each event, which may be an error.
local topic, publisher, bytes_max = ARGV[4], ARGV[5], tonumber(ARGV[10])
local count = (#ARGV - 11) / 4
local gauge = P .. 'batches:gauges:event'

local function message_of(i) return ARGV[8 + 4 * i] end
local function is_unreadable(i) return ARGV[11 + 4 * i] == '1' end

local function is_large(message) return #message >= 1024 or #message >= bytes_max end

-- Returns how many events, beginning at `first`, only have to be appended to existing batches,
-- because they neither begin nor fill a batch by the rules of publish_event.lua. Also returns the
-- CURRENT batches of the subscribers. Each key is read here, because a key of a wrong type must
-- stop the script before any change.
local function look(first)
    local run, batches, some_unreadable = 0, {}, false
    while first + run <= count and not is_large(message_of(first + run)) do
        some_unreadable = some_unreadable or is_unreadable(first + run)
        run = run + 1
    end
    if run < 2 then return 0 end
    if ARGV[9] == '1' and redis.call('HEXISTS', P .. 'api_tokens:by_token', publisher) == 0 then
        return 0
    end
    local owner = redis.call('HGET', KEYS[1], 'publisher')
    if (owner or '') ~= publisher then return 0 end
    if not owner and redis.call('SISMEMBER', P .. 'topics', topic) == 0 then return 0 end
    local tokens = redis.call('SMEMBERS', P .. 'subscribers:' .. topic)
    if #tokens > 1 then table.sort(tokens) end
    for _, token in ipairs(tokens) do
        local wants = redis.call('HMGET', P .. 'subscriber:' .. token, 'max_events', 'uuid')
        if wants[2] then
            local uid = redis.call('SRANDMEMBER', P .. 'batches:current:' .. token)
            local length = uid and redis.call('LLEN', P .. 'batches:' .. uid) or 0
            if length < 3 then return 0 end
            local job = '\146\165batch\145\180' .. uid
            if redis.call('SISMEMBER', P .. 'jobs:index:main', job) == 0 then return 0 end
            if some_unreadable and
                redis.call('EXISTS', P .. 'routemaster:unreadable:' .. uid) == 0 then
                return 0
            end
            -- The position that the first event gets in its batch. Every 64th event measures the
            -- size of its batch, and is handled by publish_event.lua.
            local number = math.max(length - 2, 1)
            if number % 64 == 0 then return 0 end
            run = math.min(run, (tonumber(wants[1]) or 100) - number, 64 - number % 64)
            batches[#batches + 1] = {token, uid}
        end
    end
    redis.call('HLEN', gauge)
    return run, batches
end

local function append(first, run, batches)
    local messages, bytes = {}, 0
    for i = first, first + run - 1 do
        messages[#messages + 1] = message_of(i)
        bytes = bytes + #message_of(i)
    end
    -- This is the first change. If it fails, nothing was changed.
    tally(ARGV[6], run)
    tally(ARGV[7], bytes)
    add(KEYS[1], 'counter', run)
    for _, one in ipairs(batches) do
        local token, uid = one[1], one[2]
        redis.call('RPUSH', P .. 'batches:' .. uid, unpack(messages))
        add(gauge, token, run)
        tally('\146\172events.added\145\146\165queue' .. str(token), run)
    end
end

local replies = {}
while #replies < count do
    local first = #replies + 1
    local looked, run, batches = pcall(look, first)
    if looked and run > 1 and pcall(append, first, run, batches) then
        for i = first, first + run - 1 do replies[i] = 1 end
    else
        replies[first] = alone(publish_event, 11, 4, first)
    end
end
return replies
