// Package rows finds the rows in files of any program.
//
// A file is first a value: [Parse] makes a [Node] of JSON, with the order of its members and
// the lines of its objects. [Names] is the one table of column names, which says that
// "hypothesis" and "Model Answer" are responses. A [Finder] then says where the rows are: in
// a list, in a list for each conversation or type, or in an object with a member for each
// id, at any depth.
//
// Every row counts once. A list that repeats rows of other lists is left out, objects that
// are not rows are counted, and [Found.LeftOut] says both. Lists that answer the same
// questions differently are alternatives, and which of them counts is a question to the
// user: see [Found.Rivals].
package rows
