-- The recurring job, or nothing: its fields, and when it is due next.

local call = use('call')
local keys = use('keys')
local templates = use('queue/templates')
local texts = use('texts')

return function(args)
  local template = templates.find(args:text())
  if not template then return false end
  return { call('hgetall', keys.recurring(template.jid)), texts.number(template.next_due) }
end
