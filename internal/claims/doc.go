// Package claims checks a printed table of percentages by arithmetic alone, without the rows
// behind it.
//
// [Read] parses a Markdown, CSV, YAML or JSON table, and [Table.Audit] checks for every number
// whether a whole number of questions gives it, and for every row whether its parts give its
// overall. A number is called impossible only if no rounding (to the nearest, ties either way,
// or truncation) and no mean over a few runs gives it. The arithmetic is exact; if a search
// would take too long, the number counts as possible.
package claims
