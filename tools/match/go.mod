module deem/tools/match

go 1.26.4

require deem v0.0.0

require (
	golang.org/x/text v0.43.0 // indirect
	gonum.org/v1/gonum v0.17.0 // indirect
)

replace deem => ../..
