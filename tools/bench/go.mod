module deem/tools/bench

go 1.26.4

require deem v0.0.0

require golang.org/x/sys v0.49.0 // indirect

replace deem => ../..
