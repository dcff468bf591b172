-- What is forgotten, and when.

local retention = {}

-- How many history entries go, all from right behind the first, which always stays. A limit of 0 or less is none.
function retention.history_excess(length, limit)
  if limit <= 0 then return 0 end
  return math.max(0, length - math.max(limit, 1))
end

return retention
