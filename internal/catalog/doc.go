// Package catalog is everything that has a name: judges, models and benchmarks.
//
// [Choose] turns a name or a file into a [Choice], which holds the [judge.Spec] of the
// judge. [Choice.WithModels] opens the models that it asks, and [Build] makes the judge.
// A judge that a run keeps is made by [Build] from the same spec, see [Stored].
//
// Vendors and their keys are known here and nowhere else: an [Environment] has the keys,
// and hands them to nobody but the vendor's own package.
package catalog
