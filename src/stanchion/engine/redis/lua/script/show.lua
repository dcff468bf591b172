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

-- An entry as scripts write it, [when, what, more], or nil for the parts.
local function parts_of(text)
  local when, what, more = string.match(text, '^%[(%d+)%.?%d*,("[%w%-]*"),?(.*)%]$')
  if when then return when, what, more end
  local rest
  when, rest = string.match(text, '^%[(%-?[%d.eE+-]+),(".*)%]$')
  local finish = rest and string_end(rest)
  if not finish then return nil end
  return json.whole(when), string.sub(rest, 1, finish), string.sub(rest, finish + 2)
end

-- An entry of a history as one object.
local function entry(text)
  local when, what, more = parts_of(text)
  if not when then return '{"what":' .. texts.quote(text) .. ',"when":0}' end
  return '{' .. rest_of(more) .. '"what":' .. what .. ',"when":' .. when .. '}'
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

-- A list of names that is JSON already.
local function names(text, style)
  if not text or text == '[]' or text == '{}' or not texts.any_names(text) then return style.empty end
  return text
end

local function sorted(list, style)
  if #list == 0 then return style.empty end
  table.sort(list)
  return json.names(list, style)
end

local function number(text, default) return texts.finite(text) or default end

-- A queue's own throttle, which every job of it bears, then others; only these to those who would not expect the own one.
local function throttles(text, queue, style)
  if not style.shows_all and (not text or text == '[]') then return '' end
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

-- A job, as the queue's commands give it, as JSON: what is JSON already by hand, texts and numbers in one go.
function show.job(job, style)
  local jid, hash, entries, dependencies, dependents, tracked = unpack(job)
  local queue, retries = hash.queue or '', number(hash.retries, 5)
  local plain = texts.encode({
    jid = jid, klass = hash.klass or '', state = hash.state or '', queue = queue, worker = hash.worker or '', tracked = tracked == 1,
    priority = number(hash.priority, 0), expires = math.floor(number(hash.expires, 0)), retries = retries,
    remaining = math.floor(number(hash.remaining, retries)), data = hash.data or 'null',
    spawned_from_jid = hash.spawned_from_jid or false,
  })
  return '{"tags":' .. names(hash.tags, style) .. ',"history":' .. history(entries) .. ',"failure":' .. failure(hash.failure)
    .. ',"dependents":' .. sorted(dependents, style) .. ',"dependencies":' .. sorted(dependencies, style)
    .. throttles(hash.throttles, queue, style) .. ',' .. string.sub(plain, 2)
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
