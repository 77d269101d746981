-- Ends batches of jobs; see job_batch.lua.

-- Decodes the callback of a batch from MessagePack: [queue, job, attempts_max, timeout, priority,
-- before, after]. In the metadata, the id of the batch is inserted between `before` and `after`.
-- Returns nil if there is no readable callback. Fails if a key of the queue has a wrong type.
local function callback_of(packed)
    local read, callback = pcall(cmsgpack.unpack, packed or '')
    if not read or type(callback) ~= 'table' or #callback < 7 then return nil end
    expect_queue(callback[1])
    return callback
end

-- Pushes the job of a callback, if there is one. Stores the id of the job, and the current time in
-- the field `happened`.
local function push_callback(callback, id, event, key, happened)
    redis.call('HSET', key, happened, now)
    if not callback then return end
    local q, digits = callback[1], string.format('%.0f', id)
    local job_id = redis.call('INCR', P .. 'routemaster:job_id')
    local name, own = keyed_name(job_id), 'batch:' .. digits .. ':' .. event
    local metadata = callback[6] .. string.char(160 + #digits) .. digits .. callback[7]
    local priority = callback[5] ~= 0 and callback[5] or nil
    local record = {0, '', callback[3], {callback[4], metadata, priority}, never, -1}
    redis.call('HSET', P .. 'routemaster:keyed:' .. q, name,
        cmsgpack.pack({callback[2], own, 0, never}))
    redis.call('HSET', P .. 'routemaster:keys:' .. q, own, job_id)
    redis.call('ZADD', P .. 'routemaster:ids:' .. q, job_id, name)
    place_by(q, name, now, record)
    save(q, name, record)
    local index = P .. 'jobs:index:' .. q
    if redis.call('SADD', index, name) == redis.call('SCARD', index) then queue_names()(q) end
    redis.call('HSET', key, event .. '_job', job_id)
end

-- Ends a batch that is closed and has no jobs left. Fails only before the first change.
local function end_batch(id)
    local digits = string.format('%.0f', id)
    local key = P .. 'routemaster:job_batch:' .. digits
    local batch = redis.call('HMGET', key, 'closed_at', 'ended_at', 'succeeded_at', 'total',
        'succeeded', 'buried', 'cancelled', 'expired', 'forgotten', 'on_success', 'on_end')
    local total, succeeded = tonumber(batch[4]), tonumber(batch[5]) or 0
    if not batch[1] or not total then return end
    local left = total
    for i = 5, 9 do left = left - (tonumber(batch[i]) or 0) end
    if left > 0 then return end
    local on_success, on_end = callback_of(batch[10]), callback_of(batch[11])
    expect('ZCARD', batches_open, batches_ended, batch_ends_at)
    expect('HLEN', batch_names, 'counters')
    redis.call('INCRBY', P .. 'routemaster:job_id', 0)
    if not batch[3] and succeeded == total then
        push_callback(on_success, id, 'success', key, 'succeeded_at')
    end
    if batch[2] then return end
    push_callback(on_end, id, 'end', key, 'ended_at')
    redis.call('ZREM', P .. batches_open, digits)
    redis.call('ZADD', P .. batches_ended, id, digits)
    redis.call('ZADD', P .. batch_ends_at, now, digits)
    forget_old_batches()
end

-- Ends the batches in `ARGV.batches` that are complete, in the order of their ids. If the callback
-- cannot be pushed because a key of its queue has a wrong type, the batch remains open. The next
-- CloseJobBatch then ends it.
local function end_batches()
    local ids = {}
    for id in pairs(ARGV.batches) do ids[#ids + 1] = id end
    ARGV.batches = nil
    table.sort(ids)
    for _, id in ipairs(ids) do pcall(end_batch, id) end
end
