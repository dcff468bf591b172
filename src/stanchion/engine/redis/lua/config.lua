-- The options of the queue as they are set, and their numbers.

local call = use('call')
local keys = use('keys')
local options = use('rules/config')

local finite = use('texts').finite

local config = {}

-- A numeric option: what was set, else its default.
function config.number(option)
  return finite(call('hget', keys.config(), option)) or options.DEFAULTS[option]
end

-- Several at once, in order.
function config.numbers(...)
  local values = call('hmget', keys.config(), ...)
  for index = 1, select('#', ...) do
    values[index] = finite(values[index]) or options.DEFAULTS[(select(index, ...))]
  end
  return unpack(values)
end

-- How long locks of a queue last, how many of its jobs may run at once (0: any number), and how many entries a history has.
function config.of_queue(queue)
  local values = call('hmget', keys.config(), queue .. '-heartbeat', 'heartbeat', queue .. '-max-concurrency', 'max-job-history')
  local heartbeat = finite(values[1]) or finite(values[2]) or options.DEFAULTS.heartbeat
  return heartbeat, finite(values[3]) or 0, finite(values[4]) or options.DEFAULTS['max-job-history']
end

return config
