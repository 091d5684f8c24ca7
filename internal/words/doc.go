// Package words formats numbers, money and untrusted text for people to read.
package words
