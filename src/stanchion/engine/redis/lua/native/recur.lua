-- Let a queue spawn a job at an interval. The same again keeps its schedule.

local context = use('context')
local line = use('queue/line')
local templates = use('queue/templates')
local wake = use('queue/wake')

local function same_schedule(old, new, restart)
  return old and not restart and old.queue == new.queue and old.interval == new.interval and old.offset == new.offset
end

return function(args)
  local template = {
    queue = args:text(), jid = args:text(), klass = args:text(), data = args:text(), interval = args:number(),
    offset = args:number() or 0, priority = args:number() or 0, tags = args:names(), retries = args:number() or 0,
    backlog = args:number() or 0,
    throttles = args:names(),
  }
  local old = templates.find(template.jid)
  template.count = old and old.count or 0
  template.next_due = same_schedule(old, template, args:flag()) and old.next_due or context.now + template.offset
  templates.store(template, old and old.queue)
  line.know_queue(template.queue)
  wake.up(template.queue)
  return template.jid
end
