// Package docs reads the fenced blocks of our documents, so that a test can do what
// they tell a reader to do. A comment above a block, which no reader sees, says what
// becomes of it:
//
//	<!-- run -->               a shell block: it is run and must end with status 0
//	<!-- run: exit 3 -->       it is run and must end with status 3
//	<!-- run: server -->       it is started, must show a page at the address that it
//	                           prints, and is stopped
//	<!-- run: stays -->        it is started, and goes on until the page ends; "server,
//	                           stays" is a server that the blocks after it may ask
//	<!-- run: published -->    it is run where the files are that others published, and
//	                           that are not ours to ship; elsewhere its flags must exist
//	<!-- run: postgres -->     it is run where there is a Postgres, and likewise
//	<!-- not run: REASON -->   it cannot run here; the commands and flags in it must exist
//	<!-- output -->            what the block before it prints
//	<!-- output: part -->      lines that stand together in what the block before it prints
//	<!-- not output: REASON -->  text that no command of the page prints
//	<!-- file: NAME -->        written to a file of that name, for the blocks after it
//	<!-- from: FILE -->        lines of that file of the repository, in its order, which are
//	                           compiled and tested there
//
// A line "..." in a block of output stands for any number of lines. Times, ids of runs,
// addresses and versions differ from machine to machine and are not compared.
//
// Blocks of a page follow one another in one folder and one environment: a block that
// changes the folder or exports a variable changes it for those behind it.
//
// A block of shell, text or Go without such a comment is a mistake, and so is one that
// does not say its language: a command, or a promise, could hide in it.
package docs
