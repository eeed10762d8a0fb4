// One task in the tree: its state, its agents, what they say, and what a person may
// do with it.
import { el, said, show } from "./dom.js";
import { lets } from "./guard.js";
import { say } from "./say.js";
import { lifeWord, stateWord } from "./words.js";

const most = 16384; // characters of one piece of what an agent said
const pieces = 50; // of the agent and the host in turn
const over = ["stopped", "completed", "failed"];

export class TaskNode {
  constructor(hooks) {
    this.hooks = hooks;
    this.title = el("span", { class: "title" });
    this.state = el("span", { class: "state" });
    this.meta = el("p", { class: "meta" });
    this.note = el("p", { class: "note", hidden: true }); // of the host
    this.instances = el("ul", { class: "instances" });
    this.alive = false; // an agent of it has not ended, whatever its own state
    this.spoken = []; // { text, from }
    this.words = el("pre", { tabindex: "0", "aria-label": "What the agent says", hidden: true });
    this.problem = el("p", { class: "problem" });
    this.children = el("ul");
    this.details = el("details", { toggle: () => this.draw() }, el("summary", {}, this.title, " ", this.state),
      this.meta, this.words, this.makeControls(), this.problem);
    this.root = el("li", {}, this.details, this.note, this.instances, this.children);
  }

  makeControls() {
    const act = (name, words, said) => el("button", { type: "button", click: (event) => this.act(event, name, said) }, words);
    this.text = el("textarea", { rows: "2", "aria-label": "Prompt" });
    this.prompt = el("form", { submit: (event) => this.send(event) }, this.text, el("button", {}, "Send the prompt"));
    this.cancel = act("task.cancel", "Cancel the turn", "The turn is cancelled");
    this.stop = act("task.stop", "Stop", "Stopped");
    this.child = el("button", { type: "button", click: () => this.hooks.child(this.task) }, "Start a child");
    this.controls = el("div", { class: "controls guarded moved" }, this.prompt, this.cancel, this.stop, this.child);
    return this.controls;
  }

  // update shows the task as it is now.
  update(task) {
    this.task = task;
    this.title.replaceChildren(said(task.title));
    this.state.textContent = stateWord(task.state);
    this.state.className = `state is-${/^[a-z]+$/.test(task.state) ? task.state : "unknown"}`;
    const facts = [task.agent && `Agent ${task.agent}`, task.directory && `in ${task.directory}`].filter(Boolean);
    this.meta.replaceChildren(facts.join(", "));
    if (task.summary) this.meta.append(el("br"), said(task.summary));
    this.note.textContent = task.note ?? "";
    show(this.note, Boolean(task.note));
    show(this.controls, this.hooks.mayOperate());
    this.offer();
  }

  // offer shows what may be done now. An agent is stopped that outlives its task, too.
  offer() {
    const ended = over.includes(this.task.state);
    const outlived = ended && this.alive;
    show(this.prompt, !ended);
    show(this.cancel, outlived || this.task.state === "running" || this.task.state === "waiting");
    show(this.stop, outlived || !ended);
    show(this.child, !ended);
  }

  // show lists the instances of the task.
  show(instances) {
    this.instances.replaceChildren(...instances.map((instance) => {
      const line = el("li", {}, `${instance.agent_name || instance.agent}: ${lifeWord(instance.state)}`);
      if (instance.automatic === false) line.append(el("br"), el("b", {}, "no automatic approval: everything is asked"));
      if (instance.error) line.append(el("br"), said(instance.error));
      return line;
    }));
    this.alive = instances.some((instance) => instance.state !== "ended");
    this.offer();
  }

  // say adds to what the agent said, or the host about it.
  say(text, from) {
    const last = this.spoken.at(-1);
    if (last?.from === from) last.text = (last.text + text).slice(-most);
    else this.spoken.push({ text, from });
    if (this.spoken.length > pieces) this.spoken.shift();
    this.draw();
  }

  // draw shows the words, if somebody can see them.
  draw() {
    if (!this.details.open) return;
    show(this.words, this.spoken.length > 0);
    this.words.replaceChildren(...this.spoken.map(({ text, from }) => (from === "host" ? el("b", {}, text) : text)));
    this.words.scrollTop = this.words.scrollHeight;
  }

  send(event) {
    event.preventDefault();
    const text = this.text.value.trim();
    if (text) this.act(event, "task.prompt", "Sent", { text });
  }

  async act(event, action, done, more = {}) {
    if (!lets(this.controls, event)) return;
    this.problem.textContent = "";
    try {
      const result = await this.hooks.ask(action, { task: this.task.id, ...more });
      say(result?.state === "not_running" ? "It was not running" : done);
      if (action === "task.prompt") this.text.value = "";
    } catch (failure) {
      this.problem.textContent = `${failure.message}.`;
      say(failure.message);
    }
  }
}
