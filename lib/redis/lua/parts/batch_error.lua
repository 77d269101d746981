-- The key with the error of the last attempt at a queued batch. When another program ends the
-- batch, the key remains for at most a day.
local function error_key(uid) return P .. 'routemaster:batch_error:' .. uid end
