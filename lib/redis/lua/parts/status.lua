local function count_status(name, queue, status, increment)
    tally('\146' .. str(name) .. '\146\146\165queue' .. str(queue) .. '\146\166status' ..
        str(status), increment)
end
