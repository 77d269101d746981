local function size_with_errors(q, job, record)
    local bytes = size_of(q, job)
    for i = 9, #record, 3 do bytes = bytes + #tostring(record[i]) end
    return bytes
end
