-- Every key is made here. A NUL stands between two names, since no name can hold one.

local context = use('context')

local keys = {}

-- A jid or throttle that ends so would share its key with a collection of another.
local SHARED = { job = { history = true, dependencies = true, dependents = true }, throttle = { locks = true, pending = true } }

-- The star stands for a name.
local PATTERNS = {
  job = 'j:*',
  history = 'j:*-history',
  dependencies = 'j:*-dependencies',
  dependents = 'j:*-dependents',
  recurring = 'r:*',
  work = 'q:*-work',
  locks = 'q:*-locks',
  scheduled = 'q:*-scheduled',
  depends = 'q:*-depends',
  throttled = 'q:*-throttled',
  recur = 'q:*-recur',
  held_by = 'w:*:jobs',
  tagged = 't:*',
  failed = 'f:*',
  throttle = 'th:*',
  places = 'th:*-locks',
  pending = 'th:*-pending',

  queues = 'queues',
  paused = 'paused_queues',
  workers = 'workers',
  completed = 'completed',
  tracked = 'tracked',
  tags = 'tags',
  failures = 'failures',
  config = 'config',
  identifiers = 'qp:identifiers',
  priorities = 'qp:priorities',

  -- The id of the throttle that limits how many jobs of a queue run.
  own_throttle = 'q:*',


  -- Ours alone.
  concerned = 'x:concerned:*', -- dependents for which a failure of the job means something
  wake = 'x:wake:*',
  lines = 'x:lines:*',
  sets = 'x:sets:*',
  topics = 'x:topics:*',
  topical = 'x:topics',
  generation = 'x:tokens:*',
  engine = 'x:engine',
  generations = 'x:generations',
  releases = 'x:releases',
  throttles = 'x:throttles',
  expiring = 'x:expiring',
  days = 'x:days',
  histograms = 'x:histograms',
}

local function maker(pattern)
  local prefix, suffix = string.match(pattern, '^(.*)%*(.*)$')
  if not prefix then return function() return context.namespace .. pattern end end
  return function(name) return context.namespace .. prefix .. name .. suffix end
end

-- What makes a kind of key is itself made when it is first asked for: a script begins anew at each call.
setmetatable(keys, {
  __index = function(_, kind)
    keys[kind] = maker(PATTERNS[kind])
    return keys[kind]
  end,
})

-- Where an older script had what is now under qp:.
function keys.old_identifiers() return 'qmore:dynamic' end
function keys.old_priorities() return 'qmore:priority' end

function keys.line(throttle, queue) return context.namespace .. 'x:line:' .. throttle .. '\0' .. queue end

function keys.held(queue, throttles) return context.namespace .. 'x:held:' .. queue .. '\0' .. throttles end

function keys.day(kind, day_and_queue) return context.namespace .. 's:' .. kind .. ':' .. day_and_queue end

-- The ending of a name that cannot be one, or nil.
function keys.shared_ending(kind, name)
  local ending = string.match(name, '%-(%l+)$')
  if ending and SHARED[kind][ending] then return '-' .. ending end
end

return keys
