package sqlite_test

import (
	"testing"

	"deem/internal/store/storetest"
)

func TestMoney(t *testing.T) {
	opens := opener()
	storetest.TestMoney(t, func(t *testing.T) storetest.MoneyStore { return opens(t) })
}
