-- Put a new job into a queue, or move and renew an existing one.

local new_jobs = use('queue/new_jobs')
local putting = use('queue/putting')
local records = use('queue/records')

return function(args)
  local command = new_jobs.read(args)
  local old = records.find(command.jid)
  if old and command.if_absent then return command.jid end
  return putting.put(putting.check(new_jobs.of(command, old), old), old)
end
