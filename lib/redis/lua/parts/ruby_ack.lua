-- Acknowledges a job of `main` or `aux`. Returns 1, or 0 if the lease is lost.
local function ruby_ack(q, job, worker, fence)
    local part = held_in(q, job, worker, fence, '0')
    if not part then return 0 end
    local uid = batch_of(q, job)
    if uid and subscriber_of(uid) then
        return redis.error_reply('INVALID lease: a delivery must be settled by SettleDelivery')
    end
    expect('SCARD', 'jobs:index:' .. q)
    if not end_lease(part, job, worker, fence) then return 0 end
    redis.call('SREM', KEYS[1], job)
    return 1
end
