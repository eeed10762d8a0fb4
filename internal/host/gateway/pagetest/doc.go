// Package pagetest has no code of its own. Its tests drive the gateway's page in a
// real browser, over real sockets, against a real store of offers. The files
// wire_test.go and actions_test.go say what the page sends and wants to get.
//
// They need Chromium or Google Chrome in the PATH. Without one they are skipped, and
// fail in CI. With the flag -pictures FOLDER they leave pictures of the page.
package pagetest
