package doc

import (
	"regexp"
	"slices"
)

// A diffPiece is a piece of a text, and whether only this text has it.
type diffPiece struct {
	Text string
	Only bool
}

// diffWord matches what is compared: words and numbers, for example 1,450 and well-known.
var diffWord = regexp.MustCompile(`[\pL\pM\pN]+(?:[.,:'’/-][\pL\pM\pN]+)*`)

// maxDiff is the maximum number of pairs of words that are compared.
const maxDiff = 1 << 20

// markDifferences marks the words in which responses differ: two from each other, more from
// the first. Texts with less than a third of their words in common are not marked.
func (iv *itemView) markDifferences() {
	for i := range iv.Sides {
		if i == 0 {
			continue
		}
		first, side := &iv.Sides[0], &iv.Sides[i]
		a, b := diffWord.FindAllStringIndex(first.Response, -1), diffWord.FindAllStringIndex(side.Response, -1)
		inA, inB, n := common(wordsAt(first.Response, a), wordsAt(side.Response, b))
		if n == max(len(a), len(b)) || 3*n < min(len(a), len(b)) || n == 0 {
			continue
		}
		side.Pieces = diffPieces(side.Response, b, inB)
		if len(iv.Sides) == 2 {
			first.Pieces = diffPieces(first.Response, a, inA)
		}
	}
}

func wordsAt(text string, at [][]int) []string {
	list := make([]string, len(at))
	for i, s := range at {
		list[i] = text[s[0]:s[1]]
	}
	return list
}

// common returns which words belong to the longest common subsequence of two texts, and its
// length. It finds none in texts that are too long.
func common(a, b []string) (inA, inB []bool, n int) {
	inA, inB = make([]bool, len(a)), make([]bool, len(b))
	if len(a)*len(b) > maxDiff {
		return inA, inB, 0
	}
	wide := len(b) + 1
	length := make([]int32, (len(a)+1)*wide) // of the rest from each pair of places on
	for i, x := range slices.Backward(a) {
		for j, y := range slices.Backward(b) {
			if x == y {
				length[i*wide+j] = length[(i+1)*wide+j+1] + 1
			} else {
				length[i*wide+j] = max(length[(i+1)*wide+j], length[i*wide+j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			inA[i], inB[j] = true, true
			i, j = i+1, j+1
		case length[(i+1)*wide+j] >= length[i*wide+j+1]:
			i++
		default:
			j++
		}
	}
	return inA, inB, int(length[0])
}

// diffPieces splits a text into common pieces and pieces that only it has. The text between
// two words that only it has belongs to them.
func diffPieces(text string, at [][]int, in []bool) []diffPiece {
	var list []diffPiece
	end := 0
	for i := 0; i < len(at); i++ {
		if in[i] {
			continue
		}
		from := i
		for i+1 < len(at) && !in[i+1] {
			i++
		}
		list = append(list, diffPiece{text[end:at[from][0]], false}, diffPiece{text[at[from][0]:at[i][1]], true})
		end = at[i][1]
	}
	return append(list, diffPiece{text[end:], false})
}
