-- Patterns that tell old clients' workers which queues to serve, and in which order: their own texts, only kept here.

local call = use('call')
local json = use('script/json')
local keys = use('keys')
local styles = use('script/styles')

local DEFAULT = { 'default', '["*"]' }

local patterns = {}

local function first_there(...)
  for _, key in ipairs({ ... }) do
    if call('exists', key) == 1 then return key end
  end
end

-- The names and the JSON lists of patterns that they stand for; there is always a default.
function patterns.identifiers()
  local key = first_there(keys.identifiers(), keys.old_identifiers())
  local flat, shown, has_default = key and call('hgetall', key) or {}, {}, false
  for index = 1, #flat, 2 do
    has_default = has_default or flat[index] == DEFAULT[1]
    shown[#shown + 1] = flat[index]
    shown[#shown + 1] = json.quote(flat[index + 1])
  end
  if not has_default then
    shown[#shown + 1] = DEFAULT[1]
    shown[#shown + 1] = json.quote(DEFAULT[2])
  end
  return json.map(shown)
end

-- Set them all: pairs of a name and a JSON list. An empty list leaves a name out.
function patterns.set_identifiers(given)
  local kept = {}
  for name, text in pairs(given:options()) do
    if #given:names_of(text, name) > 0 then
      kept[#kept + 1] = name
      kept[#kept + 1] = text
    end
  end
  call('del', keys.identifiers(), keys.old_identifiers())
  if #kept > 0 then call('hset', keys.identifiers(), unpack(kept)) end
  return false
end

-- The JSON texts of the priorities, in their order.
function patterns.priorities()
  local key = first_there(keys.priorities(), keys.old_priorities())
  return json.names(key and call('lrange', key, 0, -1) or {}, styles.new)
end

function patterns.set_priorities(given)
  local texts = given:rest()
  call('del', keys.priorities(), keys.old_priorities())
  for _, text in ipairs(texts) do call('rpush', keys.priorities(), text) end
  return false
end

return patterns
