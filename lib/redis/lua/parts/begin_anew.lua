-- Resets the attempts in the record of a job, but not its errors.
local function begin_anew(record)
    record[1] = 0
    if not is_failing(record) then return end
    for _ = 1, 3 do table.remove(record, 7) end
end
