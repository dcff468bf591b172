-- Refusals. They are raised inside, always before the first write, and returned to the caller: an error that leaves a function by itself gains a
-- suffix that differs between servers.

local texts = use('texts')

local replies = {}

-- Refuse the command: the code of an error class, and its details as pairs of a name and a text.
function replies.refuse(code, ...)
  local details = { ... }
  local named = {}
  for index = 2, #details, 2 do
    named[details[index - 1]] = details[index]
    details[index] = texts.quote(details[index])
  end
  error({ refused = string.upper(code) .. ' ' .. texts.object(unpack(details)), code = code, details = named })
end

function replies.bad_argument(command, argument, problem)
  replies.refuse('bad-argument', 'command', command, 'argument', argument, 'problem', problem)
end

-- Run a part of a bulk command: its refusal becomes that of the whole, and names the part.
function replies.within(command, argument, index, part, ...)
  local ok, result = pcall(part, ...)
  if ok then return result end
  if type(result) ~= 'table' or not result.refused then error(result) end
  replies.refuse(
    'bad-argument', 'command', command, 'argument', argument .. '[' .. index .. ']', 'problem', 'was refused',
    'cause', result.refused
  )
end

return replies
