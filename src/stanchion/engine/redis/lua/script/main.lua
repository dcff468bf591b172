-- The script: a call of an old client, or, with the namespace as its one key, of our own where the server has no functions.

local clock = use('clock')
local context = use('context')
local errors = use('errors')
local dispatch = use('script/dispatch')
local given = use('script/given')
local main = use('main')
local texts = use('texts')
local use_command = use('commands')

local NAMESPACE = 'ql:'
local MILLISECONDS_FROM = 1e11 -- what is more than that is no time in seconds: one client sends milliseconds

local function native(keys, args)
  local rest = {}
  for index = 3, #args do rest[index - 2] = args[index] end
  return main(use_command(args[1]), args[2] == '1', keys, rest)
end

-- The caller's time, as given or, where JSON would not take it so, as we write it.
local function time_of(text)
  local now = texts.finite(text)
  if not now then return nil end
  if now > MILLISECONDS_FROM then now = now / 1000 end
  return string.find(text, '^%d+%.?%d+$') and now == tonumber(text) and text or texts.number(now)
end

local function old(args)
  local command = dispatch.find(args[1])
  local now = time_of(args[2])
  if not now then given.refuse(command.area, 'Arg "now" missing or not a number: ' .. tostring(args[2])) end
  clock.set(now)
  context.begin_old_call(math.floor(context.now))
  return dispatch.run(command, given.of(args, 3, command.area))
end


return function(keys, args)
  context.begin(keys[1] or NAMESPACE, false)
  context.whole_records = true
  if #keys == 1 then return native(keys, args) end
  if #keys > 1 then return redis.error_reply('ERR user_script:0: No Keys should be provided') end
  return errors.answer(pcall(old, args))
end
