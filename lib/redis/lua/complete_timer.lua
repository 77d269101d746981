-- CompleteTimer: confirms a FIRED timer, and performs its follow-ups: pushes jobs, publishes events
-- and posts timers.
-- KEYS  1 {namespace}:et
-- ARGV  1 prefix, 2 now, 3 fleet, 4 namespace, 5 id, 6 the number of its retries, 7 its score in
--       `et`, or "" for any, 8 number of pushes, 9 number of publications; then the pushes,
--       publications and timers as in complete_job.lua
-- Parts: confirm_timer(), push_job(), publish_event() and post_timer() are the scripts of these
--        names, as functions of KEYS and ARGV.
-- Effect: the effects of all these scripts, or none: everything is checked before the first change.
-- Reply: as in complete_job.lua; 0 when no such firing waits for its confirmation.
read_follow_ups(8)
local moving = expect_timers_of(ARGV)
if type(moving) == 'table' then return moving end
local T = P .. ARGV[4] .. ':'
local back = redis.call('ZSCORE', T .. 'et', ARGV[5])
local waits = back and not redis.call('ZSCORE', T .. 'ei', ARGV[5]) and
    (ARGV[7] == '' or tonumber(back) == tonumber(ARGV[7]))
local event = waits and redis.call('HGET', T .. 'ed', ARGV[5])
if not event or retries_in(event) ~= tonumber(ARGV[6]) then return {0} end
local refused = refused_publication() or expect_follow_ups()
if refused then return refused end
local confirmed = confirm_timer(KEYS, ARGV)
if confirmed ~= 1 then return confirmed == 0 and {0} or confirmed end
return follow()
