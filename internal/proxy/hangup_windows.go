package proxy

import "os"

// hungUp is not known here.
func hungUp(*os.File) bool { return false }
