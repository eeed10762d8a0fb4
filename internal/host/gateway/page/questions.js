// Questions of agents. People alone answer them, once.
import { byId, el, said, show } from "./dom.js";
import { fold, mayFold } from "./fold.js";
import { lets, soon, touch } from "./guard.js";
import { say } from "./say.js";
import { by, sentence } from "./words.js";

export class Questions {
  constructor(hooks) {
    this.hooks = hooks;
    this.records = new Map(); // id -> { question, node, over, folded }; over is since when, in ms
    this.root = byId("questions");
    this.open = 0;
    setInterval(() => this.tick(), 1000);
  }

  reset(questions) {
    const known = new Set(questions.map((question) => question.id));
    for (const record of this.records.values()) {
      if (!record.over && !known.has(record.question.id)) this.end(record, "It ended while this page was not connected");
    }
    for (const question of questions) this.add(question);
    this.update();
  }

  opened(question) {
    this.add(question);
    this.update();
    say("New: a question");
  }

  closed({ question, answered, by: person }) {
    const record = this.records.get(question);
    if (!record) return;
    const who = by(person);
    this.end(record, answered ? `Answered${who ? `, by ${who}` : ""}` : "Over: nobody answered");
  }

  add(question) {
    if (this.records.has(question.id)) return;
    const record = { question, problem: el("p", { class: "problem" }) };
    this.records.set(question.id, record);
    this.open++;
    const title = `question-${this.records.size}-${question.id}`;
    const name = this.hooks.taskName(question.task);
    record.answers = el("div", { class: "answers guarded moved" }, ...this.ways(record));
    record.node = el("article", { class: "card question", tabindex: "0", "aria-labelledby": title },
      el("h3", { id: title }, name ? said(name) : question.task, " asks"),
      said(question.text, "pre"), record.answers, record.problem);
    this.root.append(record.node);
    soon();
  }

  // ways are the offered answers and one in own words.
  ways(record) {
    if (!this.hooks.mayAnswer()) return [el("p", { class: "meta" }, "Your token has not the scope answer: somebody else has to.")];
    const text = el("textarea", { rows: "2", "aria-label": "Answer in your own words" });
    const own = el("form", { submit: (event) => this.submit(event, record, text) }, text, el("button", {}, "Answer"));
    const options = (record.question.options || []).map((option) =>
      el("button", { class: "answer", click: (event) => this.answer(event, record, option) }, said(option)));
    return [...options, own];
  }

  submit(event, record, text) {
    event.preventDefault();
    if (text.value.trim()) this.answer(event, record, text.value);
  }

  async answer(event, record, answer) {
    if (record.over || record.sending || !lets(record.answers, event)) return;
    record.sending = true;
    try {
      await this.hooks.ask("question.answer", { question: record.question.id, answer });
      this.end(record, "Answered, by you: ", answer);
    } catch (failure) {
      const over = ["not_found", "stale", "conflict"].includes(failure.code);
      if (over) this.end(record, "Answered or over already");
      else record.problem.textContent = sentence(failure.message);
    } finally {
      record.sending = false;
    }
  }

  // end says how it ended, with the answer where that is known.
  end(record, words, answer) {
    if (record.over) {
      if (answer) record.answers.querySelector(".ending").replaceChildren(words, said(answer));
      return;
    }
    record.over = Date.now();
    this.open--;
    const focused = record.node.contains(document.activeElement);
    record.node.style.minHeight = `${record.node.offsetHeight}px`;
    record.node.classList.add("over");
    record.answers.replaceChildren(el("p", { class: "ending" }, words, answer && said(answer)),
      el("button", { class: "quiet dismiss", click: (event) => this.dismiss(event, record) }, "Dismiss"));
    touch(record.answers);
    if (focused) record.node.focus({ preventScroll: true });
    this.update();
  }

  dismiss(event, record) {
    if (!lets(record.answers, event)) return;
    this.records.delete(record.question.id);
    record.node.remove();
    byId("questions-title").focus();
    this.update();
    soon();
  }

  tick() {
    for (const record of this.records.values()) {
      if (!record.over || record.folded || !mayFold(record.over)) continue;
      record.folded = true;
      fold(record.node);
      soon();
    }
  }

  update() {
    byId("to-questions").textContent = this.open === 1 ? "1 question" : `${this.open} questions`;
    show(byId("to-questions"), this.open > 0);
    byId("questions-count").textContent = this.open > 0 ? `(${this.open})` : "";
    show(byId("questions-section"), this.records.size > 0);
    this.hooks.counted();
  }
}
