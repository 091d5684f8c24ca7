package postgres

import (
	"encoding/hex"

	"deem"
	"deem/internal/store/internal/body"
)

// An encodedItem is an item in the stored form.
type encodedItem struct {
	body.Item
	places *string // JSON: maps places to texts; nil if there are none
}

// encodeItem returns an item in the stored form.
func encodeItem(it deem.Item, items *body.Encoder) (encodedItem, error) {
	kept, err := items.Item(it)
	if err != nil || len(kept.Long) == 0 {
		return encodedItem{Item: kept}, err
	}
	places := map[string][2]any{}
	for _, t := range kept.Long {
		places[t.Place] = [2]any{hex.EncodeToString(t.Hash[:]), len(t.Body)}
	}
	list, err := body.Encode(places)
	return encodedItem{kept, &list}, err
}
