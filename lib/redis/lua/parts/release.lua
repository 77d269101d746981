-- Unblocks at most `limit` jobs, for Ruby workers to find. They become SCHEDULED, due since their
-- batches began, which keeps their order, and Ruby Routemaster promotes them as we do. Returns how
-- many.
local function release(limit)
    local jobs = redis.call('SPOP', P .. 'routemaster:blocked:main', limit)
    if #jobs == 0 then return 0 end
    local places = {}
    for _, job in ipairs(jobs) do
        local uid = batch_of('main', job)
        local token = uid and subscriber_of(uid)
        local score = token and redis.pcall('ZSCORE', P .. 'routemaster:group:' .. token, uid)
        places[#places + 1] = math.min((tonumber(score) or now * 1000) / 1000, now)
        places[#places + 1] = job
    end
    redis.call('ZADD', P .. 'jobs:scheduled:main', unpack(places))
    wake('main', -1)
    return #jobs
end
