-- Moves what is READY of a subscriber whose batches went to the callback `before`, as `callback_of`
-- returns it: what is among the first `concurrency` places of its group, in their order, and what
-- is READY for that callback and in no group, since a mixed fleet has none. There, what was for a
-- URL is found where it is.
local function redirect(token, before, concurrency)
    if callback_of(token) == before then return end
    local group = P .. 'routemaster:group:' .. token
    local jobs = {}
    for i, uid in ipairs(redis.call('ZRANGE', group, 0, concurrency - 1)) do
        jobs[i] = delivery_prefix .. uid
    end
    if mixed or (before and before ~= '') then
        local ready = redis.pcall('LRANGE', callback_key(before or unreadable), 0, -1)
        -- The job that has waited longest is at the right.
        for i = ready.err and 0 or #ready, 1, -1 do
            local uid = batch_of('main', ready[i])
            if uid and not redis.call('ZSCORE', group, uid) then jobs[#jobs + 1] = ready[i] end
        end
    end
    for _, job in ipairs(jobs) do
        local uid = batch_of('main', job)
        local from = before or (uid and is_unreadable(uid) and unreadable) or nil
        if uid and subscriber_of(uid) == token and withdraw(job, from) then
            offer('main', job, token)
        end
    end
end
