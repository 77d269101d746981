-- CompleteJob: removes a job that was done, pushes jobs, and publishes events.
-- KEYS  1 jobs:index:{q}
-- ARGV  1 prefix, 2 now, 3 fleet, 4 queue, 5 job, 6 worker, 7 fence, 8 how many pushes; then of
--       each push, and after them of each publication: how many arguments it has behind the first
--       three, and these, as in push_job.lua and publish_event.lua
-- Parts: ack_job(), push_job() and publish_event() are these scripts, as functions of KEYS and
--        ARGV.
-- Effect: all that those do, or nothing: what they may meet is checked before anything is changed.
-- Reply: 1, then outcome and id of each push; 0 when the lease is lost; or the place of a
--        publication that is refused, from 0, behind -1 when the topic belongs to another, -2 when
--        the publisher may claim no more topics, -3 when it is not a valid token.
local pushes, publications, at = {}, {}, 9
while ARGV[at] do
    local list = #pushes < tonumber(ARGV[8]) and pushes or publications
    local arguments = {ARGV[1], ARGV[2], ARGV[3]}
    for i = at + 1, at + tonumber(ARGV[at]) do arguments[#arguments + 1] = ARGV[i] end
    list[#list + 1] = arguments
    at = at + 1 + tonumber(ARGV[at])
end

if not held_in(ARGV[4], ARGV[5], ARGV[6], ARGV[7]) then return {0} end

local known = {}

-- Whether something is met for the first time.
local function is_new(what)
    if known[what] then return false end
    known[what] = true
    return true
end

local function expect_subscriber(token)
    expect('HLEN', 'subscriber:' .. token)
    expect('SCARD', 'batches:current:' .. token)
    expect('ZCARD', 'routemaster:group:' .. token)
    for _, uid in ipairs(redis.call('SMEMBERS', P .. 'batches:current:' .. token)) do
        expect('LLEN', 'batches:' .. uid)
    end
end

-- Rights first, in the order of the publications: each sees what those before it have claimed.
local owners, claims = {}, {}
for place, publication in ipairs(publications) do
    local topic, publisher = publication[4], publication[5]
    if publication[12] == '1' and
        redis.call('HEXISTS', P .. 'api_tokens:by_token', publisher) == 0 then
        return {-3, place - 1}
    end
    local owner = owners[topic] or redis.call('HGET', P .. 'topic:' .. topic, 'publisher')
    if owner and owner ~= publisher then return {-1, place - 1} end
    if not owner and publisher ~= '' then
        local claimed = claims[publisher] or
            tonumber(redis.call('HGET', P .. 'routemaster:claims', publisher)) or 0
        if claimed >= tonumber(publication[11]) then return {-2, place - 1} end
        owners[topic], claims[publisher] = publisher, claimed + 1
    end
end

for _, publication in ipairs(publications) do
    if is_new('topic:' .. publication[4]) then
        for _, token in ipairs(redis.call('SMEMBERS', P .. 'subscribers:' .. publication[4])) do
            if is_new('subscriber:' .. token) then expect_subscriber(token) end
        end
    end
end
if #publications > 0 then
    expect('SCARD', 'topics')
    expect('HLEN', 'routemaster:claims', 'counters', 'batches:gauges:batch',
        'batches:gauges:event')
    expect('ZCARD', 'batches:index')
    expect_queue('main')
end
for _, push in ipairs(pushes) do
    if is_new('queue:' .. push[4]) then expect_queue(push[4]) end
end
if #pushes > 0 then
    expect('ZCARD', 'routemaster:kept_keys')
    -- Fails when it is no number.
    if redis.call('EXISTS', P .. 'routemaster:job_id') == 1 then
        redis.call('INCRBY', P .. 'routemaster:job_id', 0)
    end
end

local acked = ack_job(KEYS, ARGV)
if acked ~= 1 then return acked == 0 and {0} or acked end
local reply = {1}
for _, push in ipairs(pushes) do
    local pushed = push_job({P .. 'jobs:index:' .. push[4]}, push)
    reply[#reply + 1], reply[#reply + 2] = pushed[1], pushed[2]
end
for _, publication in ipairs(publications) do
    publish_event({P .. 'topic:' .. publication[4]}, publication)
end
return reply
