-- A job as old clients see it.

local json = use('script/json')
local keys = use('keys')
local texts = use('texts')

local show = {}

-- Where the JSON string that a text begins with ends.
local function string_end(text)
  local at = 2
  while true do
    local mark = string.find(text, '["\\]', at)
    if not mark then return nil end
    if string.sub(text, mark, mark) == '"' then return mark end
    at = mark + 2
  end
end

-- What else an entry has, to stand in an object before other fields.
local function rest_of(more)
  if more == '' or more == '{}' or more == '[]' or more == 'null' then return '' end
  if string.sub(more, 1, 1) == '{' then return string.sub(more, 2, -2) .. ',' end
  return '"data":' .. more .. ','
end

-- An entry of a history, [when, what, more], as one object.
local function entry(text)
  local when, rest = string.match(text, '^%[(%-?[%d.eE+-]+),(".*)%]$')
  local finish = rest and string_end(rest)
  if not finish then return '{"what":' .. texts.quote(text) .. ',"when":0}' end
  local what, more = string.sub(rest, 1, finish), string.sub(rest, finish + 2)
  return '{' .. rest_of(more) .. '"what":' .. what .. ',"when":' .. json.whole(when) .. '}'
end

local function history(entries)
  local shown = {}
  for index, text in ipairs(entries) do shown[index] = entry(text) end
  return '[' .. table.concat(shown, ',') .. ']'
end

-- A failure with whole seconds, or none.
local function failure(text)
  if not text or text == '' then return '{}' end
  return (string.gsub(text, '"when":(%-?[%d.eE+-]+)', function(when) return '"when":' .. json.whole(when) end, 1))
end

local function names(text, style) return json.names((texts.any_names(text or '')) or {}, style) end

local function sorted(list, style)
  table.sort(list)
  return json.names(list, style)
end

-- A queue's own throttle, which every job of it bears, then others; only these to those who would not expect the own one.
local function throttles(text, queue, style)
  local own, others = keys.own_throttle(queue), {}
  if style.shows_all and queue ~= '' then others[1] = own end
  for _, throttle in ipairs(texts.any_names(text or '') or {}) do
    if throttle ~= own then others[#others + 1] = throttle end
  end
  if #others == 0 and not style.shows_all then return '' end
  return ',"throttles":' .. json.names(others, style)
end

local function fields_of(flat)
  local hash = {}
  for index = 1, #flat, 2 do hash[flat[index]] = flat[index + 1] end
  return hash
end

-- A job, as the queue's commands give it, as JSON.
function show.job(job, style)
  local jid, hash, entries, dependencies, dependents, tracked = unpack(job)
  local queue = hash.queue or ''
  return '{"jid":' .. texts.quote(jid) .. ',"klass":' .. texts.quote(hash.klass or '') .. ',"state":' .. texts.quote(hash.state or '')
    .. ',"queue":' .. texts.quote(queue) .. ',"worker":' .. texts.quote(hash.worker or '')
    .. ',"tracked":' .. json.flag(tracked) .. ',"priority":' .. json.number(hash.priority)
    .. ',"expires":' .. json.whole(hash.expires) .. ',"retries":' .. json.number(hash.retries or 5)
    .. ',"remaining":' .. json.whole(hash.remaining or hash.retries or 5) .. ',"data":' .. texts.quote(hash.data or 'null')
    .. ',"tags":' .. names(hash.tags, style) .. ',"history":' .. history(entries) .. ',"failure":' .. failure(hash.failure)
    .. ',"spawned_from_jid":' .. (hash.spawned_from_jid and texts.quote(hash.spawned_from_jid) or 'false')
    .. ',"dependents":' .. sorted(dependents, style) .. ',"dependencies":' .. sorted(dependencies, style)
    .. throttles(hash.throttles, queue, style) .. '}'
end

-- Jobs as a JSON list.
function show.jobs(jobs, style)
  local shown = {}
  for index, job in ipairs(jobs) do shown[index] = show.job(job, style) end
  return json.list(shown, style)
end

-- A recurring job, as recur.get gives it.
function show.recurring(flat, style)
  local hash = fields_of(flat)
  local queue = hash.queue or ''
  return '{"jid":' .. texts.quote(hash.jid or '') .. ',"klass":' .. texts.quote(hash.klass or '') .. ',"state":"recur","queue":'
    .. texts.quote(queue) .. ',"priority":' .. json.number(hash.priority) .. ',"interval":' .. json.number(hash.interval)
    .. ',"retries":' .. json.number(hash.retries) .. ',"count":' .. json.number(hash.count)
    .. ',"data":' .. texts.quote(hash.data or 'null') .. ',"tags":' .. names(hash.tags, style)
    .. ',"backlog":' .. json.number(hash.backlog) .. throttles(hash.throttles, queue, style) .. '}'
end

return show
