// Tasks and the agents that work on them, as a tree.
import { byId, el, said, show } from "./dom.js";
import { soon } from "./guard.js";
import { ended, TaskNode } from "./tasknode.js";
import { sentence } from "./words.js";

export class Tasks {
  // Hooks: ask(action, payload), mayOperate(), child(task).
  constructor(hooks) {
    this.hooks = { ...hooks, below: (id) => this.below(id) };
    this.nodes = new Map(); // task id -> TaskNode
    this.instances = new Map(); // instance id -> instance
    this.root = byId("tasks");
  }

  // reset takes in the whole state.
  reset({ started, tasks = [], instances = [], texts = [] }) {
    this.hooks.started = started;
    const known = new Set(tasks.map((task) => task.id));
    for (const [id, node] of this.nodes) {
      if (known.has(id)) continue;
      node.root.remove();
      this.nodes.delete(id);
    }
    for (const task of tasks) this.put(task);
    this.instances = new Map(instances.map((instance) => [instance.id, instance]));
    for (const [id, node] of this.nodes) {
      this.fill(node);
      node.hear(texts.filter((piece) => piece.task === id));
    }
    this.update();
  }

  changed(task) {
    this.put(task);
    this.fill(this.nodes.get(task.id));
    this.update();
  }

  // gone takes a task away that is kept no more.
  gone(id) {
    const node = this.nodes.get(id);
    if (!node) return;
    this.root.append(...node.children.children);
    node.root.remove();
    this.nodes.delete(id);
    for (const instance of [...this.instances.values()]) {
      if (instance.task === id) this.instances.delete(instance.id);
    }
    this.update();
  }

  // put shows a task below its parent, and its children below it, in any order.
  put(task) {
    let node = this.nodes.get(task.id);
    if (!node) {
      node = new TaskNode(this.hooks);
      this.nodes.set(task.id, node);
      for (const other of this.nodes.values()) {
        if (other !== node && other.task.parent === task.id) node.children.append(other.root);
      }
    }
    node.update(task);
    const above = this.nodes.get(task.parent)?.children ?? this.root;
    if (node.root.parentNode !== above) above.append(node.root);
  }

  instanceChanged(instance) {
    this.instances.set(instance.id, instance);
    const node = this.nodes.get(instance.task);
    if (node) this.fill(node);
    this.update();
  }

  // fill shows the instances of a task: those that live, or the last that did.
  fill(node) {
    const all = [...this.instances.values()].filter((instance) => instance.task === node.task.id);
    const alive = all.filter((instance) => instance.state !== "ended");
    for (const instance of all) {
      if (instance.state === "ended" && instance !== all.at(-1)) this.instances.delete(instance.id);
    }
    node.show(alive.length > 0 ? alive : all.slice(-1));
  }

  // text adds to what is said in a task.
  text(piece) {
    this.nodes.get(piece.task)?.say(piece);
  }

  // open shows a task; false where it is not known.
  open(id) {
    this.nodes.get(id)?.open();
    return this.nodes.has(id);
  }

  // below is how many tasks below one have not ended.
  below(id) {
    let count = 0;
    for (const { task } of this.nodes.values()) {
      if (task.parent === id) count += (ended(task) ? 0 : 1) + this.below(task.id);
    }
    return count;
  }

  // name is the title of a task; empty where it is not known.
  name(id) {
    return this.nodes.get(id)?.task.title ?? "";
  }

  // agent is that of a task; empty where it is not known.
  agent(id) {
    return this.nodes.get(id)?.task.agent ?? "";
  }

  update() {
    show(byId("no-tasks"), this.nodes.size === 0);
    soon();
  }

  redraw() {
    for (const node of this.nodes.values()) node.update(node.task);
  }
}

// StartForm starts tasks.
export class StartForm {
  constructor(hooks) {
    this.hooks = hooks;
    this.agents = []; // { name, directory, default }
    this.limited = false; // it starts children alone
    this.form = byId("start-form");
    this.form.elements.agent.addEventListener("change", () => this.hint());
    this.problem = this.form.querySelector(".problem");
    this.form.addEventListener("submit", (event) => this.submit(event));
    byId("start-parent").querySelector("button").addEventListener("click", () => this.under(undefined));
  }

  // reset takes in with what tasks may be started.
  reset({ agents = [], limited = false }) {
    this.agents = agents;
    this.limited = limited;
    this.choices();
    this.allow();
  }

  // choices are the agents. The chosen one stays.
  choices() {
    const select = this.form.elements.agent;
    const chosen = select.value;
    const usual = this.agents.find((agent) => agent.default)?.name;
    const none = this.parent ? "that of the task above" : usual ? `the usual one: ${usual}` : "choose one";
    select.replaceChildren(el("option", { value: "" }, none), ...this.agents.map(({ name }) => el("option", { value: name }, name)));
    select.value = this.agents.some(({ name }) => name === chosen) ? chosen : "";
    this.hint();
  }

  // hint says where the agent works without a directory, and what the bundled one is told.
  hint() {
    const chosen = this.form.elements.agent.value;
    const named = chosen || (this.parent && this.agent);
    const agent = this.agents.find(({ name, default: usual }) => (named ? name === named : usual));
    show(byId("demo-words"), Boolean(agent?.demo));
    const directory = this.parent && this.directory ? this.directory : agent?.directory;
    this.form.elements.directory.placeholder = directory ? `without one ${directory}` : "an absolute path";
  }

  // allow says what may be started: somebody who sees some tasks alone starts children.
  allow() {
    const child = Boolean(this.parent);
    show(byId("start"), this.hooks.mayOperate() && (child || !this.limited));
    show(byId("may-not-start"), this.hooks.mayOperate() && !child && this.limited);
    show(byId("may-not-operate"), !this.hooks.mayOperate());
    show(byId("start-parent").querySelector("button"), !this.limited);
  }

  // under makes the next task a child of one.
  under(task) {
    this.parent = task?.id;
    this.directory = task?.directory;
    this.agent = task?.agent;
    this.choices();
    this.allow();
    show(byId("start-parent"), Boolean(task));
    if (!task) return;
    byId("start-parent").querySelector("span").replaceChildren(said(task.title));
    byId("start").open = true;
    this.form.elements.title.focus();
  }

  async submit(event) {
    event.preventDefault();
    const payload = { title: "", prompt: "", agent: "", directory: "", parent: this.parent };
    for (const name of Object.keys(payload)) {
      const value = name === "parent" ? this.parent : this.form.elements[name].value.trim();
      if (value) payload[name] = value;
      else delete payload[name];
    }
    this.problem.textContent = "";
    try {
      await this.hooks.ask("task.start", payload);
      this.form.reset();
      this.under(undefined);
    } catch (failure) {
      this.problem.textContent = sentence(failure.message);
    }
  }
}
