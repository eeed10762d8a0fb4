// The words of the page for the names of the wire.
import { reasons } from "./reasons.js";

// of looks a name up that the agent may have chosen.
function of(table, name) {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

// Kinds of tool calls.
const calls = {
  read: "Read", edit: "Edit", delete: "Delete", move: "Move", search: "Search", execute: "Run a command",
  think: "Think", fetch: "Fetch", switch_mode: "Switch the mode", other: "Use a tool",
};

// callWord is what a call would do, or nothing where the kind is the agent's own.
export function callWord(action) {
  if (action.tool) return `Call ${action.tool} of ${action.server}`;
  return of(calls, action.type || "other");
}

// deed is what a call is about, in the words of the agent; empty when the page's say it.
export function deed(action) {
  return action.command || action.path || action.destination || action.title || "";
}

// sentence is a text of the server as a sentence.
export function sentence(text) {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

// Kinds of options in the order of their buttons. For how long they reach the server says.
const kinds = {
  allow_once: { word: "Allow once" },
  allow_always: { word: "Allow always" },
  reject_once: { word: "Reject once" },
  reject_always: { word: "Reject always" },
};

const unknownKind = { word: "Another answer", unknown: true };

// kindWords are the words for a kind of option, which may be the agent's own.
export function kindWords(kind) {
  return of(kinds, kind) ?? unknownKind;
}

// sorted gives options in the order of their buttons.
export function sorted(options) {
  const names = Object.keys(kinds);
  const rank = (option) => (names.includes(option.kind) ? names.indexOf(option.kind) : names.length);
  return [...options].sort((a, b) => rank(a) - rank(b));
}

// reasonWord is what a reason means.
export function reasonWord(reason) {
  return of(reasons, reason) || "a reason that this page does not know";
}

const verdicts = {
  continue: "leaves it to the next", select: "approves it", pend: "asks a person", cancel: "cancels it",
};

// verdictWord is what a stage said.
export function verdictWord(verdict) {
  return of(verdicts, verdict) || verdict;
}

const stages = {
  acp: "The form of the request", manager: "The state of the session", blanket: "Blanket approval", identity: "The name of the tool",
  dialect: "What the agent's messages say", provenance: "Whose server it is", witness: "What was seen at the server",
  option: "The answers that are offered", pending: "The last stage",
};

// stageWord is what a stage looks at.
export function stageWord(stage) {
  return of(stages, stage) || stage;
}

const outcomes = {
  expired: "Expired: nobody answered in time",
  withdrawn: "Withdrawn: the agent took it back",
  cancelled: "Cancelled: its turn is over",
  agent_gone: "The agent has ended",
  server_restarted: "The server ended, and this request with it",
  away: "It ended while this page was not connected",
};

// overWord says how an offer ended.
export function overWord(over) {
  if (over.outcome !== "answered") return of(outcomes, over.outcome) || "It is over";
  const who = over.mine ? "you" : by(over.by) || (over.other ? "somebody else" : "");
  const what = over.verdict === "cancel" ? "Neither allowed nor rejected" : of(kinds, over.kind)?.word;
  return `Answered${what ? `: ${what}` : ""}${who ? `, by ${who}` : ""}`;
}

// by names who answered, and through which surface.
export function by(person) {
  if (!person?.name) return "";
  return person.surface ? `${person.name} (${person.surface})` : person.name;
}

const acts = { stop: "Task stopped", interrupt: "Turn cancelled", question: "Question answered" };

// actWord is what somebody did to a task.
export function actWord(what) {
  return of(acts, what) || "Something done that this page does not know";
}

const states = {
  created: "not begun", running: "works", waiting: "waits for an answer", idle: "idle", stopped: "stopped",
  completed: "completed", failed: "failed",
};

// stateWord is the state of a task.
export function stateWord(state) {
  return of(states, state) || "in an unknown state";
}

const lives = { starting: "is starting", running: "is there", ended: "has ended" };

// lifeWord is the state of an instance.
export function lifeWord(state) {
  return of(lives, state) || "in an unknown state";
}

// moment is a time with its day, as people here write it.
export function moment(time) {
  return new Date(time).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}

// ago is a duration in ms, short.
export function ago(duration) {
  const seconds = Math.max(0, Math.floor(duration / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} days`;
}
