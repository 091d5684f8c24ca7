package postgres

import (
	"encoding/hex"

	"deem"
	"deem/internal/store"
)

// An encodedItem is an item in the stored form.
type encodedItem struct {
	store.StoredItem
	places *string // JSON: maps places to texts; nil if there are none
}

// encodeItem returns an item in the stored form.
func encodeItem(it deem.Item, items *store.ItemEncoder) (encodedItem, error) {
	kept, err := items.Item(it)
	if err != nil || len(kept.Long) == 0 {
		return encodedItem{StoredItem: kept}, err
	}
	places := map[string][2]any{}
	for _, t := range kept.Long {
		places[t.Place] = [2]any{hex.EncodeToString(t.Hash[:]), len(t.Body)}
	}
	list, err := store.EncodeJSON(places)
	return encodedItem{kept, &list}, err
}
