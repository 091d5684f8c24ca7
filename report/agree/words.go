package agree

import (
	"slices"
	"strings"
)

// ModelFields returns the fields of an item that may say which model answered.
func ModelFields() []string { return slices.Clone(modelFields) }

// Who returns who is taken to be right: "people", or the name of another judge.
func (a Agreement) Who() string { return a.who() }

// Meaning says in a sentence what the corrected score comes to; "" when there is none.
func (a Agreement) Meaning() string {
	if a.Corrected == nil {
		return ""
	}
	// In the text an asterisk points to the row that the sentence is about.
	return strings.TrimPrefix((&sheet{a: a}).meaning(*a.Corrected), "* ")
}

// QuotedName returns the name of the number to quote, as the text has it; "" when there
// is none.
func (a Agreement) QuotedName() string {
	if a.Corrected == nil {
		return ""
	}
	return (&sheet{a: a}).quotedName(a.Corrected.Quote)
}

// OwnWords says whether the judge favours answers of its own family; "" when nobody can
// tell.
func (a Agreement) OwnWords() string {
	if a.Own == nil || a.Own.FalseAccept == nil || a.Own.FalseAccept.N == 0 {
		return ""
	}
	return leniencySentence(*a.Own.FalseAccept)
}
