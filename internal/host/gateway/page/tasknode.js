// One task in the tree: its state, its agents, what is said, and what a person may do
// with it.
import { copy } from "./copy.js";
import { el, said, show } from "./dom.js";
import { lets, soon, touch } from "./guard.js";
import { keepOpen } from "./opened.js";
import { say } from "./say.js";
import { Spoken } from "./spoken.js";
import { lifeWord, moment, sentence, stateWord } from "./words.js";

const over = ["stopped", "completed", "failed"];

// ended says whether a task is over.
export function ended(task) {
  return over.includes(task.state);
}

export class TaskNode {
  // Hooks: ask(action, payload), mayOperate(), child(task), below(id); started is when the server was.
  constructor(hooks) {
    this.hooks = hooks;
    this.title = el("span", { class: "title" });
    this.state = el("span", { class: "state" });
    this.meta = el("p", { class: "meta" });
    this.process = el("p", { class: "meta" });
    this.id = el("code", {});
    this.link = el("a", {}, "Link");
    this.copy = el("button", { type: "button", class: "quiet", click: () => this.copyId() }, "Copy the id");
    this.ident = el("p", { class: "meta ident" }, this.id, this.copy, this.link);
    this.mark = el("span", { class: "mark", hidden: true }); // the note, in one line of a folded task
    this.note = el("p", { class: "note", hidden: true }); // of the host, unless it is the last that was said
    this.troubles = el("ul", { class: "troubles" });
    this.alive = false; // an agent of it has not ended, whatever its own state
    this.spoken = new Spoken();
    this.problem = el("p", { class: "problem" });
    this.children = el("ul");
    this.summary = el("summary", {}, this.title, " ", this.state, " ", this.mark);
    this.details = el("details", { toggle: () => this.toggled() }, this.summary,
      this.meta, this.process, this.ident, this.spoken.root, this.note, this.makeControls(), this.problem);
    this.root = el("li", {}, this.details, this.troubles, this.children);
  }

  makeControls() {
    const button = (words, click, style) => el("button", { type: "button", class: style, click }, words);
    this.text = el("textarea", { rows: "2", "aria-label": "Prompt" });
    this.prompt = el("form", { submit: (event) => this.send(event) }, this.text, el("button", {}, "Send the prompt"));
    this.cancel = button("Cancel the turn", (event) => this.act(event, "task.cancel", "The turn is cancelled"));
    this.child = button("Start a child", () => this.hooks.child(this.task));
    this.stop = button("Stop …", (event) => this.doubt(event), "danger");
    this.question = el("p", {});
    this.no = button("No, let it go on", () => this.sure(false));
    this.yes = button("Yes, stop it for good", (event) => this.end(event), "danger");
    this.certain = el("div", { class: "certain", role: "group", "aria-label": "Stop the task?", hidden: true }, this.question, this.no, this.yes);
    this.controls = el("div", { class: "controls guarded moved" }, this.prompt, this.cancel, this.child, this.stop, this.certain);
    return this.controls;
  }

  // update shows the task as it is now.
  update(task) {
    if (!this.task) keepOpen(this.details, `task ${task.id}`);
    this.task = task;
    this.title.replaceChildren(said(task.title));
    this.state.textContent = stateWord(task.state);
    this.state.className = `state is-${/^[a-z]+$/.test(task.state) ? task.state : "unknown"}`;
    const facts = [task.agent && `Agent ${task.agent}`, task.directory && `in ${task.directory}`].filter(Boolean);
    this.meta.replaceChildren(facts.join(", "));
    if (task.state === "created") this.meta.append(el("br"), "Nobody has told its agent anything yet: send it a prompt.");
    else if (this.hooks.started && Date.parse(task.created) < Date.parse(this.hooks.started)) {
      this.meta.append(el("br"), `What was said before the server was started, ${moment(this.hooks.started)}, is not kept.`);
    }
    if (task.summary) this.meta.append(el("br"), said(task.summary));
    this.id.textContent = task.id;
    this.link.href = `#task=${encodeURIComponent(task.id)}`;
    this.mark.textContent = this.note.textContent = task.note ?? "";
    this.noted();
    show(this.controls, this.hooks.mayOperate());
    this.offer();
  }

  // offer shows what may be done now. An agent is stopped that outlives its task, too.
  offer() {
    const gone = ended(this.task);
    const outlived = gone && this.alive;
    show(this.prompt, !gone);
    show(this.cancel, outlived || this.task.state === "running" || this.task.state === "waiting");
    show(this.child, !gone);
    if (gone && !outlived) show(this.certain, false);
    show(this.stop, (outlived || !gone) && this.certain.hidden);
  }

  // show tells of the instances of the task; of trouble with them without being asked.
  show(instances) {
    this.process.replaceChildren(...instances.flatMap(({ state, agent_name: name }) =>
      [`Its process ${lifeWord(state)}`, name ? (state === "ended" ? "; it called itself " : " and calls itself ") : "", name ? said(name) : "", ". "]));
    const troubles = [];
    for (const instance of instances) {
      if (instance.automatic === false) troubles.push(el("li", {}, "No automatic approval: everything is asked"));
      if (instance.error) troubles.push(el("li", {}, "Its process has ended: ", said(instance.error)));
    }
    this.troubles.replaceChildren(...troubles);
    this.alive = instances.some((instance) => instance.state !== "ended");
    this.offer();
  }

  toggled() {
    this.spoken.draw(this.details.open);
    this.noted();
  }

  // noted shows the note once.
  noted() {
    const { note } = this.task;
    show(this.mark, Boolean(note) && !this.details.open);
    show(this.note, Boolean(note) && !this.spoken.endsWith(note));
  }

  // say adds to what is said in the task.
  say(piece) {
    this.spoken.add(piece);
    this.toggled();
  }

  async copyId() {
    this.copy.textContent = (await copy(this.id)) ? "Copied" : "Copy the id";
  }

  // hear takes in what the server has kept of what was said.
  hear(texts) {
    this.spoken.reset(texts);
    this.toggled();
  }

  // open shows the task to who asked for it.
  open() {
    this.details.open = true;
    soon(); // the page scrolls of itself
    this.summary.scrollIntoView({ block: "center" });
    this.summary.focus();
  }

  // doubt asks whether the task shall be stopped.
  doubt(event) {
    if (!lets(this.controls, event)) return;
    const below = this.hooks.below(this.task.id);
    const more = below === 0 ? "" : below === 1 ? ", and the one below it" : `, and the ${below} below it`;
    this.question.textContent = `This ends the task for good${more}.`;
    this.sure(true);
    this.no.focus();
  }

  // sure shows the question, or takes it back.
  sure(asked) {
    show(this.certain, asked);
    this.offer();
    if (!asked) this.stop.focus();
    touch(this.controls); // a second click must not meet the answer
  }

  async end(event) {
    if (await this.act(event, "task.stop", "Stopped")) this.sure(false);
  }

  send(event) {
    event.preventDefault();
    const text = this.text.value.trim();
    if (text) this.act(event, "task.prompt", "Sent", { text });
  }

  // act says whether it was done.
  async act(event, action, done, more = {}) {
    if (!lets(this.controls, event)) return false;
    this.problem.textContent = "";
    try {
      const result = await this.hooks.ask(action, { task: this.task.id, ...more });
      say(result?.state === "not_running" ? "It was not running" : done);
      if (action === "task.prompt") this.text.value = "";
      return true;
    } catch (failure) {
      this.problem.textContent = sentence(failure.message);
      say(failure.message);
      return false;
    }
  }
}
