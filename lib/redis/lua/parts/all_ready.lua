-- READY jobs that are added together; see ready.lua.

-- Makes jobs READY, in their order. `dues` has since when each has been due.
local function add_all_ready(q, jobs, dues)
    local due = P .. 'routemaster:due:' .. q
    local size = redis.call('LPUSH', P .. 'jobs:instant:' .. q, unpack(jobs))
    local noted = redis.pcall('LPUSH', due, unpack(dues))
    if noted ~= size then
        -- It begins anew with them, if nothing was READY before.
        local from, to = 1, 0
        if size == #jobs then from, to = 0, size - 1 end
        redis.pcall('LTRIM', due, from, to)
    end
    if size == #jobs then wake(q, -1) end
end
