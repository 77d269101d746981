-- RunRecurringJob: settles ticks of a recurring job, and runs the last of them by a push or post.
-- KEYS  1 routemaster:recurring
-- ARGV  1 prefix, 2 now, 3 fleet, 4 name, 5 revision, 6 at, 7 until, 8 next; if the tick may run: 9
--       "push" or "post", 10 the number of arguments of push_job.lua or post_timer.lua that follow,
--       11... these arguments, from the fourth on; or 9 "anew" to reopen ticks after `until`
-- Parts: push_job() and post_timer() are the scripts of these names, as functions of KEYS and ARGV.
-- Reply: 0 pushed or posted, 1 kept, 2 moved, 3 stale; then the id of the job, or 0. The push or
-- post is performed first, because it can fail, but only before any change. No later command fails.
expect_recurring()
local name = ARGV[4]
local record = recurring_of(name)
local anew = ARGV[9] == 'anew'
if not record or record[8] ~= ARGV[5] or record[3] ~= tonumber(ARGV[6]) or
    (record[2] ~= 0 and not anew) then
    return {3, 0}
end
local last, outcome, id = tonumber(ARGV[7]), 2, 0
if ARGV[9] and not anew and last > record[4] and last ~= record[5] then
    local arguments = {ARGV[1], ARGV[2], ARGV[3], unpack(ARGV, 11)}
    if ARGV[9] == 'post' then
        -- The timer is due at its tick. The tick is a time of the server's clock and is not
        -- converted.
        arguments[7] = ARGV[7]
        local posted = post_timer({P .. ARGV[11] .. ':ei'}, arguments)
        if type(posted) == 'table' then return posted end
        outcome = posted == 2 and 1 or 0
    else
        local pushed = push_job({P .. 'jobs:index:' .. ARGV[11]}, arguments)
        if pushed.err then return pushed end
        outcome, id = pushed[1] == 1 and 0 or 1, pushed[2]
    end
    if outcome == 0 then
        record[5] = last
        record[6] = record[6] + 1
    else
        record[7] = record[7] + 1
    end
end
record[3] = tonumber(ARGV[8])
record[4] = anew and last or math.max(record[4], last)
keep_recurring(name, record)
return {outcome, id}
