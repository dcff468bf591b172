-- The command of a name: a table with run, and for answers that are better kept short, remember and recall.

local commands = {}

return function(name)
  local command = commands[name]
  if not command then
    local native = use('native/' .. name)
    command = type(native) == 'function' and { run = native } or native
    command.name = name
    commands[name] = command
  end
  return command
end
