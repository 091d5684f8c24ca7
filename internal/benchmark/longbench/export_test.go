package longbench

// Tasks returns the names of the tasks in the order of eval.py.
func Tasks() []string { return table.Names() }
