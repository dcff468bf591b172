-- Pages of sorted sets whose members of equal score have an order of their own, which the jobs' records decide. It is exact for up
-- to STEP equals.

local call = use('call')
local keys = use('keys')

local finite = use('texts').finite

local STEP = 1000

local ordered = {}

local function by_ready_and_seq(a, b)
  if a.ready ~= b.ready then return a.ready < b.ready end
  if a.seq ~= b.seq then return a.seq < b.seq end
  return a.jid < b.jid
end

local function by_seq(a, b)
  if a.seq ~= b.seq then return a.seq < b.seq end
  return a.jid < b.jid
end

local function by_seq_backwards(a, b)
  if a.seq ~= b.seq then return a.seq > b.seq end
  return a.jid > b.jid
end

local function by_name(a, b) return a.jid < b.jid end

local function sorted(jids, before)
  if #jids < 2 then return jids end
  local equals = {}
  for index, jid in ipairs(jids) do
    local found = before == by_name and {} or call('hmget', keys.job(jid), 'x-ready', 'time', 'x-seq')
    equals[index] = { jid = jid, ready = finite(found[1]) or finite(found[2]) or 0, seq = finite(found[3]) or 0 }
  end
  table.sort(equals, before)
  for index, one in ipairs(equals) do jids[index] = one.jid end
  return jids
end

-- Groups of equal score from a flat list of members and scores.
local function groups_of(flat)
  local groups = {}
  for index = 1, #flat, 2 do
    local last = groups[#groups]
    if last and last.score == flat[index + 1] then
      last.jids[#last.jids + 1] = flat[index]
    else
      groups[#groups + 1] = { score = flat[index + 1], jids = { flat[index] } }
    end
  end
  return groups
end

local function whole_group(key, score, count)
  return call('zrangebyscore', key, score, score, 'limit', 0, math.max(STEP, count))
end

local function count_before(command, key, score)
  if command == 'zrange' then return call('zcount', key, '-inf', '(' .. score) end
  return call('zcount', key, '(' .. score, '+inf')
end

-- A page of members: count of them (-1: all) from an offset. One more is read on either side, to see whether equals are cut apart.
local function page(command, key, offset, count, before)
  if count == 0 then return {} end
  local skip = offset > 0 and 1 or 0
  local groups = groups_of(call(command, key, offset - skip, count < 0 and -1 or offset + count, 'withscores'))
  local first, last = groups[1], groups[#groups]
  if not first then return {} end
  local cut = {}
  if count > 0 and #last.jids > 1 then cut[last] = true end
  if skip == 1 and #first.jids > 1 then cut[first] = true end
  if skip == 1 and cut[first] then skip = offset - count_before(command, key, first.score) end
  local members = {}
  for _, group in ipairs(groups) do
    if cut[group] then group.jids = whole_group(key, group.score, count) end
    for _, jid in ipairs(sorted(group.jids, before)) do members[#members + 1] = jid end
  end
  local found = {}
  for index = skip + 1, count < 0 and #members or math.min(#members, skip + count) do found[#found + 1] = members[index] end
  return found
end

-- The members of a flat list of members and scores, at most so many; nil if two of them are equal.
local function all_different(flat, count)
  local members = {}
  for index = 1, #flat, 2 do
    if flat[index + 1] == flat[index + 3] then return nil end
    if #members < count then members[#members + 1] = flat[index] end
  end
  return members
end

-- The first of a line: highest score first. Mostly no two are equal, and there is nothing to decide.
function ordered.first(key, count)
  local members = all_different(call('zrevrange', key, 0, count, 'withscores'), count)
  return members or page('zrevrange', key, 0, count, by_ready_and_seq)
end

-- A page of a line, of a queue or a throttle.
function ordered.line(key, offset, count) return page('zrevrange', key, offset, count, by_ready_and_seq) end

-- Lowest score first: locks, schedules, those that are held back.
function ordered.by_time(key, offset, count) return page('zrange', key, offset, count, by_seq) end

-- Highest score first, the last put first among equals: complete jobs, the newest first.
function ordered.newest(key, offset, count) return page('zrevrange', key, offset, count, by_seq_backwards) end

-- Highest score first, by name among equals.
function ordered.most(key, offset, count) return page('zrevrange', key, offset, count, by_name) end

-- At most count members with scores between two, lowest first.
function ordered.between(key, low, high, count)
  if count <= 0 then return {} end
  local groups = groups_of(call('zrangebyscore', key, low, high, 'withscores', 'limit', 0, count + 1))
  local found = {}
  for index, group in ipairs(groups) do
    if index == #groups and #group.jids > 1 then
      group.jids = whole_group(key, group.score, count)
    end
    for _, jid in ipairs(sorted(group.jids, by_seq)) do
      if #found < count then found[#found + 1] = jid end
    end
  end
  return found
end

-- Put jids into the order in which their jobs were put.
function ordered.in_order_of_puts(jids) return sorted(jids, by_seq) end

-- Put jobs into the order of a line: highest priority first, then by age.
function ordered.sort_line(jobs)
  for _, job in ipairs(jobs) do job.seq = tonumber(job.seq) end
  table.sort(jobs, function(a, b)
    if a.priority ~= b.priority then return a.priority > b.priority end
    return by_ready_and_seq(a, b)
  end)
  return jobs
end

-- The least score that is above another: for members that must come after it, whatever the clock says.
function ordered.after(score)
  local _, exponent = math.frexp(score)
  return score + math.ldexp(1, math.max(exponent, -1000) - 52)
end

-- Add a member behind all others, at a time or right after the last; 1 if it was new.
function ordered.append(key, time, member)
  if call('zscore', key, member) then return 0 end
  local last = call('zrevrange', key, 0, 0, 'withscores')
  if last[2] and finite(last[2]) >= time then time = ordered.after(finite(last[2])) end
  return call('zadd', key, time, member)
end

return ordered
