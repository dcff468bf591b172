-- What a put asks for, as arguments and as a job with nothing left out.

local records = use('queue/records')
local texts = use('texts')

local new_jobs = {}

function new_jobs.read(args)
  return {
    queue = args:text(), jid = args:text(), klass = args:text(), data = args:text() or '{}', worker = args:text() or '', delay = args:number() or 0,
    priority = args:number(), tags = args:optional_names(), retries = args:number(), depends = args:names(),
    throttles = args:names(), policy = args:text() or 'wait', if_absent = args:flag(),
  }
end

-- The job that a put makes; what it leaves out is the old job's.
function new_jobs.of(command, old)
  return {
    queue = command.queue, jid = command.jid, klass = command.klass, data = command.data, worker = command.worker,
    delay = command.delay, depends = command.depends, throttles = command.throttles, policy = command.policy,
    priority = command.priority or (old and old.priority or 0),
    tags = command.tags or (old and (texts.names(old.tags)) or {}),
    retries = command.retries or (old and old.retries or records.RETRIES),
  }
end

return new_jobs
