-- Makes a chunk of jobs, which has at most 4 MiB in total. The first job always fits.
local function new_slice()
    local slice, jobs, bytes = {full = false}, 0, 0

    -- Returns whether a job of this size fits. If the caller takes the job, it calls `add`.
    function slice.fits(size)
        slice.full = jobs > 0 and bytes + size > 4194304
        return not slice.full
    end

    function slice.add(size)
        jobs, bytes = jobs + 1, bytes + size
        slice.full = bytes > 4194304
    end

    -- Returns how many jobs to read at once, at most `most`: about as many as fit, by the average
    -- size so far. The caller puts back the jobs that do not fit.
    function slice.next(most)
        local size = jobs > 0 and math.max(bytes / jobs, 1)
        local room = size and math.min(math.floor((4194304 - bytes) / size), 256) or 16
        return math.max(math.min(most, room), 1)
    end

    return slice
end
