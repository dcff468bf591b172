-- put and requeue, as old clients call them.

local backoff = use('script/backoff')
local keys = use('keys')
local new_jobs = use('queue/new_jobs')
local puts = use('queue/putting')
local records = use('queue/records')

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

local function read(given)
  local command = {
    worker = read_worker(given), queue = given:need('queue'), jid = given:need('jid'), klass = given:need('klass'),
    data = given:json('data'), delay = given:number('delay'), policy = 'wait',
  }
  local options = given:options()
  command.priority = optional(given, options, 'priority')
  command.tags = given:names_of(options.tags, 'tags')
  command.retries = options.retries and given:whole_of(options.retries, 'retries', -1)
  command.depends = given:names_of(options.depends, 'depends') or {}
  command.throttles = without_own(given:names_of(options.throttles, 'throttles') or {}, command.queue)
  command.backoff = backoff.read(options.backoff) and options.backoff
  return command
end

local function put(command, old)
  local jid = puts.put(puts.check(new_jobs.of(command, old), old), old)
  if command.backoff then backoff.store(jid, command.backoff) end
  return jid
end

function putting.put(given)
  local command = read(given)
  return put(command, records.find(command.jid))
end

function putting.requeue(given)
  local command = read(given)
  return put(command, records.require(command.jid))
end

return putting
