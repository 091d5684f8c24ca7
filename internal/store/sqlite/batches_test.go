package sqlite_test

import (
	"testing"

	"deem/internal/store/storetest"
)

func TestBatches(t *testing.T) {
	opens := opener()
	storetest.TestBatches(t, func(t *testing.T) storetest.BatchStore { return opens(t) })
}
