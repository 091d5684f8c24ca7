// Package ci_test checks the repository as a whole: documents, examples, scripts, deployment
// files and the packages of a release.
//
// TestPages does what the documents tell a reader to do. A comment above a fenced block, which
// readers do not see, says what happens with it:
//
//	<!-- run -->               a shell block: it is run and must exit with status 0
//	<!-- run: exit 3 -->       it is run and must exit with status 3
//	<!-- run: server -->       it is started, must serve a page at the address that it
//	                           prints, and is stopped
//	<!-- run: stays -->        it is started and continues until the page ends; "server,
//	                           stays" is a server that later blocks may call
//	<!-- run: published -->    it is run if the published files that we may not ship are
//	                           there; otherwise its flags must exist
//	<!-- run: postgres -->     it is run if there is a Postgres; otherwise as above
//	<!-- not run: REASON -->   it cannot run here; the commands and flags in it must exist
//	<!-- output -->            what the previous block prints
//	<!-- output: part -->      consecutive lines of what the previous block prints
//	<!-- not output: REASON -->  text that no command of the page prints
//	<!-- file: NAME -->        written to a file of that name, for later blocks
//	<!-- from: FILE -->        lines of that file of the repository, in its order, which are
//	                           compiled and tested there
//
// A line "..." in a block of output stands for any number of lines. Times, run ids, addresses
// and versions differ from machine to machine and are not compared.
//
// The blocks of a page share one folder and one environment: if a block changes the folder or
// exports a variable, this applies to later blocks too.
//
// A block of shell, text or Go without such a comment is an error, and so is a block without a
// language: a command, or a promise, could hide in it.
package ci_test
