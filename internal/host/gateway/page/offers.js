// The list of offers, oldest first. Cards stay where they are until a person dismisses
// them; those that are over become a line. Only those near the window exist: the list is made of groups, and a group out
// of sight is an empty box of the same height.
import { byId, show } from "./dom.js";
import { Card } from "./card.js";
import { fold, mayFold } from "./fold.js";
import { follow, soon } from "./guard.js";
import { say, sayNew } from "./say.js";
import { callWord, overWord } from "./words.js";

const firstSize = 10; // cards of the groups that are seen first
const groupSize = 40; // and of the others
const guessedHeight = 340; // px of a card that was never shown
const margin = "1200px 0px";

export class Offers {
  constructor(hooks) {
    this.hooks = { ...hooks, ended: (record, over) => this.end(record, over), dismiss: (record) => this.dismiss(record) };
    this.records = new Map(); // key -> { key, offer, over, folded, sending, card, group }
    this.groups = [];
    this.open = 0;
    this.later = []; // [key, offer] of those whose turn comes after the first paint
    this.root = byId("offers");
    this.near = new IntersectionObserver((seen) => this.seen(seen), { rootMargin: margin });
    this.root.addEventListener("keydown", (event) => this.key(event));
    byId("dismiss-all").addEventListener("click", () => this.dismissAll());
    setInterval(() => this.tick(), 1000);
  }

  // reset takes in the whole state, oldest first. Offers that are not in it any more have ended.
  reset(offers, restarted) {
    this.flush();
    const known = new Map(offers.map((offer) => [key(offer), offer]));
    for (const record of this.records.values()) {
      if (!record.over && !known.has(record.key)) this.end(record, { outcome: restarted ? "server_restarted" : "away" });
    }
    const fresh = [...known].filter(([name]) => !this.records.has(name));
    for (const [name, offer] of fresh.slice(0, firstSize)) this.add(name, offer);
    this.later = fresh.slice(firstSize);
    if (this.later.length > 0) requestAnimationFrame(() => setTimeout(() => this.flush()));
    this.update();
    soon();
  }

  // flush takes in what was put off.
  flush() {
    if (this.later.length === 0) return;
    const later = this.later;
    this.later = [];
    for (const [name, offer] of later) this.add(name, offer);
    this.update();
    soon();
  }

  // opened takes in a new offer.
  opened(offer) {
    this.flush();
    if (this.records.has(key(offer))) return;
    this.add(key(offer), offer);
    this.update();
    soon();
    sayNew(callWord(offer.action) ?? "a request of an unknown kind");
  }

  // closed notes how an offer ended.
  closed(end) {
    this.flush();
    const record = this.records.get(key(end));
    if (record) this.end(record, end);
  }

  add(name, offer) {
    const record = { key: name, offer, over: undefined, folded: false, sending: false, card: undefined, group: undefined };
    let group = this.groups.at(-1);
    if (!group || group.members.length >= group.size) group = this.newGroup();
    record.group = group;
    group.members.push(record);
    this.records.set(record.key, record);
    this.open++;
    if (group.filled) this.place(record);
    else if (group.members.length === 1 || group.members.length === group.size) this.guess(group);
  }

  // guess gives a group that was never shown the height that it may have.
  guess(group) {
    group.node.style.height = `${group.members.length * guessedHeight}px`;
  }

  newGroup() {
    const node = document.createElement("div");
    node.className = "group";
    const first = this.groups.length === 0;
    const group = { node, members: [], size: this.groups.length < 3 ? firstSize : groupSize, filled: first };
    node.group = group;
    this.groups.push(group);
    this.root.append(node);
    this.near.observe(node);
    return group;
  }

  place(record) {
    record.folded ||= Boolean(record.over); // where it was, is a new place anyway
    record.card = new Card(record, this.hooks);
    record.group.node.append(record.card.node);
  }

  // seen fills groups that come near, and empties those that are far from it.
  seen(entries) {
    for (const { target, isIntersecting } of entries) {
      if (!target.group) continue;
      if (isIntersecting) this.fill(target.group);
      else this.empty(target.group);
    }
    soon();
  }

  fill(group) {
    if (group.filled) return;
    group.filled = true;
    for (const record of group.members) this.place(record);
    group.node.style.height = "";
  }

  empty(group) {
    if (!group.filled || group.node.contains(document.activeElement)) return;
    group.filled = false;
    group.node.style.height = `${group.node.offsetHeight}px`;
    group.node.replaceChildren();
    for (const record of group.members) record.card = undefined;
  }

  // end marks an offer as over. What is heard later may say more about who answered.
  end(record, over) {
    if (!record.over) {
      this.open--;
      if (!over.mine) say(overWord(over));
    } else if (over.outcome !== "answered") {
      return;
    }
    record.over = { at: Date.now(), ...record.over, ...over };
    record.card?.update();
    this.update();
  }

  // dismiss takes an ended offer away. The focus goes to the next one.
  dismiss(record) {
    const focused = record.card?.node.contains(document.activeElement);
    const next = focused ? this.beside(record, 1) ?? this.beside(record, -1) : undefined;
    this.remove(record);
    if (focused) this.focus(next);
    this.update();
    soon();
  }

  dismissAll() {
    for (const record of [...this.records.values()]) if (record.over) this.remove(record);
    this.focus();
    this.update();
    soon();
  }

  remove(record) {
    const { group } = record;
    this.records.delete(record.key);
    group.members.splice(group.members.indexOf(record), 1);
    record.card?.node.remove();
    if (!group.filled) this.guess(group);
    if (group.members.length > 0) return;
    this.groups.splice(this.groups.indexOf(group), 1);
    this.near.unobserve(group.node);
    group.node.remove();
  }

  // beside is the record so many places from another one.
  beside(record, step) {
    this.flush();
    const all = this.groups.flatMap((group) => group.members);
    return all[all.indexOf(record) + step];
  }

  // focus puts the focus on a card, or on the list when there is none.
  focus(record) {
    if (!record) {
      byId("offers-title").focus();
      return;
    }
    this.fill(record.group);
    record.card.node.focus();
  }

  // focusFirst goes to the oldest that waits.
  focusFirst() {
    this.focus([...this.records.values()].find((record) => !record.over));
  }

  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("input, textarea")) return;
    const node = event.target.closest(".card");
    const record = this.groups.flatMap((group) => group.members).find((member) => node && member.card?.node === node);
    if (!record) return;
    const step = { j: 1, k: -1 }[event.key];
    const next = step && this.beside(record, step);
    if (next) {
      this.focus(next);
      follow();
    } else if (!record.card.key(event)) return;
    event.preventDefault();
  }

  // waiting is how many are open.
  waiting() {
    return this.open + this.later.length;
  }

  // update shows how many there are, and what may be answered.
  update() {
    const group = this.groups.at(-1);
    if (group && !group.filled) this.guess(group);
    byId("offers-count").textContent = this.waiting() > 0 ? `(${this.waiting()})` : "";
    show(byId("no-offers"), this.records.size === 0);
    show(byId("dismiss-all"), this.records.size > this.open);
    this.hooks.counted();
  }

  // redraw shows cards anew: another token may do other things.
  redraw() {
    for (const record of this.records.values()) record.card?.update();
  }

  tick() {
    for (const group of this.groups) {
      if (!group.filled) continue;
      for (const record of group.members) {
        if (!record.over) record.card.tick();
        else if (!record.folded && mayFold(record.over.at)) this.fold(record);
      }
    }
  }

  fold(record) {
    record.folded = true;
    fold(record.card.node);
    soon();
  }
}

// key is what an offer is known by.
function key(offer) {
  return `${offer.request}\n${offer.session}`; // the server's own ids have no line feed
}
