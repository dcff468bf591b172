-- Tags, as old clients change and list them.

local call = use('call')
local json = use('script/json')
local keys = use('keys')
local native_tag = use('native/tag')
local native_tagged = use('native/tagged')
local native_tags = use('native/tags')
local native_untag = use('native/untag')
local run = use('script/run')

local tagging = {}

function tagging.add(given, style) return json.names(run(native_tag, given:need('jid'), given:rest()), style) end

function tagging.remove(given, style) return json.names(run(native_untag, given:need('jid'), given:rest()), style) end

-- How many jobs bear a tag, and a page of them.
function tagging.tagged(given, style)
  local tag = given:need('tag')
  local found = run(native_tagged, tag, given:page())
  return json.object('total', json.number(found[1]), 'jobs', json.names(found[2], style))
end

-- A page of the tags that two or more jobs bear.
function tagging.top(given, style) return json.names(run(native_tags, given:page()), style) end

local COMMANDS = { add = tagging.add, remove = tagging.remove, get = tagging.tagged, top = tagging.top }

function tagging.tag(given, style)
  local command = given:need('command')
  if not COMMANDS[command] then given:refuse('First argument must be "add", "remove", "get" or "top"') end
  return COMMANDS[command](given, style)
end

-- All tags a part at a time: where to go on (0: that was all), and some of them.
function tagging.scan(given, style)
  local cursor, count = given:number('cursor', 0), given:number('count', 25)
  local found = call('zscan', keys.tags(), json.number(cursor), 'count', math.max(1, math.floor(count)))
  local tags = {}
  for index = 1, #found[2], 2 do tags[#tags + 1] = found[2][index] end
  return json.list({ json.quote(found[1]), json.names(tags, style) }, style)
end

return tagging
