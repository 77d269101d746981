-- Moves what is READY of a subscriber whose batches went to the callback `before`, as `callback_of`
-- returns it: what is READY for that callback, or among the first `concurrency` places of its
-- group. A mixed fleet has no groups, and what was for a URL is found where it is.
local function redirect(token, before, concurrency)
    if callback_of(token) == before then return end
    local jobs = {}
    local group = P .. 'routemaster:group:' .. token
    for i, uid in ipairs(redis.call('ZRANGE', group, 0, concurrency - 1)) do
        jobs[i] = delivery_prefix .. uid
    end
    if mixed or (before and before ~= '') then
        local ready = redis.pcall('LRANGE', callback_key(before or unreadable), 0, -1)
        if ready.err then return end
        -- The job that has waited longest is at the right.
        jobs = {}
        for i = #ready, 1, -1 do jobs[#jobs + 1] = ready[i] end
    end
    for _, job in ipairs(jobs) do
        local uid = batch_of('main', job)
        local from = before or (uid and is_unreadable(uid) and unreadable) or nil
        if uid and subscriber_of(uid) == token and withdraw(job, from) then
            offer('main', job, token)
        end
    end
end
