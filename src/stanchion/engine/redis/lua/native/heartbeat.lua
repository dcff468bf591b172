-- Renew the lock of a running job; the reply is when it will lapse.

local call = use('call')
local config = use('config')
local context = use('context')
local keys = use('keys')
local records = use('queue/records')
local texts = use('texts')
local workers = use('queue/workers')

return function(args)
  local jid, worker, data, attempt = args:text(), args:text(), args:text(), args:number()
  local job = records.held(jid, worker, attempt)
  local expires = texts.time(context.now + config.of_queue(job.queue))
  if data then
    call('hset', keys.job(jid), 'expires', expires, 'grace', '0', 'data', data)
  else
    call('hset', keys.job(jid), 'expires', expires, 'grace', '0')
  end
  call('zadd', keys.locks(job.queue), expires, jid)
  call('zadd', keys.held_by(worker), expires, jid)
  workers.see(worker)
  return expires
end
