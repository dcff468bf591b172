-- When recurring jobs are due. Due times advance from the due time, never from now, and all but the first are whole microseconds.

local EXACT = 2 ^ 53 -- up to here, whole numbers are exact

local recurrence = {}

local function whole(seconds) return tonumber(string.format('%.6f', seconds)) end

-- The time n intervals after the first.
function recurrence.due_time(first, interval, n)
  if n == 0 then return first end
  return whole(first + n * interval)
end

local due_time = recurrence.due_time

-- The largest n whose due time is not after when: the division's rounding is corrected either way.
local function steps(first, interval, when)
  local n = math.floor((when - first) / interval)
  if n >= EXACT then return n end -- one more would be the same number, for ever
  while due_time(first, interval, n + 1) <= when do n = n + 1 end
  while n > 0 and due_time(first, interval, n) > when do n = n - 1 end
  return n
end

local function too_old(next_due, interval, oldest)
  if next_due >= oldest then return 0 end
  local n = steps(next_due, interval, oldest)
  if due_time(next_due, interval, n) == oldest then return n end
  return n + 1
end

-- What is due now, at most so many, oldest first, and the due time after them. With a backlog above 0, none that is further back than that
-- many intervals.
function recurrence.due_times(next_due, interval, now, backlog, limit)
  if next_due > now then return {}, next_due end
  local missed = steps(next_due, interval, now) + 1
  local skipped = 0
  if backlog > 0 then skipped = too_old(next_due, interval, whole(now - backlog * interval)) end
  local spawned = math.max(0, math.min(limit, missed - skipped))
  local times = {}
  for n = 0, spawned - 1 do times[n + 1] = due_time(next_due, interval, skipped + n) end
  return times, due_time(next_due, interval, skipped + spawned)
end

-- A number above count that is free, though the one before it is taken or count itself: steps double until one is free, and then are halved.
function recurrence.free_number(count, is_taken)
  local low, step = count, 1
  while is_taken(low + step) do low, step = low + step, step * 2 end
  local high = low + step
  while high - low > 1 do
    local middle = math.floor((low + high) / 2)
    if is_taken(middle) then low = middle else high = middle end
  end
  return high
end

-- The next due time once the interval changes: moved by the difference, at most one new interval from now, never further into the past.
function recurrence.changed_interval(next_due, old, new, now)
  if new == old then return next_due end
  local moved = whole(next_due - old + new)
  return math.min(math.max(moved, math.min(next_due, now)), now + new)
end

return recurrence
