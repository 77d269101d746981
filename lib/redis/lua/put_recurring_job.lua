-- PutRecurringJob: adds a recurring job, or changes its settings.
-- KEYS  1 routemaster:recurring
-- ARGV  1 prefix, 2 now, 3 fleet, 4 name, 5 settings, 6 revision
-- Effect: the job is due now if it is new, or if its schedule or time zone changes. The scheduler
-- then computes its next tick.
-- Reply: 1.
local function ticks_of(settings)
    local read, map = pcall(cmsgpack.unpack, settings)
    if not read or type(map) ~= 'table' then return nil end
    return tostring(map.schedule) .. '\0' .. tostring(map.time_zone)
end

expect_recurring()
local name, settings = ARGV[4], ARGV[5]
local record = recurring_of(name)
if record and record[1] == settings then return 1 end
local others = not record or ticks_of(record[1]) ~= ticks_of(settings)
record = record or {settings, 0, now, now, false, 0, 0, ARGV[6]}
record[1], record[8] = settings, ARGV[6]
if others then
    record[3] = now
    record[4] = math.max(record[4], now)
end
note_name('routemaster:recurring', name)
keep_recurring(name, record)
if others and record[2] == 0 then wake_schedulers() end
return 1
