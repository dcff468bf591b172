-- Lua as servers have it: 5.1, with what they give to functions, and `use` of the library's loader.
std = "lua51"
read_globals = { "use", "redis", "cjson", "cmsgpack" }
max_line_length = 150
