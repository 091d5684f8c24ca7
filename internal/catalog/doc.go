// Package catalog makes judges. From a name or a file it makes a [Choice]: a rule, a
// protocol, or a judge that is made of others. With the models that it asks, the choice
// is a [Judging], and with what goes around the models, a judge that can be asked. From
// the identity that a run keeps, a [Restorer] makes the judge of that run again.
//
// Vendors and their keys are known here and nowhere else: an [Environment] has the keys,
// and hands them to nobody but the vendor's own package.
package catalog
