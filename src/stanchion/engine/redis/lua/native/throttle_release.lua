-- Take places from jobs by hand; those that waited for the throttle come back in line.

local call = use('call')
local keys = use('keys')
local throttles = use('queue/throttles')

return function(args)
  local id = args:text()
  for _, jid in ipairs(args:names()) do call('zrem', keys.places(id), jid) end
  throttles.let_in(id)
  return false
end
