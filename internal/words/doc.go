// Package words writes numbers, money and other people's text for people to read.
package words
