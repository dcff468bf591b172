-- A call from the wire to a command and back: its namespace, time and token, then its arguments.

local arguments = use('arguments')
local clock = use('clock')
local context = use('context')
local errors = use('errors')
local tokens = use('tokens')

local ARGUMENTS_FROM = 4 -- after now, token and the request's digest

local function run(command, args)
  clock.set(args[1])
  local reader = arguments.of(args, ARGUMENTS_FROM)
  if args[2] == '' or context.reads then return command.run(reader) end
  return tokens.once(command, args[2], args[3], reader)
end

-- Answer a call. A refusal is an error reply; it came before any write.
return function(command, reads, keys, args)
  context.begin(keys[1], reads)
  return errors.answer(pcall(run, command, args))
end
