-- Move an existing job to a queue and renew it; what is left out stays as it was.

local call = use('call')
local keys = use('keys')
local putting = use('queue/putting')
local records = use('queue/records')
local texts = use('texts')

return function(args)
  local queue, jid = args:text(), args:text()
  local old = records.require(jid)
  local job = {
    queue = queue, jid = jid, klass = args:text() or old.hash.klass or '?',
    data = args:text() or call('hget', keys.job(jid), 'data') or 'null', worker = args:text() or '', delay = args:number() or 0,
    priority = args:number() or old.priority, tags = args:optional_names() or texts.names(old.tags),
    retries = args:number() or old.retries, depends = args:names(),
    throttles = args:optional_names() or old.throttles, policy = old.policy,
  }
  return putting.put(putting.check(job, old), old)
end
