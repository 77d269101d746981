-- DueRecurringJobs: returns the due recurring jobs, and when the next job is due.
-- KEYS  1 routemaster:recurring:due
-- ARGV  1 prefix, 2 now, 3 fleet, 4 limit
-- Reply: now; when the first job beyond the listed jobs is due, or nil; then recurring_reply() for
--        each job.
local limit = tonumber(ARGV[4])
local found = redis.call('ZRANGE', KEYS[1], '-inf', '+inf', 'BYSCORE', 'LIMIT', 0, limit + 1,
    'WITHSCORES')
local reply = {now, false}
for i = 1, #found, 2 do
    local at = tonumber(found[i + 1])
    if at > now or #reply == limit + 2 then
        reply[2] = at
        break
    end
    local record = recurring_of(found[i])
    if record then reply[#reply + 1] = recurring_reply(found[i], record) end
end
return reply
