// Keeps answers from being given to what has just moved under the pointer or the
// finger. Whatever has the class "guarded" is inert for half a second after it
// appeared, after its place on the page changed, after the page scrolled of itself,
// and after the page was hidden.
import { warn } from "./say.js";

const rest = 500; // ms
const places = new Map(); // element -> { x, y, since }
let pressed = 0; // when the pointer went down
let planned = 0; // frame before which is looked
let scrolled = scrollY; // how far a person has scrolled

document.addEventListener("pointerdown", (event) => { pressed = event.timeStamp; }, { capture: true });
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) unsettle();
});

// The page scrolls of itself when it becomes shorter at its end, or when the focus goes
// on. Then a look is planned already, which finds the difference.
addEventListener("scroll", follow, { passive: true });

// follow notes how far a person has scrolled, or gone by a key.
export function follow() {
  if (planned === 0) scrolled = scrollY;
}

const sizes = new ResizeObserver(look);

// begin looks after a part of the page.
export function begin(...nodes) {
  for (const node of nodes) sizes.observe(node);
}

// look notes what has moved. It is called whenever something may have: at the latest
// before an answer counts.
export function look() {
  const now = performance.now();
  const jumped = scrollY !== scrolled;
  scrolled = scrollY;
  for (const node of places.keys()) {
    if (!node.isConnected) places.delete(node);
  }
  for (const node of document.querySelectorAll(".guarded")) {
    const box = node.getBoundingClientRect();
    const [x, y] = [Math.round(box.left + scrollX), Math.round(box.top + scrollY)];
    const place = places.get(node);
    if (!place || jumped || place.x !== x || place.y !== y) move(node, { x, y, since: now });
  }
}

// soon looks before the next frame is painted.
export function soon() {
  planned ||= requestAnimationFrame(() => { planned = 0; look(); });
}

// unsettle makes everything inert for a while.
function unsettle() {
  look();
  for (const node of places.keys()) touch(node);
}

// touch makes something inert for a while whose content has changed.
export function touch(node) {
  const place = places.get(node);
  if (place) move(node, { ...place, since: performance.now() });
}

function move(node, place) {
  places.set(node, place);
  node.classList.add("moved");
  mark(node);
  setTimeout(settle, rest, node);
}

function settle(node) {
  const place = places.get(node);
  if (!place || performance.now() - place.since < rest) return;
  node.classList.remove("moved");
  mark(node);
}

function mark(node) {
  for (const button of node.querySelectorAll("button")) {
    if (node.classList.contains("moved")) button.setAttribute("aria-disabled", "true");
    else button.removeAttribute("aria-disabled");
  }
}

// lets says whether something guarded may act on an event; if not, it tells the
// person. A click counts from when the pointer went down.
export function lets(node, event) {
  look();
  const place = places.get(node);
  const clicked = event.type === "click" && event.detail > 0;
  const at = clicked ? pressed : performance.now();
  if (place && at - place.since >= rest) return true;
  warn("Something has just moved, so nothing was done. Look again before you answer");
  return false;
}
