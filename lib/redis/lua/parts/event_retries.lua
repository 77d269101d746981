-- Reads and changes the number of retries in an event. An event is a JSON text in the format of
-- Node's dtimer. Scripts read two of its numbers, and change only `_numRetries`, the number of
-- retries so far. Before the first retry, an event has no `_numRetries`. The rest of the text is
-- not changed.

local function whole(number)
    if type(number) ~= 'number' or number ~= number then return 0 end
    return math.max(0, math.min(math.ceil(number), 4294967295))
end

-- Returns the number of retries so far, and the maximum. A missing number is 0, and both are 0 if
-- the text is no JSON object. Routemaster writes both numbers at the end of the text, where a
-- pattern finds them without parsing.
local function retries_in(text)
    if string.byte(text) == 123 then
        local max, count = string.match(text, '[{,]"maxRetries":(%d+),"_numRetries":(%d+)}$')
        if not max and not string.find(text, '_numRetries', 1, true) then
            max, count = string.match(text, '[{,]"maxRetries":(%d+)}$'), 0
        end
        if max then return whole(tonumber(count)), whole(tonumber(max)) end
    end
    local read, event = pcall(cjson.decode, text)
    if not read or type(event) ~= 'table' then return 0, 0 end
    return whole(event._numRetries), whole(event.maxRetries)
end

local function end_of_string(text, at)
    repeat
        at = string.find(text, '["\\]', at + 1)
        if not at then return #text end
        local quote = string.byte(text, at) == 34
        if not quote then at = at + 1 end
    until quote
    return at
end

-- Finds the number `_numRetries` in an event. Returns where its key begins, where the number
-- begins, and where the number ends.
local function place_of_count(text)
    local depth, at = 0, string.find(text, '["%[%]{}]')
    while at do
        local byte = string.byte(text, at)
        if byte == 34 then
            local last = end_of_string(text, at)
            if depth == 1 and string.sub(text, at, last) == '"_numRetries"' then
                local from, to = string.match(text, '^%s*:%s*()-?[%d.eE+-]+()', last + 1)
                if from then return at, from, to - 1 end
            end
            at = last
        elseif byte == 91 or byte == 123 then
            depth = depth + 1
        else
            depth = depth - 1
        end
        at = string.find(text, '["%[%]{}]', at + 1)
    end
end

-- Returns the event with `_numRetries` set to `count`, or without `_numRetries` if `count` is nil.
local function with_count(text, count)
    local last = string.find(text, ',"_numRetries":%d+}$')
    if last then
        text = string.sub(text, 1, last - 1)
    else
        if string.find(text, '_numRetries', 1, true) then
            local key, from, to = place_of_count(text)
            if key and count then
                return string.sub(text, 1, from - 1) .. string.format('%.0f', count) ..
                    string.sub(text, to + 1)
            elseif key then
                local before, behind = string.sub(text, 1, key - 1), string.sub(text, to + 1)
                local next = string.match(behind, '^%s*,()')
                if next then return before .. string.sub(behind, next) end
                return string.gsub(before, ',%s*$', '') .. behind
            end
        end
        text = string.gsub(text, '}%s*$', '')
    end
    if not count then return text .. '}' end
    local comma = string.sub(text, -1) == '{' and '' or ','
    return text .. comma .. '"_numRetries":' .. string.format('%.0f', count) .. '}'
end
