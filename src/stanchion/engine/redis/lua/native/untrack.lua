-- Watch a job no longer.

local call = use('call')
local events = use('queue/events')
local keys = use('keys')

return function(args)
  local jid = args:text()
  local removed = call('zrem', keys.tracked(), jid)
  events.publish('untrack', jid)
  return removed
end
