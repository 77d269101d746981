-- Returns a batch of jobs as replies list it: id, name, created_at, closed_at, ended_at,
-- succeeded_at, on_success, on_end, success_job, end_job (each nil when absent), then the numbers.
-- Returns nil when the batch does not exist.
local function job_batch_reply(digits)
    local read = redis.call('HMGET', P .. 'routemaster:job_batch:' .. digits, 'name', 'created_at',
        'closed_at', 'ended_at', 'succeeded_at', 'on_success', 'on_end', 'success_job', 'end_job',
        'total', 'succeeded', 'buried', 'cancelled', 'expired', 'forgotten')
    if not read[1] then return nil end
    return {digits, unpack(read)}
end
