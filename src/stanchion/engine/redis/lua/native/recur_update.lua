-- Change a recurring job; what is left out stays.

local context = use('context')
local line = use('queue/line')
local recurrence = use('rules/recurrence')
local templates = use('queue/templates')
local wake = use('queue/wake')

return function(args)
  local template = templates.require(args:text())
  local old_queue, old_interval = template.queue, template.interval
  template.priority = args:number() or template.priority
  template.interval = args:number() or template.interval
  template.retries = args:number() or template.retries
  template.data = args:text() or template.data
  template.klass = args:text() or template.klass
  local queue = args:text()
  template.queue = queue or template.queue
  template.backlog = args:number() or template.backlog
  template.next_due = recurrence.changed_interval(template.next_due, old_interval, template.interval, context.now)
  templates.store(template, old_queue)
  if queue then line.know_queue(queue) end
  wake.up(template.queue)
  return 1
end
