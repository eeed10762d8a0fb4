// What was decided without a person, newest first.
import { byId, el, said, show } from "./dom.js";
import { say } from "./say.js";
import { callWord, kindWords, reasonWord } from "./words.js";

const most = 200; // lines

export class Journal {
  constructor(hooks) {
    this.hooks = hooks;
    this.root = byId("journal");
  }

  // reset takes in the whole state, oldest first.
  reset(decisions) {
    this.root.replaceChildren();
    for (const decision of decisions.slice(-most)) this.decided(decision);
    show(byId("no-journal"), !this.root.hasChildNodes());
  }

  // decided notes an automatic decision.
  decided(decision) {
    const { verdict, kind, reason, tool, server, time } = decision;
    const what = verdict === "select" ? kindWords(kind).word : "Cancelled";
    const call = tool ? callWord({ tool, server }) : "";
    this.add(time, decision.task, false, el("b", {}, what), call && `: ${call}`, el("br"), `${reasonWord(reason)} `, el("code", {}, reason));
  }

  // net notes that a net took automatic approval away.
  net({ net, reason, task }) {
    const text = `${net}: ${reasonWord(reason)}`;
    this.add(undefined, task, true, el("b", {}, "No automatic approval any more"), el("br"), `${text} `, el("code", {}, reason));
    say(`No automatic approval any more: ${text}`);
  }

  // unasked notes a call that ran without asking.
  unasked({ task, kind, tool }) {
    const what = tool ? said(tool) : callWord({ type: kind }) ?? said(kind);
    this.add(undefined, task, true, el("b", {}, "Ran without asking: "), what);
  }

  add(time, task, warning, ...words) {
    const at = time ? new Date(time) : new Date();
    const name = this.hooks.taskName(task);
    this.root.prepend(el("li", { class: warning && "warning" },
      el("time", { datetime: at.toISOString() }, at.toLocaleTimeString()), " ", name ? said(name) : "", " ", ...words.filter(Boolean)));
    while (this.root.children.length > most) this.root.lastChild.remove();
    show(byId("no-journal"), false);
  }
}
