// What is said in a task: by its agent, to it, and by the host about it.
import { el, show } from "./dom.js";

const most = 16384; // characters of one piece
const pieces = 100;
const near = 40; // px from the end at which new words are followed

export class Spoken {
  constructor() {
    this.pieces = []; // { text, from }
    this.number = 0; // of the last piece: the server tells some twice
    this.root = el("div", { class: "spoken", role: "log", "aria-live": "off", tabindex: "0", "aria-label": "What was said", hidden: true });
  }

  // reset takes in what the server has kept.
  reset(texts) {
    this.pieces = [];
    this.number = 0;
    for (const piece of texts) this.add(piece);
  }

  // add takes in a piece, unless it is known.
  add({ text, from, begins, number }) {
    if (number <= this.number) return;
    this.number = number ?? this.number;
    const last = this.pieces.at(-1);
    if (last?.from === from && !begins) last.text = (last.text + text).slice(-most);
    else this.pieces.push({ text, from });
    if (this.pieces.length > pieces) this.pieces.shift();
  }

  // endsWith says whether the host said a text last.
  endsWith(text) {
    const last = this.pieces.at(-1);
    return last?.from === "host" && last.text.trim().endsWith(text.trim());
  }

  // draw shows the words, if somebody can see them. Who reads earlier ones stays there.
  draw(visible) {
    if (!visible) return;
    const follows = this.root.hidden || this.root.scrollHeight - this.root.scrollTop - this.root.clientHeight < near;
    show(this.root, this.pieces.length > 0);
    this.root.replaceChildren(...this.pieces.map(piece));
    if (follows) this.root.scrollTop = this.root.scrollHeight;
  }
}

const speakers = { prompt: "It was told", host: "assent" };

function piece({ text, from }) {
  const speaker = Object.hasOwn(speakers, from) ? speakers[from] : undefined;
  return el("p", { class: speaker ? `from-${from}` : "from-agent" }, speaker && el("b", {}, `${speaker}: `), text.trim());
}
