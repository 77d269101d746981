-- CompleteJob: removes a job that was done, pushes jobs, publishes events, and posts timers.
-- KEYS  1 jobs:index:{q}
-- ARGV  1 prefix, 2 now, 3 fleet, 4 queue, 5 job, 6 worker, 7 fence, 8 id or 0, 9 how many pushes,
--       10 how many publications; then of each push, each publication and each timer: how many
--       arguments it has behind the first three, and these, as in push_job.lua, publish_event.lua
--       and post_timer.lua
-- Parts: ack_job(), push_job(), publish_event() and post_timer() are these scripts, as functions of
--        KEYS and ARGV.
-- Effect: all that those do, or nothing: what they may meet is checked before anything is changed.
-- Reply: 1, a list of outcome and id of each push, and a list of what became of each timer, 1 when
--        it replaced another; 0 when the lease is lost; or the place of a publication that is
--        refused, from 0, behind -1 when the topic belongs to another, -2 when the publisher may
--        claim no more topics, -3 when it is not a valid token, -4 when the subscriber is gone.
read_follow_ups(9)
if not held_in(ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8]) then return {0} end
local refused = refused_publication() or expect_follow_ups()
if refused then return refused end
local acked = ack_job(KEYS, ARGV)
if acked ~= 1 then return acked == 0 and {0} or acked end
return follow()
