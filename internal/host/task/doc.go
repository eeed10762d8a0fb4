// Package task keeps tasks and says who may do what with them. A task is worked
// on by one agent session at a time; a session can make tasks below its own. This
// is apart from the permission pipeline and asked after it: that a call was
// approved, by rule or by a person, gives no right over somebody else's task.
//
// # Who asks
//
// Every method takes an [Actor], which the transport made: the [Session] that
// works on a task, a [Person] with the scopes and limits of a token, or the [Host].
// No method reads who asks from what was sent.
//
// # What a session may do
//
//   - Reachability: it sees its own task, that task's direct parent, and its
//     descendants. Nothing else exists for it.
//   - Ownership: it makes tasks below its own, asks questions for its own, and
//     completes its own; it changes no other.
//   - Stop and interrupt: only of direct children. A stop ends the task and what is
//     below it, for good; it never begins a turn.
//   - Messages: to tasks it sees, except its own; each says whose it is.
//   - Completion: once, when every task below has ended.
//   - Once its task has ended it changes nothing.
//
// # What a person may do
//
// With scope view see, with operate make, stop, interrupt and message, with answer
// answer questions: which only people do, and once. A person who is limited to
// tasks has these and their descendants. People complete nothing.
//
// # What a refusal says
//
// [ErrForbidden] is for callers who may not do this with any task, and comes
// before a task is looked up. A task that does not exist and one that is not for
// the caller give the same [ErrNotFound], after the same look into memory.
//
// # What is kept
//
// The [Task] and the list of its children, written with compare-and-swap: no
// writer undoes what another one wrote. Prompts, messages, questions and answers
// are not stored. A question belongs to a tool call that waits for it, so after a
// restart there are none. Tasks that were running come back as such, with
// [Task.Resume], for [Service.Resume]. One server at a time works on the tasks of a
// store.
package task
