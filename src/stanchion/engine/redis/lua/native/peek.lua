-- Show what pop would give, without locking anything.

local taking = use('queue/taking')

return function(args) return taking.show(args:text(), args:number() or 1) end
