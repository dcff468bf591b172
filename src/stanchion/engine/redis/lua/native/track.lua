-- Watch a job: it emits events of its own.

local context = use('context')
local events = use('queue/events')
local keys = use('keys')
local ordered = use('queue/ordered')
local quiet = use('queue/quiet')
local records = use('queue/records')

return function(args)
  local jid = records.require(args:text()).jid
  local added = ordered.append(keys.tracked(), context.now, jid)
  quiet.disturb()
  events.publish('track', jid)
  return added
end
