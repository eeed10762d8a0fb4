// The card of one offer. It is made when it comes into view, and never changes its
// size while it is answered.
import { el, said, show } from "./dom.js";
import { detail } from "./detail.js";
import { fold } from "./fold.js";
import { lets, look, touch } from "./guard.js";
import { say } from "./say.js";
import { ago, callWord, deed, kindWords, overWord, reasonWord, sentence, sorted } from "./words.js";

let made = 0;

export class Card {
  // Hooks: ask(action, payload), mayAnswer(), taskName(id), taskAgent(id), ended(record, over), dismiss(record).
  constructor(record, hooks) {
    this.record = record;
    this.hooks = hooks;
    this.options = sorted(record.offer.options);
    const title = `offer-${++made}`;
    this.since = el("time", { datetime: record.offer.opened });
    this.shown = el("div", { class: "detail" });
    this.toggle = el("button", { class: "quiet", "aria-expanded": "false", click: () => this.switchDetail() }, "Arguments and changes ", el("kbd", {}, "d"));
    this.brief = el("p", { class: "brief" }, deed(record.offer.action) && said(deed(record.offer.action)));
    this.answers = el("div", { class: "answers guarded moved" });
    this.problem = el("p", { class: "problem" });
    this.node = el("article", { class: "card", tabindex: "0", "aria-labelledby": title, "aria-describedby": `${title}-facts` },
      el("header", {}, el("h3", { id: title }, ...this.heading()), this.since),
      this.brief, this.facts(`${title}-facts`), this.why(), this.toggle, this.shown, this.answers, this.problem);
    this.tick();
    this.update();
  }

  heading() {
    const { action } = this.record.offer;
    return [callWord(action) ?? said(action.type)];
  }

  // facts are what is known of the action. The agent wrote all but server and tool.
  facts(id) {
    const { action, task, agent } = this.record.offer;
    const list = el("dl", { class: "facts", id });
    const add = (name, value) => value && list.append(el("div", {}, el("dt", {}, name), el("dd", {}, value)));
    const words = (name, text) => text && add(name, said(text, "code"));
    words("Command", action.command);
    words("Path", action.path);
    words("Destination", action.destination);
    add("Tool", action.tool);
    add("Server", action.server);
    words("In its words", action.title);
    words("It says", action.description);
    add("Task", this.taskName(task));
    add("Agent", this.hooks.taskAgent(task) || agent);
    return list;
  }

  taskName(task) {
    const name = this.hooks.taskName(task);
    return name ? said(name) : task;
  }

  why() {
    const { reason } = this.record.offer;
    return el("p", { class: "why" }, "Why you are asked: ", reasonWord(reason), " ", el("code", {}, reason));
  }

  // tick shows for how long the offer waits, or waited.
  tick() {
    const until = this.record.over?.at ?? Date.now();
    const text = `${this.record.over ? "waited" : "waits for"} ${ago(until - Date.parse(this.record.offer.opened))}`;
    if (this.since.textContent !== text) this.since.textContent = text;
  }

  // update shows the state of the offer.
  update() {
    const { over, sending } = this.record;
    const focused = this.node.contains(document.activeElement);
    this.node.classList.toggle("over", Boolean(over));
    this.node.classList.toggle("sending", Boolean(sending));
    if (over && this.record.folded) fold(this.node);
    else if (over) this.freeze();
    const may = this.hooks.mayAnswer();
    show(this.toggle, !over && may);
    if (over) {
      this.hideDetail();
      this.problem.textContent = "";
      this.answers.replaceChildren(el("p", { class: "ending" }, overWord(over)),
        el("button", { class: "quiet dismiss", click: (event) => this.dismiss(event) }, "Dismiss ", el("kbd", {}, "x")));
    } else {
      this.answers.replaceChildren(...(may ? this.buttons() : [el("p", { class: "meta" }, "Your token has not the scope answer: somebody else has to.")]));
    }
    if (focused && !this.node.contains(document.activeElement)) this.node.focus({ preventScroll: true });
    touch(this.answers); // a second click must not meet another button
    this.tick();
  }

  dismiss(event) {
    if (lets(this.answers, event)) this.hooks.dismiss(this.record);
  }

  // freeze keeps the size, so that nothing below moves.
  freeze() {
    if (this.node.isConnected && !this.node.style.minHeight) this.node.style.minHeight = `${this.node.offsetHeight}px`;
  }

  buttons() {
    const buttons = this.options.map((option, i) => this.button(option, i < 9 ? String(i + 1) : ""));
    buttons.push(el("button", { class: "answer cancel", click: (event) => this.answer(event, { choice: "cancel" }) },
      el("kbd", {}, "0"), el("span", { class: "word" }, "Neither"), el("span", { class: "reach" }, "cancelled; the turn may end")));
    return buttons;
  }

  button(option, key) {
    const { word, unknown } = kindWords(option.kind);
    const name = unknown ? "unknown" : option.kind;
    return el("button", { class: `answer ${name}`, click: (event) => this.answer(event, { option: option.id }) },
      key && el("kbd", {}, key), el("span", { class: "word" }, word), el("span", { class: "reach" }, option.reach), said(option.label));
  }

  // answer sends what a person chose, if nothing has moved.
  async answer(event, answer) {
    const { record } = this;
    if (record.over || record.sending || !lets(this.answers, event)) return;
    record.sending = true;
    this.problem.textContent = "";
    this.update();
    const { session, request } = record.offer;
    try {
      await this.hooks.ask("permission.resolve", { session, request, answer });
      this.hooks.ended(record, { outcome: "answered", mine: true, ...this.meaning(answer) });
    } catch (failure) {
      this.refused(failure);
    } finally {
      record.sending = false;
      if (record.card === this) this.update();
    }
  }

  meaning(answer) {
    if (answer.choice) return { verdict: "cancel" };
    return { verdict: "select", kind: this.options.find((option) => option.id === answer.option).kind };
  }

  // refused says what became of an answer that came to nothing.
  refused(failure) {
    const over = { already_resolved: "answered", conflict: "answered", expired: "expired", withdrawn: "withdrawn", stale: "gone", not_found: "gone" }[failure.code];
    if (over) {
      this.hooks.ended(this.record, { outcome: over, other: true });
      return;
    }
    this.problem.textContent = sentence(failure.message);
    say(failure.message);
  }

  // switchDetail asks for the detail, or hides it.
  async switchDetail() {
    if (this.shown.hasChildNodes()) {
      this.hideDetail();
      return;
    }
    const { session, request } = this.record.offer;
    try {
      const answer = await this.hooks.ask("permission.detail", { session, request });
      if (this.record.over) return;
      this.shown.replaceChildren(...detail(answer, this.record.offer));
      this.toggle.setAttribute("aria-expanded", "true");
      look();
    } catch (failure) {
      this.refused(failure);
    }
  }

  hideDetail() {
    this.shown.replaceChildren();
    this.toggle.setAttribute("aria-expanded", "false");
    look();
  }

  // key acts on a key that was pressed while the card had the focus.
  key(event) {
    if (event.key === "d" && !this.toggle.hidden) this.switchDetail();
    else if (event.key === "x" && this.record.over) this.dismiss(event);
    else if (/^[0-9]$/.test(event.key) && !event.repeat && this.hooks.mayAnswer()) this.number(event);
    else return false;
    return true;
  }

  number(event) {
    if (event.key === "0") this.answer(event, { choice: "cancel" });
    else if (this.options[event.key - 1]) this.answer(event, { option: this.options[event.key - 1].id });
  }
}
