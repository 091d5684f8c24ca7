// Package findings computes the results of a stored run. It reads the records of a run from
// a store and passes them to the packages that evaluate them: a report with the benchmark's
// own numbers, one record with its prompt rendered again, two judges compared, a judge
// compared with people, runs compared.
//
// For a composite judge it shows how well the members of a panel agree, or how many items
// each stage of a cascade decided, what it cost, and what that saved.
//
// Commands and the server both use this package, so they show the same results.
package findings
