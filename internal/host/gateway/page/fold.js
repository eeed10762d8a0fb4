// Cards that are over become one line. That moves what is below them, so it is done
// only while no mouse is among the cards, and what has moved is inert for a while.

const read = 3000; // ms in which it can be seen how a card ended
let among = false; // a mouse or a pen is where the cards are

// begin looks after the part of the page that has the cards.
export function beginFolding(part) {
  const note = (inside) => (event) => { if (event.pointerType !== "touch") among = inside; };
  part.addEventListener("pointerenter", note(true));
  part.addEventListener("pointermove", note(true));
  part.addEventListener("pointerleave", note(false));
}

// mayFold says whether a card that is over since then (ms since 1970) may become a line.
export function mayFold(since) {
  return !among && Date.now() - since > read;
}

// fold makes a card a line.
export function fold(node) {
  node.style.minHeight = "";
  node.classList.add("folded");
}
