-- Lists a set or hash of names page by page, sorted by bytes. ARGV[4] is `after`, ARGV[5] `limit`,
-- and ARGV[6] is "1" once the index was repaired.

-- Up to this number, all names are read and sorted. For more names, an index is used.
local sorted_max = 100

-- Compares bytes, because `<` would depend on the locale of the server.
local function before(a, b)
    for i = 1, math.min(#a, #b) do
        local x, y = string.byte(a, i), string.byte(b, i)
        if x ~= y then return x < y end
    end
    return #a < #b
end

-- Omits names without the prefix `head`, and names for which `counts` returns false.
local function sorted_page(names, head, counts)
    local wanted = {}
    for _, name in ipairs(names) do
        if string.sub(name, 1, #head) == head and before(ARGV[4], name) and counts(name) then
            wanted[#wanted + 1] = name
        end
    end
    table.sort(wanted, before)
    for i = #wanted, ARGV[5] + 1, -1 do wanted[i] = nil end
    return wanted
end

-- Returns a page from the index. Returns nil if a name of the page does not exist any more, because
-- a program that does not update the index has removed it. `head` is one byte or empty.
local function indexed_page(key, index, is_hash, head, counts)
    local low = before(ARGV[4], head) and '[' .. head or '(' .. ARGV[4]
    local high = head == '' and '+' or '(' .. string.char(string.byte(head) + 1)
    local wanted, limit = {}, tonumber(ARGV[5])
    local more = true
    while more and #wanted < limit do
        local count = math.min(limit - #wanted, 1000)
        local names = redis.call('ZRANGE', index, low, high, 'BYLEX', 'LIMIT', 0, count)
        for _, name in ipairs(names) do
            if redis.call(is_hash and 'HEXISTS' or 'SISMEMBER', P .. key, name) == 1 then
                if counts(name) then wanted[#wanted + 1] = name end
            elseif ARGV[6] ~= '1' then
                return nil
            end
        end
        more = #names == count
        if more then low = '(' .. names[count] end
    end
    return wanted
end

-- Returns the page that a listing requests; nil if the index is outdated. Names for which the
-- optional function `counts` returns false are skipped and do not shorten the page.
local function page(key, is_hash, head, counts)
    counts = counts or function() return true end
    local size = redis.call(is_hash and 'HLEN' or 'SCARD', P .. key)
    if size <= sorted_max then
        return sorted_page(redis.call(is_hash and 'HKEYS' or 'SMEMBERS', P .. key), head or '',
            counts)
    end
    local index = P .. 'routemaster:index:' .. key
    if ARGV[6] ~= '1' and redis.call('ZCARD', index) ~= size then return nil end
    return indexed_page(key, index, is_hash, head or '', counts)
end
