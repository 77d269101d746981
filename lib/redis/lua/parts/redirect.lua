-- Moves what is READY of a subscriber whose batches went to the callback `before`, as `callback_of`
-- returns it. That is among the first `concurrency` places of its group; in a mixed fleet there is
-- no group, and what was for a URL is found where it is.
local function redirect(token, before, concurrency)
    if callback_of(token) == before then return end
    local jobs = {}
    local group = P .. 'routemaster:group:' .. token
    for i, uid in ipairs(redis.call('ZRANGE', group, 0, concurrency - 1)) do
        jobs[i] = delivery_prefix .. uid
    end
    if mixed and before then
        jobs = redis.pcall('LRANGE', callback_key(before), 0, -1)
        if jobs.err then return end
    end
    for _, job in ipairs(jobs) do
        local uid = batch_of('main', job)
        if uid and subscriber_of(uid) == token and withdraw(job, before) then
            offer('main', job, token)
        end
    end
end
