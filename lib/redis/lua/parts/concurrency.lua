-- Blocks the READY jobs from index `first` to index `last` of an ordering group, so workers cannot
-- acquire them.
local function block(token, first, last)
    for _, uid in ipairs(redis.call('ZRANGE', P .. 'routemaster:group:' .. token, first, last)) do
        local job = delivery_prefix .. uid
        if withdraw(job, destination_of(token, uid)) then
            redis.call('SADD', P .. 'routemaster:blocked:main', job)
        end
    end
end

local function set_concurrency(token, before, after)
    if mixed then
        if after > before then wake('main', -1) end
    elseif after > before then
        make_eligible(token, before, after - 1)
    elseif after < before then
        block(token, after, before - 1)
    end
end
