// Package catalog finds judges, models and benchmarks by name.
//
// [Choose] turns a name or a file into a [Choice], which contains the [judge.Spec] of the
// judge. [Choice.WithModels] opens its models, and [Build] builds the judge. A judge stored
// with a run is rebuilt by [Build] from the same spec; see [Stored].
//
// Only this package knows vendors and their API keys: an [Environment] has the keys and
// passes them only to the vendor's own package.
package catalog
