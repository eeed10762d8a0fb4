// The page on which people see what their agents do and answer what they ask.
// Everything from an agent is shown as text: see dom.js.
import { byId, show } from "./dom.js";
import { Connection } from "./connection.js";
import { beginFolding } from "./fold.js";
import { begin, look } from "./guard.js";
import { Journal } from "./journal.js";
import { Notifier } from "./notify.js";
import { Offers } from "./offers.js";
import { forgetOpen, keepOpen } from "./opened.js";
import { Questions } from "./questions.js";
import { StartForm, Tasks } from "./tasks.js";
import { say } from "./say.js";
import { sentence } from "./words.js";

const place = "assent-token"; // in the storage of the tab
const away = 30000; // ms in the background after which the state is asked for anew

let connection;
let person = { name: "", scopes: [] };
let server; // the run that the page knows
let hiddenSince = 0;
const spread = 2000; // ms within which the pages ask for the state anew that are told to at once
let asking; // the timer until this one does
let wanted; // the task that the address names, until it is shown

const hooks = {
  ask: (action, payload) => connection.ask(action, payload),
  mayAnswer: () => person.scopes.includes("answer"),
  mayOperate: () => person.scopes.includes("operate"),
  taskName: (id) => tasks.name(id),
  taskAgent: (id) => tasks.agent(id),
  child: (task) => start.under(task),
  counted: () => count(),
};
const tasks = new Tasks(hooks);
const start = new StartForm(hooks);
const offers = new Offers(hooks);
const questions = new Questions(hooks);
const journal = new Journal(hooks);
const notifier = new Notifier();

// Events of the server.
const events = {
  "task.changed": ({ task }) => tasks.changed(task),
  "task.gone": ({ task }) => tasks.gone(task),
  resync: () => { asking ??= setTimeout(askAnew, Math.random() * spread); }, // events were missed
  "task.text": (payload) => tasks.text(payload),
  "instance.changed": ({ instance }) => tasks.instanceChanged(instance),
  "offer.opened": ({ offer }) => { offers.opened(offer); notifier.tell(waiting()); },
  "offer.closed": (payload) => { offers.closed(payload); journal.closed(payload); },
  "question.opened": ({ question }) => { questions.opened(question); notifier.tell(waiting()); },
  "question.closed": (payload) => questions.closed(payload),
  decision: ({ decision }) => journal.decided(decision),
  net: (payload) => journal.net(payload),
  unasked: (payload) => journal.unasked(payload),
  acted: (payload) => journal.acted(payload),
};

function askAnew() {
  asking = undefined;
  connection.again();
}

// connect begins with a token.
function connect(token) {
  connection?.end();
  show(byId("door"), false);
  show(byId("desk"), true);
  connected("Connecting …", false);
  connection = new Connection(token, { ready, state: take, lost, refused, event: (name, payload) => events[name]?.(payload) });
}

function ready(welcome, state) {
  const redraw = person.name !== "" && welcome.scopes.join() !== person.scopes.join();
  person = welcome;
  take(state);
  if (redraw) {
    offers.redraw();
    tasks.redraw();
  }
  show(byId("may-not-answer"), !hooks.mayAnswer());
  connected(`Connected as ${person.name}`, true);
  say("Connected");
}

// take takes in the whole state. Offers of an earlier run are gone.
function take(state) {
  const restarted = server !== undefined && server !== state.server;
  server = state.server;
  tasks.reset(state);
  start.reset(state);
  offers.reset(state.offers ?? [], restarted);
  questions.reset(state.questions ?? []);
  journal.reset(state);
  visit();
}

// visit shows the task that the address names.
function visit() {
  if (wanted && tasks.open(wanted)) wanted = undefined;
}

function lost(delay, why) {
  const next = `the next try is in ${Math.ceil(delay / 1000)} s`;
  connected(why ? `Not connected: ${why} (${next})` : `Not connected: ${next}`, false);
  say("The connection is lost");
}

function refused(message) {
  forget();
  show(byId("desk"), false);
  show(byId("door"), true);
  connected("Not connected", false);
  show(byId("now"), false);
  byId("token-problem").textContent = message ? sentence(message) : "";
  byId("token").focus();
}

// connected shows whether answers can be given.
function connected(words, good) {
  byId("connection").textContent = words;
  document.body.classList.toggle("offline", !good);
  show(byId("now"), !good);
}

function waiting() {
  return offers.waiting() + questions.open;
}

function count() {
  document.title = waiting() > 0 ? `(${waiting()}) assent` : "assent";
}

// fromAddress reads it. It takes the token out of it, where nobody should see it.
function fromAddress() {
  const parts = new URLSearchParams(location.hash.slice(1));
  const token = parts.get("token");
  wanted = parts.get("task") ?? wanted;
  if (token === null) return;
  const rest = wanted ? `#task=${encodeURIComponent(wanted)}` : "";
  history.replaceState(null, "", location.pathname + location.search + rest);
  if (token) keep(token);
}

// keep takes a token for this tab. What an earlier one had open goes with that.
function keep(token) {
  if (token !== sessionStorage.getItem(place)) forget();
  sessionStorage.setItem(place, token);
}

function forget() {
  sessionStorage.removeItem(place);
  forgetOpen();
}

// open begins with the token of the tab. After another one nothing may stay of what its
// person could see.
function open() {
  fromAddress();
  if (person.name !== "") {
    location.reload();
    return;
  }
  const token = sessionStorage.getItem(place);
  if (token) connect(token);
  else refused("");
}

byId("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const pasted = byId("token").value.trim();
  byId("token").value = "";
  keep(pasted.split("#token=").at(-1)); // the whole address will do, too
  open();
});
byId("now").addEventListener("click", () => connection?.now());
byId("forget").addEventListener("click", () => {
  forget();
  location.reload();
});
byId("skip").addEventListener("click", (event) => {
  event.preventDefault();
  offers.focusFirst();
});
addEventListener("hashchange", () => {
  if (new URLSearchParams(location.hash.slice(1)).has("token")) {
    open();
    return;
  }
  fromAddress();
  visit();
});
addEventListener("resize", look);
document.addEventListener("visibilitychange", () => {
  if (document.hidden) hiddenSince = performance.now();
  else if (performance.now() - hiddenSince > away) connection?.again();
});
begin(document.body, byId("offers"), byId("questions"));
beginFolding(byId("cards"));
for (const id of ["start", "keys"]) keepOpen(byId(id), id);
open();
