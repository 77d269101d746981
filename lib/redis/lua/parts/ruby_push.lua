-- Adds a job to `main` or `aux`, where jobs have no ids. The job is added to its list before the
-- index: if the first fails, the job can be pushed again.
local function ruby_push(q, job, run_at)
    if redis.call('SISMEMBER', KEYS[1], job) == 1 then return {0, 0} end
    if batch_of(q, job) then
        -- For a delivery job, all keys are checked first, because place() may also change an
        -- ordering group. For other jobs, place() can fail only at its first change.
        expect('SCARD', 'routemaster:blocked:main', 'routemaster:callbacks')
        expect('LLEN', 'jobs:instant:main')
        expect('ZCARD', 'jobs:scheduled:main', 'jobs:scheduled:main:callbacks')
    end
    place(q, job, run_at)
    redis.call('SADD', KEYS[1], job)
    return {1, 0}
end
