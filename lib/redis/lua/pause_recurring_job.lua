-- PauseRecurringJob: pauses or resumes a recurring job.
-- KEYS  1 routemaster:recurring
-- ARGV  1 prefix, 2 now, 3 fleet, 4 name, 5 "1" to pause, "0" to resume
-- Effect: resuming marks the ticks up to now as settled, so they never run.
-- Reply: 1, or 0 when the recurring job does not exist.
expect_recurring()
local record, paused = recurring_of(ARGV[4]), tonumber(ARGV[5])
if not record then return 0 end
if record[2] == paused then return 1 end
record[2] = paused
if paused == 0 then record[4] = math.max(record[4], now) end
keep_recurring(ARGV[4], record)
if paused == 0 then wake_schedulers() end
return 1
