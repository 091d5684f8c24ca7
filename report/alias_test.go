package report

// What tests outside the package must see inside.
var SelfGrading = selfGrading
