-- Performs the follow-ups of a job or timer: the pushes, publications and timers to be added when
-- the job or timer completes. All of them are checked before any change. Needs expect_timers_of(),
-- batches(), batch_ends(), and the scripts push_job(), publish_event() and post_timer() as
-- functions of KEYS and ARGV.

local pushes, publications, timers = {}, {}, {}

-- Batches of jobs are settled at the end of the step, because the last job of a batch may push
-- further jobs into its batch as follow-ups.
ARGV.batches, ARGV.within = {}, true

-- Parses the follow-ups. ARGV[at] is the number of pushes and ARGV[at + 1] the number of
-- publications; the remaining ones are timers. For each follow-up, ARGV then has the number of its
-- arguments after the first three, and these arguments.
local function read_follow_ups(at)
    local first, second = tonumber(ARGV[at]), tonumber(ARGV[at + 1])
    at = at + 2
    while ARGV[at] do
        local list = #pushes < first and pushes or #publications < second and publications or timers
        local arguments = {ARGV[1], ARGV[2], ARGV[3]}
        for i = at + 1, at + tonumber(ARGV[at]) do arguments[#arguments + 1] = ARGV[i] end
        list[#list + 1] = arguments
        at = at + 1 + tonumber(ARGV[at])
    end
end

-- Returns the reply for the first publication that must be rejected, or nil. Each
-- publication is checked as if the earlier publications had claimed their topics.
local function refused_publication()
    local owners, claims = {}, {}
    for place, publication in ipairs(publications) do
        local topic, publisher = publication[4], publication[5]
        if publication[9] == '1' and
            redis.call('HEXISTS', P .. 'api_tokens:by_token', publisher) == 0 then
            return {-3, place - 1}
        end
        local only = publication[11]
        if only ~= '' then
            if redis.call('HEXISTS', P .. 'subscriber:' .. only, 'uuid') == 0 then
                return {-4, place - 1}
            end
        else
            local owner = owners[topic] or
                redis.call('HGET', P .. 'topic:' .. topic, 'publisher')
            if owner and owner ~= publisher then return {-1, place - 1} end
            if not owner and publisher ~= '' then
                local claimed = claims[publisher] or
                    tonumber(redis.call('HGET', P .. 'routemaster:claims', publisher)) or 0
                if claimed >= tonumber(publication[8]) then return {-2, place - 1} end
                owners[topic], claims[publisher] = publisher, claimed + 1
            end
        end
    end
end

local known = {}

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

-- Checks everything that could fail. Fails if a key that will be written has a wrong type. Returns
-- an error reply if a push is into an ended batch, or if the cluster slot of a timer is being
-- migrated.
local function expect_follow_ups()
    for _, publication in ipairs(publications) do
        local only = publication[11]
        if only ~= '' then
            if is_new('subscriber:' .. only) then expect_subscriber(only) end
        elseif is_new('topic:' .. publication[4]) then
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
    for place, push in ipairs(pushes) do
        if is_new('queue:' .. push[4]) then expect_queue(push[4]) end
        if push[16] and string.find(push[16], '\165batch', 1, true) then
            local _, _, may_join, _, batch_in = batches()
            local batch = batch_in({[4] = {0, '', 0, push[16]}})
            local why = batch and may_join(batch)
            if why then
                return redis.error_reply(string.format('INVALID pushes[%.0f]: %s', place - 1, why))
            end
        end
    end
    if #pushes > 0 then
        expect('ZCARD', 'routemaster:kept_keys')
        -- INCRBY 0 fails if the value is no number.
        if redis.call('EXISTS', P .. 'routemaster:job_id') == 1 then
            redis.call('INCRBY', P .. 'routemaster:job_id', 0)
        end
    end
    for _, timer in ipairs(timers) do
        if is_new('timers:' .. timer[4]) then
            local moving = expect_timers_of(timer)
            if type(moving) == 'table' then return moving end
        end
    end
end

-- Performs all follow-ups. Reply: 1, a list with the result and id of each push, and a list with
-- the result of each timer.
local function follow()
    local pushed, posted = {}, {}
    for _, push in ipairs(pushes) do
        push.batches, push.within = ARGV.batches, true
        local reply = push_job({P .. 'jobs:index:' .. push[4]}, push)
        pushed[#pushed + 1], pushed[#pushed + 2] = reply[1], reply[2]
    end
    for _, publication in ipairs(publications) do
        publish_event({P .. 'topic:' .. publication[4]}, publication)
    end
    for _, timer in ipairs(timers) do
        posted[#posted + 1] = post_timer({P .. timer[4] .. ':ei'}, timer)
    end
    if next(ARGV.batches) then batch_ends()() end
    return {1, pushed, posted}
end
