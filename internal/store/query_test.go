package store_test

import (
	"errors"
	"slices"
	"testing"

	"deem/internal/store"
)

// TestOrder checks that a backward view is read in reverse order, and that places ascend
// whether values ascend or descend.
func TestOrder(t *testing.T) {
	const up, down = "r.position, r.trial, r.n", "r.position DESC, r.trial DESC, r.n DESC"
	for _, tt := range []struct {
		v                        store.View
		byPlace, byValue         string
		beyondPlace, beyondValue string
	}{
		{store.View{}, up, "", ">", ""},
		{store.View{Order: store.ByPosition, Descending: true}, down, "", "<", ""},
		{store.View{Backward: true}, down, "", "<", ""},
		{store.View{Backward: true, Descending: true}, up, "", ">", ""},
		{store.View{Order: store.ByScore}, up, "r.score, " + up, ">", ">"},
		{store.View{Order: store.ByScore, Descending: true}, up, "r.score DESC, " + up, ">", "<"},
		{store.View{Order: store.ByConfidence, Backward: true}, down, "r.confidence DESC, " + down, "<", "<"},
		{store.View{Order: store.ByConfidence, Backward: true, Descending: true}, down, "r.confidence, " + down, "<", ">"},
	} {
		o := store.ViewOrderOf(tt.v)
		if o.ByPlace() != tt.byPlace || o.BeyondPlace() != tt.beyondPlace {
			t.Errorf("%+v is read by %s, later %s, want %s, %s", tt.v, o.ByPlace(), o.BeyondPlace(), tt.byPlace, tt.beyondPlace)
		}
		if tt.byValue != "" && (o.ByValue() != tt.byValue || o.BeyondValue() != tt.beyondValue) {
			t.Errorf("%+v is read by %s, later %s, want %s, %s", tt.v, o.ByValue(), o.BeyondValue(), tt.byValue, tt.beyondValue)
		}
	}
}

// numbers returns a source of pages with the numbers from 1 to n, and the numbers after
// which pages were requested.
func numbers(size, n int) (next func(int) ([]int, error), asked *[]int) {
	asked = new([]int)
	return func(last int) (page []int, err error) {
		*asked = append(*asked, last)
		for len(page) < size && last < n {
			last++
			page = append(page, last)
		}
		return page, nil
	}, asked
}

func TestPages(t *testing.T) {
	for _, tt := range []struct {
		n     int
		asked []int
	}{
		{0, []int{0}},
		{2, []int{0}},
		{3, []int{0, 3}},
		{7, []int{0, 3, 6}},
	} {
		next, asked := numbers(3, tt.n)
		got := 0
		for i, err := range store.Pages(3, next) {
			if got++; err != nil || i != got {
				t.Errorf("element %d of %d = %d, %v", got, tt.n, i, err)
			}
		}
		if got != tt.n || !slices.Equal(*asked, tt.asked) {
			t.Errorf("%d of %d elements, asked behind %v, want %v", got, tt.n, *asked, tt.asked)
		}
	}
}

func TestPagesStop(t *testing.T) {
	next, asked := numbers(3, 9)
	for i := range store.Pages(3, next) {
		if i == 3 { // The next page is requested only when it is needed.
			break
		}
	}
	if len(*asked) != 1 {
		t.Errorf("asked behind %v, want once", *asked)
	}
}

func TestPagesError(t *testing.T) {
	broken := errors.New("broken")
	var got []int
	var errs []error
	for i, err := range store.Pages(2, func(last int) ([]int, error) {
		if last == 2 {
			return []int{7}, broken
		}
		return []int{1, 2}, nil
	}) {
		got, errs = append(got, i), append(errs, err)
	}
	if !slices.Equal(got, []int{1, 2, 0}) || !slices.Equal(errs, []error{nil, nil, broken}) {
		t.Errorf("elements %v with errors %v, want 1, 2 and then the error", got, errs)
	}
}
