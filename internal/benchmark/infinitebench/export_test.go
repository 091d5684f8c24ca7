package infinitebench

// Tasks returns the names of the tasks in the order of the README's table, followed by
// those without a row there.
func Tasks() []string { return table.Names() }
