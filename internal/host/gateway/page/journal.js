// What was decided, by itself and by people, newest first.
import { byId, el, said } from "./dom.js";
import { say } from "./say.js";
import { actWord, by, callWord, deed, kindWords, moment, overWord, reasonWord } from "./words.js";

const most = 200; // lines

export class Journal {
  constructor(hooks) {
    this.hooks = hooks;
    this.root = byId("journal");
    this.last = new Map(); // number of the last one of the state, of each list and task: the server tells some twice
  }

  // reset takes in the whole state: lists whose oldest is first.
  reset({ started, decisions = [], nets = [], unasked = [], closed = [], acted = [] }) {
    this.root.replaceChildren();
    const lines = [
      ...decisions.map((decision) => [decision.time, () => this.decided(decision)]),
      ...nets.map((net) => [net.time, () => this.fired(net)]),
      ...closed.map((end) => [end.time, () => this.closed(end)]),
      ...acted.map((act) => [act.time, () => this.acted(act)]),
      ...unasked.map((call) => [call.time, () => this.unasked(call)]),
    ];
    lines.sort(([a], [b]) => Date.parse(a) - Date.parse(b));
    this.last.clear();
    for (const [, add] of lines) add();
    for (const [list, values] of Object.entries({ decisions, nets, unasked, closed, acted })) {
      for (const { task, number } of values) this.last.set(`${list} ${task}`, number);
    }
    this.started = started;
    this.since();
  }

  // knows says that something was in the state already.
  knows(list, { task, number }) {
    return number <= (this.last.get(`${list} ${task}`) ?? 0);
  }

  // decided notes an automatic decision.
  decided(decision) {
    if (this.knows("decisions", decision)) return;
    const { verdict, kind, reason, tool, server, time } = decision;
    const what = verdict === "select" ? kindWords(kind).word : "Cancelled";
    const call = tool ? callWord({ tool, server }) : "";
    this.add(time, decision.task, "", el("b", {}, `${what}, by itself`), call && `: ${call}`, el("br"), `${reasonWord(reason)} `, el("code", {}, reason));
  }

  // closed notes how an offer ended.
  closed(end) {
    if (this.knows("closed", end)) return;
    const { action = {} } = end;
    const words = deed(action);
    this.add(end.time, end.task, "", el("b", {}, overWord(end)), el("br"), callWord(action) ?? said(action.type), words && " ", words && said(words));
  }

  // acted notes what somebody did to a task.
  acted(act) {
    if (this.knows("acted", act)) return;
    const { task, what, by: who, time } = act;
    this.add(time, task, "", el("b", {}, actWord(what)), `, by ${by(who) || "the agent of the task above"}`);
  }

  // net tells that a net took automatic approval away.
  net(net) {
    if (this.knows("nets", net)) return;
    this.fired(net);
    say(`No automatic approval any more: ${net.net}: ${reasonWord(net.reason)}`);
  }

  // fired notes that one did, now or earlier.
  fired({ net, reason, task, time }) {
    const text = `${net}: ${reasonWord(reason)}`;
    this.add(time, task, "net warning", el("b", {}, "No automatic approval any more"), el("br"), `${text} `, el("code", {}, reason));
  }

  // unasked notes a call that ran without asking.
  unasked(call) {
    if (this.knows("unasked", call)) return;
    const { task, kind, tool, time } = call;
    const what = tool ? said(tool) : callWord({ type: kind }) ?? said(kind);
    this.add(time, task, "warning", el("b", {}, "Ran without asking: "), what);
  }

  add(time, task, style, ...words) {
    const at = time ? new Date(time) : new Date();
    const name = this.hooks.taskName(task);
    this.root.prepend(el("li", { class: style || false },
      el("time", { datetime: at.toISOString() }, at.toLocaleTimeString()), " ", name ? said(name) : "", " ", ...words.filter(Boolean)));
    this.shorten();
    this.since();
  }

  // since says what the list leaves out: the server keeps it in the audit alone.
  since() {
    const start = `the server was started${this.started ? `, ${moment(this.started)}` : ""}`;
    const count = this.root.children.length;
    const list = count === 0 ? `Nothing since ${start}.` : count < most ? `Since ${start}.` : `The last ${most}.`;
    byId("journal-since").replaceChildren(list, " Earlier decisions are in its audit: ", el("code", {}, "assent audit"));
  }

  // shorten takes the oldest lines away. Those of nets go last: the others can be many.
  shorten() {
    const lines = this.root.children;
    while (lines.length > most) {
      ([...lines].findLast((line) => !line.classList.contains("net")) ?? this.root.lastChild).remove();
    }
  }
}
