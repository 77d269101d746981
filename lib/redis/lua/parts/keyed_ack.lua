-- Acknowledges a job with a key. Returns 1, or 0 if the lease is lost.
local function keyed_ack(q, job, worker, fence, id)
    local _, name = held_in(q, job, worker, fence, id)
    if not name then return 0 end
    local jobs = expect('SCARD', 'jobs:index:' .. q)
    expect('ZCARD', 'routemaster:ids:' .. q, 'routemaster:kept_keys')
    expect('HLEN', 'routemaster:job:' .. q, 'routemaster:keyed:' .. q, 'routemaster:keys:' .. q,
        'counters')
    local record = record_of(q, name)
    local awaited = more_of(record).after
    if awaited then expect_queue(q) end
    if not end_lease(q, name, worker, fence) then return 0 end
    keep_key(q, name)
    forget(q, name)
    if awaited then dependents()(q, tonumber(string.sub(name, 2))) end
    if jobs == 1 then select(2, queue_names())(q) end
    note_throughput(q, 'd')
    leave_batch(record, 'succeeded')
    settle_batches()
    return 1
end
