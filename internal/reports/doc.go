// Package reports reads the records of stored runs and makes reports of them. Commands and
// the server both use it, so they show the same results.
//
//   - [Of] makes the report of a run, with the benchmark's own numbers and with the parts of
//     a composite judge: how well the members of a panel agree, or how many items each stage
//     of a cascade decided.
//   - [Compare] compares runs, [CompareJudges] the judges of two runs, and
//     [CompareWithPeople] a judge with people.
//   - [HoldGates] checks conditions such as "overall.lo >= 65%" against a report or a
//     comparison. They mean the same in a command, in a lock file and on the server.
//   - A [Card] says how a score was made: judge, prompts, parameters, model, dataset,
//     denominators, errata and lock. [Aggregate] writes it in the schema of Every Eval Ever.
//   - [Errata] computes what known errors in an answer key do to a score: the ceiling, which
//     is the score of a system that answers everything right; the score over the items whose
//     reference is right; and the score with corrected references.
//   - [ProbeDocument] shows how a judge handled answers made to fool it.
//   - A [RankBuilder] ranks systems that a judge compared in pairs, in both orders, with a
//     Bradley-Terry model.
package reports
