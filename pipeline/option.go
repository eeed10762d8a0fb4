package pipeline

import "github.com/samber/lo"

// Reasons why no option can be chosen without a person.
const (
	ReasonNoAllowOffered  Reason = "no_allow_offered"      // no option of kind allow_once or allow_always is offered
	ReasonTwinAllows      Reason = "several_equal_allows"  // several options allow: which of them is the plain one?
	ReasonDuplicateOption Reason = "option_id_twice"       // two options have one id
	ReasonEmptyOptionID   Reason = "option_id_empty"       // an option has an empty id, which could mean anything
	ReasonOptionChosen    Reason = "option_chosen"         // exactly one option fits
	ReasonNoRejectOffered Reason = "no_reject_offered"     // no option of kind reject_once is offered
	ReasonTwinRejects     Reason = "several_equal_rejects" // several options reject: which of them lets the turn go on?
)

// LeastAllow finds the allow of the least reach: the offered allow_once, failing
// that the offered allow_always. Kinds are compared exactly. It returns the
// index and [ReasonOptionChosen], or the reason why a person has to choose. The
// hint settles twins of kind allow_once.
func LeastAllow(options []Option, hint OptionHint) (int, Reason) {
	if reason := checkIDs(options); reason != ReasonOptionChosen {
		return 0, reason
	}
	if i, reason := only(options, AllowOnce, hint.Allow, ReasonNoAllowOffered, ReasonTwinAllows); reason != ReasonNoAllowOffered {
		return i, reason
	}
	return only(options, AllowAlways, "", ReasonNoAllowOffered, ReasonTwinAllows)
}

// LeastReject finds the offered reject_once, which is what "deny" means. Two of
// them without a hint are for a person to choose from.
func LeastReject(options []Option, hint OptionHint) (int, Reason) {
	if reason := checkIDs(options); reason != ReasonOptionChosen {
		return 0, reason
	}
	return only(options, RejectOnce, hint.Reject, ReasonNoRejectOffered, ReasonTwinRejects)
}

// checkIDs refuses an offer in which an id does not name exactly one option.
func checkIDs(options []Option) Reason {
	if len(options) > manyOptions {
		return checkManyIDs(options)
	}
	for i := range options {
		if options[i].ID == "" {
			return ReasonEmptyOptionID
		}
		for j := range i {
			if options[j].ID == options[i].ID {
				return ReasonDuplicateOption
			}
		}
	}
	return ReasonOptionChosen
}

// manyOptions is where comparing each pair gets slower than a set. Real agents
// offer two to four; a hostile one could offer a million.
const manyOptions = 16

func checkManyIDs(options []Option) Reason {
	if lo.ContainsBy(options, func(o Option) bool { return o.ID == "" }) {
		return ReasonEmptyOptionID
	}
	if len(lo.FindDuplicatesBy(options, func(o Option) string { return o.ID })) > 0 {
		return ReasonDuplicateOption
	}
	return ReasonOptionChosen
}

// only finds the one option of a kind; among several of them the one with the
// hinted id.
func only(options []Option, kind, hinted string, none, several Reason) (int, Reason) {
	found, count, byHint := 0, 0, -1
	for i := range options {
		if options[i].Kind != kind {
			continue
		}
		if count++; count == 1 {
			found = i
		}
		if hinted != "" && options[i].ID == hinted {
			byHint = i
		}
	}
	switch {
	case count == 0:
		return 0, none
	case count == 1:
		return found, ReasonOptionChosen
	case byHint >= 0:
		return byHint, ReasonOptionChosen
	}
	return 0, several
}
