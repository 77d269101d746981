-- What became of jobs over time. `routemaster:throughput:{q}` has how many jobs were done ("d"),
-- attempts failed ("f"), jobs were BURIED ("b") or have expired ("e") in a minute, whose number
-- since 1970 follows the letter: the last hour at least. Older minutes are added to their hours,
-- "D", "F", "B" and "E", and these are kept for a day. Never fails: who counts goes on.

-- Adds minutes that are over to their hours, and forgets what is too old.
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

-- Counts one more in a queue. The first one of a minute tidies up.
local function note_throughput(q, letter)
    local key, minute = P .. 'routemaster:throughput:' .. q, math.floor(now / 60000)
    if redis.pcall('HINCRBY', key, letter .. string.format('%.0f', minute), 1) == 1 then
        fold_throughput(key, minute)
    end
end
