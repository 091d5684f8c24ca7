module deem

go 1.26
