-- Throughput over time. `routemaster:throughput:{q}` counts, for each minute, jobs done ("d"),
-- attempts failed ("f"), jobs BURIED ("b") and jobs expired ("e"). The name of a field is the
-- letter and the number of the minute since 1970. After at least an hour, the count of a minute is
-- added to the count of its hour, "D", "F", "B" or "E", which is retained for a day. These
-- functions never fail, because statistics must not stop a step.

-- Adds the counts of minutes older than an hour to their hours. Removes hours older than a day.
local function fold_throughput(key, minute)
    local hour = math.floor(minute / 60)
    local all = redis.pcall('HGETALL', key)
    for i = 1, all.err and 0 or #all, 2 do
        local letter, number = string.sub(all[i], 1, 1), tonumber(string.sub(all[i], 2)) or 0
        local is_hour = letter == string.upper(letter)
        if is_hour and number <= hour - 24 then
            redis.pcall('HDEL', key, all[i])
        elseif not is_hour and number <= minute - 60 then
            redis.pcall('HDEL', key, all[i])
            local of = math.floor(number / 60)
            if of > hour - 24 then
                redis.pcall('HINCRBY', key, string.upper(letter) .. string.format('%.0f', of),
                    tonumber(all[i + 1]) or 0)
            end
        end
    end
    redis.pcall('EXPIRE', key, 90000)
end

-- Adds 1 to a count of a queue. The first count in a minute also calls fold_throughput().
local function note_throughput(q, letter)
    local key, minute = P .. 'routemaster:throughput:' .. q, math.floor(now / 60000)
    if redis.pcall('HINCRBY', key, letter .. string.format('%.0f', minute), 1) == 1 then
        fold_throughput(key, minute)
    end
end
