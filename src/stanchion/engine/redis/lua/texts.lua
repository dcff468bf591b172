-- Texts of JSON, made by hand: user data is never decoded or encoded, only names and messages are, as strings.

local context = use('context')

local NONE = {} -- nobody changes a list that was read

local texts = {}

-- A string as JSON.
function texts.quote(text) return cjson.encode(text) end

-- An object of texts, flags and numbers (to 14 digits) as JSON.
function texts.encode(object) return cjson.encode(object) end

-- A time as text: to the microsecond, as the clock has it, or exactly, if the caller gave the time of this call.
function texts.time(time)
  if context.given then return texts.number(time) end
  return string.format('%.6f', time)
end

-- A number as text, exactly.
function texts.number(value)
  if value == math.floor(value) and value > -1e15 and value < 1e15 then return string.format('%.0f', value) end
  return string.format('%.17g', value)
end

-- The finite number that a text is, or nil.
function texts.finite(text)
  local number = tonumber(text)
  if number and number > -math.huge and number < math.huge then return number end
  return nil
end

-- A list of names as JSON.
function texts.list(names)
  if #names == 0 then return '[]' end
  return cjson.encode(names)
end

-- The names of a JSON list, and whether it could be read.
function texts.names(text)
  if not text or text == '' or text == '[]' then return NONE, true end
  local ok, names = pcall(cjson.decode, text)
  if not ok or type(names) ~= 'table' then return NONE, false end
  for key, name in pairs(names) do
    if type(key) ~= 'number' or type(name) ~= 'string' then return NONE, false end
  end
  return names, true
end

-- The names of a JSON list, numbers taken as texts, or nil where it is none. Old clients write an empty list as an object.
function texts.any_names(text)
  local ok, list = pcall(cjson.decode, text)
  if not ok or type(list) ~= 'table' then return nil end
  local names = {}
  for index, name in ipairs(list) do
    if type(name) == 'number' then name = texts.number(name) end
    if type(name) ~= 'string' then return nil end
    names[index] = name
  end
  return names
end

function texts.is_json(text) return (pcall(cjson.decode, text)) end

-- The fields of a JSON object of texts and numbers; none where it cannot be read.
function texts.fields(text)
  local ok, fields = pcall(cjson.decode, text or '')
  return ok and type(fields) == 'table' and fields or {}
end

-- An object as JSON, from pairs of a key and a JSON text.
function texts.object(...)
  local parts = {}
  for index = 1, select('#', ...), 2 do
    local key, value = select(index, ...)
    parts[#parts + 1] = '"' .. key .. '":' .. value
  end
  return '{' .. table.concat(parts, ',') .. '}'
end

return texts
