-- put and requeue, as old clients call them.

local backoff = use('script/backoff')
local keys = use('keys')
local native = use('script/native')

local putting = {}

-- A queue's own throttle, which every job of the queue has without being told, is left out.
local function without_own(throttles, queue)
  local own, left = keys.own_throttle(queue), {}
  for _, throttle in ipairs(throttles) do
    if throttle ~= own then left[#left + 1] = throttle end
  end
  return left
end

local function optional(given, options, name)
  return options[name] and given:number_of(options[name], name)
end

-- The worker comes first, which may be an empty text; the oldest clients leave it out.
local function read_worker(given)
  if given:count() % 2 == 1 then return '' end
  return given:need('worker')
end

local function put(given, command)
  local worker = read_worker(given)
  local queue, jid, klass = given:need('queue'), given:need('jid'), given:need('klass')
  local data, delay, options = given:json('data'), given:number('delay'), given:options()
  local retries = options.retries and given:whole_of(options.retries, 'retries', -1)
  local throttles = given:names_of(options.throttles, 'throttles')
  local waits = backoff.read(options.backoff)
  local put_jid = native(
    command, queue, jid, klass, data, worker, delay, optional(given, options, 'priority'),
    given:names_of(options.tags, 'tags'), retries, given:names_of(options.depends, 'depends') or {},
    without_own(throttles or {}, queue)
  )
  if waits then backoff.store(jid, options.backoff) end
  return put_jid
end

function putting.put(given) return put(given, 'put') end

function putting.requeue(given) return put(given, 'requeue') end

return putting
