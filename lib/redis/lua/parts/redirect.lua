-- Moves the READY jobs of a subscriber after its callback changed. `before` is what callback_of()
-- returned before the change. First moves the jobs of the first `concurrency` batches in the
-- ordering group, in their order. Then moves READY jobs of the earlier callback that are in no
-- group, as in a mixed deployment. In a mixed deployment, READY jobs for a URL are not moved here,
-- but later by the workers.
local function redirect(token, before, concurrency)
    if callback_of(token) == before then return end
    local group = P .. 'routemaster:group:' .. token
    local jobs = {}
    for i, uid in ipairs(redis.call('ZRANGE', group, 0, concurrency - 1)) do
        jobs[i] = delivery_prefix .. uid
    end
    if mixed or (before and before ~= '') then
        local ready = redis.pcall('LRANGE', callback_key(before or unreadable), 0, -1)
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
