-- Every key is made here. A NUL stands between two names, since no name can hold one.

local context = use('context')

local keys = {}

-- A jid or throttle that ends so would share its key with a collection of another.
local SHARED = { job = { history = true, dependencies = true, dependents = true }, throttle = { locks = true, pending = true } }

local function one_name(prefix, suffix)
  suffix = suffix or ''
  return function(name) return context.namespace .. prefix .. name .. suffix end
end

local function no_name(name)
  return function() return context.namespace .. name end
end

keys.job = one_name('j:')
keys.history = one_name('j:', '-history')
keys.dependencies = one_name('j:', '-dependencies')
keys.dependents = one_name('j:', '-dependents')
keys.recurring = one_name('r:')
keys.work = one_name('q:', '-work')
keys.locks = one_name('q:', '-locks')
keys.scheduled = one_name('q:', '-scheduled')
keys.depends = one_name('q:', '-depends')
keys.throttled = one_name('q:', '-throttled')
keys.recur = one_name('q:', '-recur')
keys.held_by = one_name('w:', ':jobs')
keys.tagged = one_name('t:')
keys.failed = one_name('f:')
keys.throttle = one_name('th:')
keys.places = one_name('th:', '-locks')
keys.pending = one_name('th:', '-pending')

keys.queues = no_name('queues')
keys.paused = no_name('paused_queues')
keys.workers = no_name('workers')
keys.completed = no_name('completed')
keys.tracked = no_name('tracked')
keys.tags = no_name('tags')
keys.failures = no_name('failures')
keys.config = no_name('config')
keys.identifiers = no_name('qp:identifiers')
keys.priorities = no_name('qp:priorities')

-- The id of the throttle that limits how many jobs of a queue run.
keys.own_throttle = one_name('q:')

-- Where an older script had them.
function keys.old_identifiers() return 'qmore:dynamic' end
function keys.old_priorities() return 'qmore:priority' end

-- Ours alone.
keys.concerned = one_name('x:concerned:') -- dependents for which a failure of the job means something
keys.wake = one_name('x:wake:')
keys.lines = one_name('x:lines:')
keys.sets = one_name('x:sets:')
keys.topics = one_name('x:topics:')
keys.topical = no_name('x:topics')
keys.generation = one_name('x:tokens:')
keys.engine = no_name('x:engine')
keys.generations = no_name('x:generations')
keys.releases = no_name('x:releases')
keys.throttles = no_name('x:throttles')
keys.expiring = no_name('x:expiring')
keys.days = no_name('x:days')
keys.histograms = no_name('x:histograms')

function keys.line(throttle, queue) return context.namespace .. 'x:line:' .. throttle .. '\0' .. queue end

function keys.held(queue, throttles) return context.namespace .. 'x:held:' .. queue .. '\0' .. throttles end

function keys.day(kind, day_and_queue) return context.namespace .. 's:' .. kind .. ':' .. day_and_queue end

-- The ending of a name that cannot be one, or nil.
function keys.shared_ending(kind, name)
  local ending = string.match(name, '%-(%l+)$')
  if ending and SHARED[kind][ending] then return '-' .. ending end
end

return keys
