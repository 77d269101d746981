-- CompleteJob: removes a job that was completed, and performs its follow-ups: pushes jobs,
-- publishes events and posts timers.
-- KEYS  1 jobs:index:{q}
-- ARGV  1 prefix, 2 now, 3 fleet, 4 queue, 5 job, 6 worker, 7 fence, 8 id or 0, 9 number of pushes,
--       10 number of publications; then for each push, publication and timer: the number of its
--       arguments behind the first three, and these arguments, as in push_job.lua,
--       publish_event.lua and post_timer.lua
-- Parts: ack_job(), push_job(), publish_event() and post_timer() are the scripts of these names, as
--        functions of KEYS and ARGV.
-- Effect: the effects of all these scripts, or none: everything is checked before the first change.
-- Reply: 1, a list with the result and id of each push, and a list with the result of each timer (1
--        when it replaced another timer); or 0 when the lease is lost; or, for a rejected
--        publication, a code and its index, from 0: -1 another publisher owns the topic; -2 the
--        publisher may claim no more topics; -3 the publisher is no valid token; -4 the subscriber
--        does not exist.
read_follow_ups(9)
if not held_in(ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8]) then return {0} end
local refused = refused_publication() or expect_follow_ups()
if refused then return refused end
local acked = ack_job(KEYS, ARGV)
if acked ~= 1 then return acked == 0 and {0} or acked end
return follow()
