package main

// What the command prints is part of the documentation.
func Example() {
	main()
	// Output:
	// select by option: injected_mcp (tool list_tasks of server kandev)
	//   blanket      continue  no_blanket_approval
	//   identity     continue  name_absent
	//   dialect      continue  dialect_identified
	//   provenance   continue  server_is_injected
	//   deletes      continue  tool_does_not_delete
	//   option       select    injected_mcp
	// pend by deletes: tool_deletes (tool delete_task of server kandev)
	//   blanket      continue  no_blanket_approval
	//   identity     continue  name_absent
	//   dialect      continue  dialect_identified
	//   provenance   continue  server_is_injected
	//   deletes      pend      tool_deletes
}
