-- Of jobs those that have at most 4 MiB together, but always the first.
local function new_slice()
    local slice, jobs, bytes = {full = false}, 0, 0

    -- Whether one of that size belongs to them. If it is one of them after all, it is to be added.
    function slice.fits(size)
        slice.full = jobs > 0 and bytes + size > 4194304
        return not slice.full
    end

    function slice.add(size)
        jobs, bytes = jobs + 1, bytes + size
        slice.full = bytes > 4194304
    end

    -- How many to read at once, of at most so many: about as many as fit, if they are as large as
    -- those before. The others are put back.
    function slice.next(most)
        local size = jobs > 0 and math.max(bytes / jobs, 1)
        local room = size and math.min(math.floor((4194304 - bytes) / size), 256) or 16
        return math.max(math.min(most, room), 1)
    end

    return slice
end
