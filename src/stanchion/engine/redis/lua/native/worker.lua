-- The jobs that a worker holds, next to lapse last, and those of which the lock has lapsed.

local call = use('call')
local context = use('context')
local keys = use('keys')
local ordered = use('queue/ordered')

return function(args)
  local key = keys.held_by(args:text())
  local lapsed, all = call('zcount', key, '-inf', context.now), call('zcard', key)
  return { ordered.newest(key, 0, all - lapsed), ordered.newest(key, all - lapsed, lapsed) }
end
