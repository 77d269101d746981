-- CancelJob: removes a job that is not leased, or makes the worker with its lease stop.
-- KEYS  1 jobs:index:{q}
-- ARGV  1 prefix, 2 now, 3 fleet, 4 queue, 5 id
-- Effect: for a leased job, `cancelled` in the leases of its worker names the job; see lease.lua.
-- Reply: 1 when the job is removed, 0 when it does not exist, 2 when its worker will stop it.
local q = ARGV[4]
expect_queue(q)
expect('HLEN', 'counters')
local id = tonumber(ARGV[5])
local job = job_of(q, id)
if not job then return 0 end
local record = record_of(q, job)
local state = state_of(q, job, record)
if state == 2 then
    if record[6] ~= -2 then
        expect('HLEN', 'routemaster:leases:' .. record[2])
        local leases = P .. 'routemaster:leases:' .. record[2]
        local all = redis.call('HGETALL', leases)
        for i = 1, #all, 2 do
            if all[i + 1] == q .. '\0' .. job then
                local asked = redis.call('HGET', leases, 'cancelled')
                redis.call('HSET', leases, 'cancelled', (asked or '') .. ' ' .. all[i])
            end
        end
        record[6] = -2
        save(q, job, record)
    end
    return 2
end
take_out(q, job, id, state, record)
drop_cancelled(q, job)
settle_batches()
return 1
