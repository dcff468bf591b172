-- pop and peek, as old clients call them.

local native_peek = use('native/peek')
local pop = use('native/pop')
local run = use('script/run')
local show = use('script/show')
local take_one = use('script/take_one')

local taking = {}

function taking.pop(given, style)
  local queue, worker = given:need('queue'), given:need('worker')
  return show.jobs(run(pop.run, queue, worker, math.max(0, given:number('count'))), style)
end

-- One job of the line, if it waits there.
function taking.pop_by_jid(given, style)
  local queue, jid, worker = given:need('queue'), given:need('jid'), given:need('worker')
  return show.jobs(take_one(queue, jid, worker), style)
end

-- A page of what peek would give.
function taking.peek_page(given, style)
  local queue = given:need('queue')
  local offset, count = given:page()
  local shown, jobs = {}, run(native_peek, queue, offset + count)
  for index = offset + 1, #jobs do shown[#shown + 1] = jobs[index] end
  return show.jobs(shown, style)
end

-- The queue and a count; clients of the fork in between give an offset before the count.
function taking.peek(given, style)
  if given:count() > 2 then return taking.peek_page(given, style) end
  local queue = given:need('queue')
  return show.jobs(run(native_peek, queue, math.max(0, given:number('count'))), style)
end

return taking
