-- Recurring jobs: the templates, and when each is due next (its score in the queue's -recur).

local call = use('call')
local context = use('context')
local keys = use('keys')
local replies = use('replies')
local texts = use('texts')

local finite = texts.finite

local SHORTEST_INTERVAL = 0.001
local MOST = 2 ^ 53

local templates = {}

-- When a template is due next; now, where its time is none.
local function due_time(queue, jid)
  local due = finite(call('zscore', keys.recur(queue), jid))
  return due and math.abs(due) <= MOST and due or context.now
end

-- The template, or nil.
function templates.find(jid)
  local flat = call('hgetall', keys.recurring(jid))
  if #flat == 0 then return nil end
  local hash = {}
  for index = 1, #flat, 2 do hash[flat[index]] = flat[index + 1] end
  local queue = hash.queue or ''
  return {
    jid = jid, klass = hash.klass or '', data = hash.data or 'null', queue = queue,
    priority = finite(hash.priority) or 0, tags = (texts.names(hash.tags)), throttles = (texts.names(hash.throttles)),
    interval = math.max(SHORTEST_INTERVAL, finite(hash.interval) or 60), offset = finite(hash['x-offset']), retries = finite(hash.retries) or 0,
    backlog = finite(hash.backlog) or 0, count = finite(hash.count) or 0,
    next_due = due_time(queue, jid),
  }
end

function templates.require(jid)
  return templates.find(jid) or replies.refuse('recurring-job-not-found', 'jid', jid)
end

-- Set the tags of what is spawned from now on.
function templates.set_tags(template, tags)
  call('hset', keys.recurring(template.jid), 'tags', texts.list(tags))
  return tags
end

-- Write a template as it is, and its due time.
function templates.store(template, old_queue)
  local jid = template.jid
  if old_queue and old_queue ~= template.queue then call('zrem', keys.recur(old_queue), jid) end
  call(
    'hset', keys.recurring(jid), 'jid', jid, 'klass', template.klass, 'data', template.data, 'priority', template.priority,
    'tags', texts.list(template.tags), 'state', 'recur', 'queue', template.queue, 'type', 'interval', 'count', template.count,
    'interval', template.interval, 'retries', template.retries, 'backlog', template.backlog,
    'throttles', texts.list(template.throttles), 'x-offset', template.offset or 0
  )
  call('zadd', keys.recur(template.queue), template.next_due, jid)
end

return templates
