-- Fail a running job for good, under a group.

local call = use('call')
local keys = use('keys')
local records = use('queue/records')
local settling = use('queue/settling')

return function(args)
  local jid, worker, group, message = args:text(), args:text(), args:text(), args:text()
  local data = args:text()
  local job = records.held(jid, worker, args:number())
  if data then call('hset', keys.job(jid), 'data', data) end
  settling.fail(job, group, message, worker)
  return jid
end
