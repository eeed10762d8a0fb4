package serve

func victim() int { return 0 }
