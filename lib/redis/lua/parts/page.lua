-- Pages of sorted names. Compared byte by byte: `<` would follow the locale of the server.

local function before(a, b)
    for i = 1, math.min(#a, #b) do
        local x, y = string.byte(a, i), string.byte(b, i)
        if x ~= y then return x < y end
    end
    return #a < #b
end

-- The names after `after`, in order, at most `limit`.
local function page(names, after, limit)
    local wanted = {}
    for _, name in ipairs(names) do
        if before(after, name) then wanted[#wanted + 1] = name end
    end
    table.sort(wanted, before)
    for i = #wanted, limit + 1, -1 do wanted[i] = nil end
    return wanted
end
