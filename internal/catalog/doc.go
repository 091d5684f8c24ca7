// Package catalog finds judges and benchmarks by name.
//
// [Choose] turns a name or a file into a [Choice], which contains the [judge.Spec] of the
// judge. [Choice.WithModels] adds its models, and [Build] builds the judge. A judge stored
// with a run is rebuilt by [Build] from the same spec; see [Stored].
package catalog
