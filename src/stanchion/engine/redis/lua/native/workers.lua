-- Every worker seen lately, with its jobs: name, running, lapsed, seen.

local call = use('call')
local context = use('context')
local keys = use('keys')
local workers = use('queue/workers')

return function()
  local found = {}
  local seen = call('zrangebyscore', keys.workers(), workers.oldest_seen(), '+inf', 'withscores')
  for index = 1, #seen, 2 do
    local key = keys.held_by(seen[index])
    local lapsed = call('zcount', key, '-inf', context.now)
    found[#found + 1] = { seen[index], call('zcard', key) - lapsed, lapsed, seen[index + 1] }
  end
  return found
end
