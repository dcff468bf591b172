-- The queue's options, as old clients read and set them: any name, any text.

local call = use('call')
local events = use('queue/events')
local json = use('script/json')
local keys = use('keys')
local native_config_all = use('native/config_all')
local native_config_unset = use('native/config_unset')
local rules = use('rules/config')
local run = use('script/run')
local texts = use('texts')

local SHOWN = { 'heartbeat', 'grace-period', 'stats-history', 'histogram-history', 'jobs-history', 'jobs-history-count' }
local ALSO_SHOWN = { 'max-job-history', 'max-pop-retry', 'max-worker-age' }

local options = {}

-- Every option: those that were set, with their texts, and the defaults of others, shown by a function.
local function all(application, defaults, shown)
  local values, flat = { application = json.quote(application) }, run(native_config_all)
  for _, names in ipairs(defaults) do
    for _, name in ipairs(names) do values[name] = shown(texts.number(rules.DEFAULTS[name])) end
  end
  for index = 1, #flat, 2 do values[flat[index]] = json.quote(flat[index + 1]) end
  local pairs_of = {}
  for name, value in pairs(values) do
    pairs_of[#pairs_of + 1] = name
    pairs_of[#pairs_of + 1] = value
  end
  return json.map(pairs_of)
end

function options.all() return all('reqless', { SHOWN, ALSO_SHOWN }, json.quote) end

-- One option, its default where it is not set, or all of them.
function options.get(given)
  local name = given:text()
  if not name then return all('qless', { SHOWN }, function(text) return text end) end
  local default = rules.DEFAULTS[name]
  return call('hget', keys.config(), name) or default or (name == 'application' and 'qless')
end

function options.set(given)
  local name, value = given:need('option'), given:need('value')
  events.publish('log', json.object('event', '"config_set"', 'option', json.quote(name), 'value', json.quote(value)))
  call('hset', keys.config(), name, value)
  return false
end

function options.unset(given) return run(native_config_unset, given:need('option')) end

return options
