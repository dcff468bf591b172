-- Replies as JSON, written by hand: what users put into jobs is never decoded.

local texts = use('texts')

local json = {}

json.quote = texts.quote

-- A list of JSON texts.
function json.list(items, style)
  if #items == 0 then return style.empty end
  return '[' .. table.concat(items, ',') .. ']'
end

-- A list of names.
function json.names(names, style)
  local items = {}
  for index, name in ipairs(names) do items[index] = texts.quote(name) end
  return json.list(items, style)
end

-- A number, whole ones without a point.
function json.number(value) return texts.number(texts.finite(value) or 0) end

-- A number without its fraction: some clients know no others.
function json.whole(value) return string.format('%.0f', math.floor(texts.finite(value) or 0)) end

function json.flag(value) return (value == true or value == 1) and 'true' or 'false' end

-- An object of pairs of a name and a JSON text.
json.object = texts.object

-- An object of a flat list of names, which may be any, and JSON texts.
function json.map(flat)
  local parts = {}
  for index = 1, #flat, 2 do parts[#parts + 1] = texts.quote(flat[index]) .. ':' .. flat[index + 1] end
  return '{' .. table.concat(parts, ',') .. '}'
end

return json
