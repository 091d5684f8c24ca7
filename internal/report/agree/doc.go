// Package agree sets a judge beside people, or beside another judge.
//
// [New] returns a [Builder], which is given every item of a run with the judge's
// verdict and, where there is one, what people said. Its [Agreement] says how far the
// two agree and where they do not, which errors the judge makes, what the run's score
// would be if people had judged everything, and how many more labels would make that
// surer. [Draw] chooses the items to label. [Pairs] is the short form for two judges
// over the same items, which a report of several runs ends with.
//
// A verdict says yes when it passes or, where there is no pass mark, when its score is
// at least one half. What follows is about yes and no; where both sides give scores in
// between, these are compared too.
package agree
