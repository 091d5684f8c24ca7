// Package findings tells what a kept run found. It reads the records of a run back from
// a store and hands them to the packages that count: a report with the benchmark's own
// numbers, one record with its prompt rendered again, two judges beside each other, a
// judge beside people, runs compared.
//
// Of a judge that is made of others it says how far the members of a panel agree, and which
// stage of a cascade decided how much, what it cost, and what that saved.
//
// Commands and the server show the same findings because they ask here.
package findings
