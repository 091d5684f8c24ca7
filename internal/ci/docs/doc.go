// Package docs reads the fenced blocks of our documents, so that a test can do what
// they tell a reader to do. A comment above a block, which no reader sees, says what
// becomes of it:
//
//	<!-- run -->               a shell block: it is run and must end with status 0
//	<!-- run: exit 3 -->       it is run and must end with status 3
//	<!-- run: server -->       it is started, must show a page at the address that it
//	                           prints, and is stopped
//	<!-- not run: REASON -->   it cannot run here; the commands and flags in it must exist
//	<!-- output -->            what the block before it prints
//	<!-- output: part -->      lines that stand together in what the block before it prints
//	<!-- file: NAME -->        written to a file of that name, for the blocks after it
//	<!-- first: COMMAND -->    no block: a command that makes what the blocks after it need
//	                           and a reader has already
//
// A line "..." in a block of output stands for any number of lines. Times, ids of runs,
// addresses and versions differ from machine to machine and are not compared.
//
// Blocks of a page follow one another in one folder, and a block that changes the folder
// changes it for those behind it. Variables are forgotten.
//
// A shell block without such a comment is a mistake, and so is a block that does not say
// its language: a command could hide in it.
package docs
