-- The topics that queues subscribe to, which one client's put to topics looks up.

local call = use('call')
local json = use('script/json')
local keys = use('keys')

local topics = {}

local COMMANDS = {
  add = function(key, given) return call('sadd', key, given:need('topic')) end,
  remove = function(key, given) return call('srem', key, given:need('topic')) end,
  exists = function(key, given) return call('sismember', key, given:need('topic')) end,
  get = function(key, _, style)
    local names = call('smembers', key)
    table.sort(names)
    return json.names(names, style)
  end,
}

-- Every queue with its topics.
local function all(style)
  local names, shown = call('smembers', keys.topical()), {}
  table.sort(names)
  for _, queue in ipairs(names) do
    shown[#shown + 1] = queue
    shown[#shown + 1] = COMMANDS.get(keys.topics(queue), nil, style)
  end
  return json.map(shown)
end

function topics.subscription(given, style)
  local queue, command = given:text() or '', given:need('command')
  if command == 'all' then return all(style) end
  local run = COMMANDS[command] or given:refuse('Unknown command "' .. command .. '"')
  local key = keys.topics(queue)
  local reply = run(key, given, style)
  call(call('exists', key) == 1 and 'sadd' or 'srem', keys.topical(), queue)
  return reply
end

return topics
