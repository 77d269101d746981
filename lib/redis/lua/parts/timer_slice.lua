-- Returns the first of these timers, limited to 4 MiB of events, but at least one timer with an
-- event. Returns a list of ids and a list of events.
local function slice_of(ids)
    local slice, texts, bytes = {}, {}, 0
    for from = 1, #ids, 16 do
        local last = math.min(from + 15, #ids)
        for i, event in ipairs(redis.call('HMGET', events, unpack(ids, from, last))) do
            local more = event and #event or 0
            if bytes > 0 and bytes + more > 4194304 then return slice, texts end
            bytes = bytes + more
            slice[#slice + 1], texts[#texts + 1] = ids[from + i - 1], event
        end
    end
    return slice, texts
end
