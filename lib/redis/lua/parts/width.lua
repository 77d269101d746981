-- Keeps the READY jobs at the places `first` to `last` of a lane from being acquired.
local function hold(token, first, last)
    for _, uid in ipairs(redis.call('ZRANGE', P .. 'routemaster:lane:' .. token, first, last)) do
        local job = delivery_prefix .. uid
        if redis.call('LREM', P .. 'jobs:instant:main', -1, job) > 0 then
            redis.call('SADD', P .. 'routemaster:held:main', job)
        end
    end
end

-- Gives a lane another width.
local function widen(token, before, after)
    if mixed then
        if after > before then wake('main', -1) end
    elseif after > before then
        admit(token, before, after - 1)
    elseif after < before then
        hold(token, after, before - 1)
    end
end
