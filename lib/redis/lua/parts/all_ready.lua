-- Makes several jobs READY at once, in their order. `dues` has the due time of each job. See
-- ready.lua.

local function add_all_ready(q, jobs, dues)
    local due = P .. 'routemaster:due:' .. q
    local size = redis.call('LPUSH', P .. 'jobs:instant:' .. q, unpack(jobs))
    local noted = redis.pcall('LPUSH', due, unpack(dues))
    if noted ~= size then
        -- The list of due times has another length than the list of jobs. If no job was READY
        -- before, only the new times are retained. Otherwise the list of times is emptied.
        local from, to = 1, 0
        if size == #jobs then from, to = 0, size - 1 end
        redis.pcall('LTRIM', due, from, to)
    end
    if size == #jobs then wake(q, -1) end
end
