-- Stop a recurring job. What it spawned stays.

local call = use('call')
local keys = use('keys')
local templates = use('queue/templates')

return function(args)
  local template = templates.find(args:text())
  if template then
    call('zrem', keys.recur(template.queue), template.jid)
    call('del', keys.recurring(template.jid))
  end
  return 1
end
