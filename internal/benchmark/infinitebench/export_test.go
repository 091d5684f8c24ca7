package infinitebench

// Tasks returns the names of the tasks in the order of the README's table, and then
// those that have no row there.
func Tasks() []string { return table.Names() }
