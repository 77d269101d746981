-- Creates a limit for a step that handles many jobs: at most 4 MiB of jobs. The first job is always
-- accepted.
local function new_slice()
    local slice, jobs, bytes = {full = false}, 0, 0

    -- Returns whether a job of this size is accepted. If the caller handles the job, it must call
    -- `add`.
    function slice.fits(size)
        slice.full = jobs > 0 and bytes + size > 4194304
        return not slice.full
    end

    function slice.add(size)
        jobs, bytes = jobs + 1, bytes + size
        slice.full = bytes > 4194304
    end

    -- Returns how many jobs to read next, at most `most`: about as many as will be accepted,
    -- estimated by the average size so far. The caller must put back the jobs that are not
    -- accepted.
    function slice.next(most)
        local size = jobs > 0 and math.max(bytes / jobs, 1)
        local room = size and math.min(math.floor((4194304 - bytes) / size), 256) or 16
        return math.max(math.min(most, room), 1)
    end

    return slice
end
