// Package usage marks errors that are the user's to mend: a flag, a file, a name. A
// command that ends with one exits with status 2, and the server answers with status
// 400; everything else is a failure of ours or of the world.
package usage
