// Tasks and the agents that work on them, as a tree.
import { byId, el, said, show } from "./dom.js";
import { soon } from "./guard.js";
import { TaskNode } from "./tasknode.js";

export class Tasks {
  // Hooks: ask(action, payload), mayOperate(), child(task).
  constructor(hooks) {
    this.hooks = hooks;
    this.nodes = new Map(); // task id -> TaskNode
    this.instances = new Map(); // instance id -> instance
    this.root = byId("tasks");
  }

  // reset takes in the whole state.
  reset(tasks, instances) {
    const known = new Set(tasks.map((task) => task.id));
    for (const [id, node] of this.nodes) {
      if (known.has(id)) continue;
      node.root.remove();
      this.nodes.delete(id);
    }
    for (const task of tasks) this.put(task);
    this.instances = new Map(instances.map((instance) => [instance.id, instance]));
    for (const node of this.nodes.values()) this.fill(node);
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

  // text adds to what an agent said, or the host about it.
  text({ task, text, from }) {
    this.nodes.get(task)?.say(text, from);
  }

  // name is the title of a task; empty where it is not known.
  name(id) {
    return this.nodes.get(id)?.task.title ?? "";
  }

  update() {
    show(byId("no-tasks"), this.nodes.size === 0);
    const agents = new Set([...this.nodes.values()].map((node) => node.task.agent).filter(Boolean));
    byId("agents").replaceChildren(...[...agents].map((agent) => el("option", { value: agent })));
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
    this.form = byId("start-form");
    this.problem = this.form.querySelector(".problem");
    this.form.addEventListener("submit", (event) => this.submit(event));
    byId("start-parent").querySelector("button").addEventListener("click", () => this.under(undefined));
  }

  // under makes the next task a child of one.
  under(task) {
    this.parent = task?.id;
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
      this.problem.textContent = `${failure.message}.`;
    }
  }
}
